import DurableFiles
import FileSystemRecording
import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SecretMemory
import StoreConformance
import SyncContract
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files whose keys others may have")
struct RenewalTests {
    /// What somebody knows who has read the database.
    struct Knowledge {
        let files: [AttachmentFile]

        init(_ device: PhotoDevice) async throws {
            files = try await device.store.read { try $0.attachments(Query(AttachmentFiles.table.name)) }
        }

        /// How many files in a folder one of the keys opens, if only to its first piece.
        func opens(_ url: URL) throws -> Int {
            let folder = AttachmentFolder(url)
            return try folder.names()
                .count { entry in
                    files.contains { file in
                        do {
                            _ = try SealedFileReader("\(folder.path)/\(entry)", file.key).content(of: 0)
                            return true
                        } catch {
                            return false
                        }
                    }
                }
        }
    }

    /// Does what a revocation does to the rows.
    static func expose(_ store: EncryptedStore) async throws {
        try await store.write { transaction in
            for var file in try transaction.attachments(Query(AttachmentFiles.table.name)) {
                file.isExposed = true
                try transaction.save(file)
            }
        }
    }

    private func last(_ device: PhotoDevice) async -> Int? {
        for await number in device.attachments.filesToReencrypt() where number == 0 { return number }
        return nil
    }

    @Test("are encrypted anew when the store is opened, as the number of those that are left says")
    func renewed() async throws {
        let device = try await PhotoDevice()
        var photos: [(AttachmentID, [UInt8])] = []
        for size in [0, 1, 65_536, 200_000] {
            photos.append((try await device.add(content(size)).1, content(size)))
        }
        let known = try await Knowledge(device)
        #expect(try known.opens(device.filesURL) == 4)
        try await Self.expose(device.store)
        let reopened = try await device.reopened()
        #expect(await last(reopened) == 0)
        for (id, bytes) in photos {
            let isSame = try await reopened.attachments.data(of: id) == Data(bytes)
            #expect(isSame)
        }
        #expect(try known.opens(device.filesURL) == 0)
        #expect(try reopened.fileNames().count == 4)
        await reopened.close()
        for await _ in reopened.attachments.filesToReencrypt() {}
    }

    @Test("get another key without work when they are not here, and what came in part comes anew")
    func absent() async throws {
        let device = try await PhotoDevice()
        let (id, bytes) = (AttachmentID.make(), content(200_000))
        device.server.put(bytes, as: id)
        device.server.set { $0.kind == .download ? .cut(after: 150_000) : .answered }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([id]) }
        let known = try await Knowledge(device)
        #expect(try device.fileNames().map { $0.suffix(5) } == [".part"])
        try await Self.expose(device.store)
        device.server.set { _ in .answered }
        let reopened = try await device.reopened()
        let isSame = try await reopened.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        #expect(device.server.requests(.download).map(\.offset) == [0, 0])
        #expect(try known.opens(device.filesURL) == 0)
        await reopened.close()
    }

    @Test("are renewed after a lock, too, and those who read or send them meanwhile notice nothing")
    func meanwhile() async throws {
        let device = try await PhotoDevice()
        let bytes = content(300_000)
        let (_, id) = try await device.add(bytes)
        let known = try await Knowledge(device)
        var reading = device.attachments.contents(of: id).makeAsyncIterator()
        var read = try await reading.next() ?? Data()
        device.server.set { $0.kind == .upload ? .held : .answered }
        _ = try await device.context.push()
        await device.server.requestsReach(2)
        try await Self.expose(device.store)
        await device.attachments.lock()
        await device.attachments.unlock()
        #expect(await last(device) == 0)
        #expect(try known.opens(device.filesURL) == 0)
        while let piece = try await reading.next() { read += piece }
        #expect(read == Data(bytes))
        device.server.set { _ in .answered }
        await device.state(of: id) { $0 == .synced }
        let isSame = device.server[id]?.bytes == bytes
        #expect(isSame)
        await device.close()
    }

    @Test("are found under their new name by those who have read their row before")
    func renamed() async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.add(content(10))
        let before = try #require(try await device.core.work.file(id))
        try await Self.expose(device.store)
        try await device.core.work.renewPresent()
        #expect(try await device.core.work.open(before).content(of: 0) == content(10))
        // One that is gone is missing.
        let after = try #require(try await device.core.work.file(id))
        try FileManager.default.removeItem(at: device.filesURL.appending(path: after.name))
        let error = await #expect(throws: StoreError.self) { _ = try await device.core.work.open(after) }
        #expect(error?.code == .notFound)
        await device.close()
    }

    @Test("that are not here get another key after a lock, too")
    func absentAfterLock() async throws {
        let device = try await PhotoDevice(options: AttachmentOptions(spaceLimit: 0))
        let (_, id) = try await device.addAndSend(content(10))
        _ = try await device.addAndSend(content(10))
        let before = try #require(try await device.core.work.file(id))
        #expect(!before.isHere)
        try await Self.expose(device.store)
        await device.attachments.lock()
        await device.attachments.unlock()
        let after = try #require(try await device.core.work.file(id))
        #expect(!after.isExposed && after.name != before.name)
        await device.close()
    }

    @Test("that cannot be read keep their key, and are fetched anew where the server has them")
    func damaged() async throws {
        let device = try await PhotoDevice()
        let (_, sent) = try await device.addAndSend(content(100_000))
        let (_, unsent) = try await device.add(content(100_000, seed: 2))
        let (_, sound) = try await device.add(content(100_000, seed: 3))
        let files = try await device.store.read { try ($0.attachment(sent), $0.attachment(unsent)) }
        for file in [files.0, files.1] {
            let url = device.filesURL.appending(path: try #require(file).name)
            var damaged = try Data(contentsOf: url)
            damaged[70_000] ^= 1
            try damaged.write(to: url)
        }
        let known = try await Knowledge(device)
        try await Self.expose(device.store)
        let reopened = try await device.reopened()
        for await number in reopened.attachments.filesToReencrypt() where number == 1 { break }
        let isSame = try await reopened.attachments.data(of: sent) == Data(content(100_000))
        #expect(isSame)
        let isSound = try await reopened.attachments.data(of: sound) == Data(content(100_000, seed: 3))
        #expect(isSound)
        let error = await #expect(throws: StoreError.self) { try await reopened.attachments.data(of: unsent) }
        #expect(error?.code == .damaged)
        #expect(try known.opens(device.filesURL) == 1)
        await reopened.close()
    }

    @Test("wait on a full disk, which keeps every file, and are tried again")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(megabytes: 6) else { return }
        defer { disk.unmount() }
        let device = try await PhotoDevice(at: disk.folder)
        let bytes = content(2 << 20)
        let (_, id) = try await device.add(bytes)
        let files = disk.folder.appending(path: AttachmentFolder.name)
        let known = try await Knowledge(device)
        try await Self.expose(device.store)
        await device.close()
        let filler = disk.folder.appending(path: "filler")
        try Data(count: 3 << 20).write(to: filler)
        let reopened = try await PhotoDevice(in: device.folder, at: disk.folder, clock: device.clock)
        await reopened.clock.sleeperComes { $0 <= .seconds(1) }
        #expect(try AttachmentFolder(files).names().count == 1)
        #expect(try await reopened.attachments.data(of: id).count == bytes.count)
        try FileManager.default.removeItem(at: filler)
        reopened.clock.advance(by: .seconds(1))
        #expect(await last(reopened) == 0)
        #expect(try known.opens(files) == 0)
        let isSame = try await reopened.attachments.data(of: id) == Data(bytes)
        #expect(isSame)
        await reopened.close()
    }

    #if os(Linux)
    // In a process of its own: what other tests need would be measured as well.
    @Test("take constant memory, whatever their size")
    func constantMemory() async {
        await #expect(processExitsWith: .success) {
            let folder = try TestFolder()
            let url = folder.url.appending(path: "large")
            try Data().write(to: url)
            try FileHandle(forWritingTo: url).truncate(atOffset: 64 << 20)
            let device = try await PhotoDevice(in: folder)
            _ = try await device.attachments.add(contentsOf: url)
            _ = try await device.attachments.add(Data([1]))
            try await Self.expose(device.store)
            let before = try AttachmentMemoryTests.peak()
            #expect(try await device.core.work.renewPresent() == 2)
            let grown = try AttachmentMemoryTests.peak() - before
            #expect(grown < 16_000, "\(grown) kB")
            await device.close()
        }
    }
    #endif

    @Test("stay in the copy of a backup that has begun, whatever becomes of them here")
    func copied() async throws {
        let device = try await PhotoDevice()
        let bytes = content(100_000)
        let (_, id) = try await device.add(bytes)
        let file = try #require(try await device.store.read { try $0.attachment(id) })
        let copy = device.folder.url.appending(path: "copy")
        let folder = AttachmentFolder(device.filesURL)
        try await folder.keepingFiles {
            // The database has been copied by now.
            try await Self.expose(device.store)
            _ = try await AttachmentReencryption.run(device.store, in: device.filesURL) { _, _ in }
            try await device.attachments.remove(id)
            try await folder.copy(to: copy)
        }
        #expect(try AttachmentFolder(copy).open(file).digest {} == file.digest)
        #expect(try device.fileNames() == [])
        await device.close()
    }
}

@Suite("Processes that end while files are encrypted anew")
struct RenewalKillTests {
    private static func open(_ path: String) async throws -> EncryptedStore {
        try await EncryptedStore.open(
            at: URL(filePath: path).appending(path: "store.db"),
            key: .testKey(),
            schema: PhotoDevice.schema()
        )
    }

    private static func files(_ path: String) -> URL { URL(filePath: path).appending(path: AttachmentFolder.name) }

    private struct Prepared {
        let folder: TestFolder
        let known: RenewalTests.Knowledge
        let contents: [(AttachmentID, [UInt8])]
    }

    /// Two files that are here, and one that has come in part; all are marked.
    private func prepare() async throws -> Prepared {
        let device = try await PhotoDevice()
        let contents = [content(70_000), content(66_000, seed: 2)]
        var ids: [AttachmentID] = []
        for bytes in contents { ids.append(try await device.add(bytes).1) }
        let partial = AttachmentID.make()
        device.server.put(content(200_000), as: partial)
        device.server.set { _ in .cut(after: 150_000) }
        await #expect(throws: RemoteError.self) { try await device.attachments.fetch([partial]) }
        try await RenewalTests.expose(device.store)
        let known = try await RenewalTests.Knowledge(device)
        await device.close()
        return Prepared(folder: device.folder, known: known, contents: Array(zip(ids, contents)))
    }

    /// What lies there belongs to rows or is named; and the next run ends the work.
    private func expectRecovery(_ prepared: Prepared) async throws {
        let path = prepared.folder.url.path
        let store = try await Self.open(path)
        let folder = AttachmentFolder(Self.files(path))
        let schema = store.schema
        let findings = try await store.read { try AttachmentVerification.findings(in: folder, &$0, schema) }
        #expect(findings.allSatisfy { $0.kind == .strayAttachment }, "\(findings)")
        let known = try await store.read { try $0.attachments(Query(AttachmentFiles.table.name)).map(\.name) }
        let strays = try folder.names().count { name in !known.contains { name == $0 || name == $0 + ".part" } }
        #expect(findings.count == strays)
        _ = try await AttachmentReencryption.run(store, in: Self.files(path)) { _, _ in }
        #expect(try prepared.known.opens(Self.files(path)) == 0)
        #expect(try folder.names().count == prepared.contents.count)
        for (id, bytes) in prepared.contents {
            let row = try #require(try await store.read { try $0.attachment(id) })
            let reader = try folder.open(row)
            var read: [UInt8] = []
            for chunk in 0..<reader.layout.chunks { read += try reader.content(of: chunk) }
            #expect(read == bytes && !row.isExposed)
        }
        await store.close()
    }

    @Test("two files are encrypted anew in this order")
    func order() async throws {
        let prepared = try await prepare()
        let store = try await Self.open(prepared.folder.url.path)
        let recorder = FileSystemRecorder(in: prepared.folder.url)
        let files = Self.files(prepared.folder.url.path)
        let count = try await AttachmentReencryption.run(store, in: files, recorder.fileSystem) { _, _ in }
        #expect(count == 2)
        #expect(recorder.takeLines() == Self.steps)
        await store.close()
    }

    private static let steps = ["remove attachments/*.part"] + file + file

    private static let file = [
        "create attachments/*.new", "write attachments/*.new", "write attachments/*.new", "write attachments/*.new",
        "synchronize attachments/*.new", "rename attachments/*.new attachments/*", "synchronize attachments",
        "remove attachments/*",
    ]

    /// Which calls of the store write: one for what is not here, and one for each file.
    private static let writes = [2, 6, 8]

    @Test(
        "at any change of the folder: each file is whole, old or new, and the rest is named",
        arguments: 1...steps.count
    )
    func killed(step: Int) async throws {
        let prepared = try await prepare()
        let path = prepared.folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            let store = try await Self.open(path)
            _ = try await AttachmentReencryption.run(store, in: Self.files(path), .killing(after: step)) { _, _ in }
        }
        try await expectRecovery(prepared)
    }

    @Test("before or after any transaction", arguments: [StoreFault.Moment.beforeCommit, .afterCommit], writes)
    func killed(_ moment: StoreFault.Moment, call: Int) async throws {
        let prepared = try await prepare()
        let path = prepared.folder.url.path
        let before = moment == .beforeCommit
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, call = call as Int, before = before as Bool] in
            let store = FaultyStore(try await Self.open(path)) {
                $0.number == call ? .stopsProcess(before ? .beforeCommit : .afterCommit) : nil
            }
            _ = try await AttachmentReencryption.run(store, in: Self.files(path)) { _, _ in }
        }
        try await expectRecovery(prepared)
    }

    @Test("or whose store fails at any transaction", arguments: StoreFault.Moment.allCases, writes)
    func failed(_ moment: StoreFault.Moment, call: Int) async throws {
        let prepared = try await prepare()
        let path = prepared.folder.url.path
        let store = try await Self.open(path)
        let faulty = FaultyStore(store) { $0.number == call ? .fails(moment) : nil }
        await #expect(throws: StoreError.self) {
            _ = try await AttachmentReencryption.run(faulty, in: Self.files(path)) { _, _ in }
        }
        await store.close()
        try await expectRecovery(prepared)
    }
}
