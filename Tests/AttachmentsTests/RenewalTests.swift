import Foundation
import OfflineSync
import RemoteContract
import SQLCipherStore
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import SyncSessions
import Testing
import VirtualTime

@testable import Attachments

@Suite("Files whose keys others may have", .timeLimit(.minutes(5)))
struct RenewalTests {
    /// What somebody knows who has read the database.
    struct Knowledge {
        let files: [AttachmentFile]

        init(_ device: PhotoDevice) async throws {
            files = try await device.store.read { try $0.attachments(Query(AttachmentFiles.table.name)) }
        }

        /// Returns when the keys open so many files, no sooner: an old file goes right after its row has another key.
        func comes(toOpen count: Int, of url: URL) async throws {
            while try opens(url) != count { try await nextTurn() }
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
        try await known.comes(toOpen: 0, of: device.filesURL)
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
        try await known.comes(toOpen: 0, of: device.filesURL)
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
        try await known.comes(toOpen: 0, of: device.filesURL)
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
        try await known.comes(toOpen: 1, of: device.filesURL)
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
        // Nothing is encrypted anew before the disk is full.
        await device.context.session.close()
        await device.attachments.close()
        try await Self.expose(device.store)
        await device.store.close()
        let filler = disk.folder.appending(path: "filler")
        try Data(count: 3 << 20).write(to: filler)
        let reopened = try await PhotoDevice(in: device.folder, at: disk.folder, clock: device.clock)
        await reopened.clock.sleeperComes { $0 <= .seconds(1) }
        #expect(try AttachmentFolder(files).names().count == 1)
        #expect(try await reopened.attachments.data(of: id).count == bytes.count)
        try await disk.remove(filler)
        reopened.clock.advance(by: .seconds(1))
        #expect(await last(reopened) == 0)
        try await known.comes(toOpen: 0, of: files)
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

    @Test("wait for the end of a backup, which has every file that was there when it began")
    func copied() async throws {
        let device = try await PhotoDevice()
        let (_, removed) = try await device.add(content(100_000))
        let (_, renewed) = try await device.add(content(10))
        let files = try await device.store.read { try ($0.attachment(removed), $0.attachment(renewed)) }
        let copy = device.folder.url.appending(path: "copy")
        let folder = AttachmentFolder(device.filesURL)
        try await folder.keepingFiles {
            // The database has been copied by now.
            try await Self.expose(device.store)
            let error = await #expect(throws: StoreError.self) { try await device.core.work.renewPresent() }
            #expect(error?.code == .inUse)
            try await device.attachments.remove(removed)
            // One that was begun before ends in the midst of it.
            try await device.store.write { transaction in
                guard var row = try transaction.attachment(renewed) else { return }
                _ = try row.become(FreshFile())
                try transaction.save(row)
            }
            try folder.letGo(#require(files.1).name)
            try await folder.copy(to: copy)
        }
        for file in [files.0, files.1] {
            let file = try #require(file)
            #expect(try AttachmentFolder(copy).open(file).digest {} == file.digest)
        }
        #expect(try device.fileNames() == [])
        await device.close()
    }

    @Test("stay for as long as the longest of several backups", arguments: [true, false])
    func copiedTwice(_ leavesInTheInnerOne: Bool) async throws {
        let device = try await PhotoDevice()
        let (_, id) = try await device.add(content(10))
        let file = try #require(try await device.store.read { try $0.attachment(id) })
        let copy = device.folder.url.appending(path: "copy")
        let folder = AttachmentFolder(device.filesURL)
        try await folder.keepingFiles {
            try await folder.keepingFiles {
                if leavesInTheInnerOne { try await device.attachments.remove(id) }
            }
            if !leavesInTheInnerOne { try await device.attachments.remove(id) }
            try await folder.copy(to: copy)
        }
        #expect(try AttachmentFolder(copy).open(file).digest {} == file.digest)
        #expect(try device.fileNames() == [])
        await device.close()
    }

    @Test("get another key each, however many are not here", arguments: [500, 1_001])
    func manyAbsent(_ count: Int) async throws {
        let device = try await PhotoDevice()
        let now = try device.core.work.now
        try await device.store.write { transaction in
            for _ in 0..<count {
                let (name, key) = (try AttachmentFolder.newName(), try AttachmentFolder.newKey())
                try transaction.save(AttachmentFile(.make(), name: name, key: key, lastUsed: now))
            }
        }
        try await Self.expose(device.store)
        try await device.core.work.renewAbsent()
        #expect(try await device.store.read { try $0.count(AttachmentWork.exposed) } == 0)
        await device.close()
    }
}
