import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("A backup of a store that is in use")
struct BackupTests {
    /// Opens a copy, in the place of a store of its own.
    private func content(of copy: URL) async throws -> DatabaseDump {
        let folder = try TestFolder()
        try FileManager.default.copyItem(at: copy, to: folder.database)
        return try DatabaseDump(folder)
    }

    @Test("is one private, encrypted file with everything that was committed, the WAL included")
    func content() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder)
        let copy = folder.url.appending(path: "copy.db")
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables, checkpointDelay: nil)
        try await store.upsert([Record(id: "late", ["text": "in the WAL"])], table: "items")
        try await store.backUp(to: copy)
        #expect(try folder.contents().keys.filter { $0.hasPrefix("copy") } == ["copy.db"])
        #expect(try permissions(copy) == 0o600)
        let bytes = try #require(folder.contents()["copy.db"])
        #expect(bytes[7] & 0x7F == store.engineVersion.newestFormat?.rawValue)
        #expect(Data(bytes).range(of: Data(SampleStore.marker.utf8)) == nil)
        await store.close()
        #expect(try await content(of: copy) == DatabaseDump(folder))

        let restored = try await EncryptedStore.open(
            at: copy,
            key: .testKey(),
            schema: StoreSchema(SampleStore.tables),
            mode: .openExisting
        )
        #expect(try await restored.read(table: "items", itemID: "late")?["text"] == "in the WAL")
        await restored.close()
    }

    @Test("put over a store that was killed is not mixed with what that has left")
    func overAKilledStore() async throws {
        let (folder, killed) = (try TestFolder(), try TestFolder())
        let store = try await EncryptedStore.open(in: folder, checkpointDelay: nil)
        try await store.upsert([Record(id: "1", ["text": "backed up"])], table: "items")
        let copy = folder.url.appending(path: "copy.db")
        try await store.backUp(to: copy)
        try await store.upsert([Record(id: "1", ["text": "later"])], table: "items")
        for (name, bytes) in try folder.contents() where name.hasPrefix("store.db") && !name.hasSuffix(".lock") {
            try Data(bytes).write(to: killed.url.appending(path: name))
        }
        await store.close()
        try Data(contentsOf: copy).write(to: killed.database)
        let before = try killed.contentsWithoutLock()
        let error = await #expect(throws: StoreError.self) { _ = try await EncryptedStore.open(in: killed) }
        #expect(error?.code == .damaged)
        #expect(try killed.contentsWithoutLock() == before)
        try FileManager.default.removeItem(at: killed.url.appending(path: "store.db-wal"))
        let restored = try await EncryptedStore.open(in: killed)
        #expect(try await restored.read(table: "items", itemID: "1")?["text"] == "backed up")
        await restored.close()
    }

    @Test("shows one instant, while writers go on without waiting for it")
    func instant() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let filler = (0..<3_000)
            .map { Record(id: .string("f\($0)"), ["bytes": .bytes(Array(repeating: 1, count: 2_000))]) }
        try await store.upsert(filler, table: "items")
        let copy = folder.url.appending(path: "copy.db")
        // Each transaction writes the same number to two rows far apart.
        let writeOnce: @Sendable (Int64) async throws -> Void = { number in
            try await store.upsert(
                ["0-first", "z-last"].map { Record(id: $0, ["int": .int64(number)]) } + [
                    Record(id: .string("n\(number)"))
                ],
                table: "items"
            )
        }
        try await writeOnce(0)
        // The copy stands still in its transaction until the writers have had their turn.
        let pause = Pause()
        async let backup: Void = store.backUp(to: copy, progress: pause.handler)
        await pause.reached()
        for number in 1...20 { try await writeOnce(Int64(number)) }
        #expect(try await store.read(table: "items", itemID: "0-first")?["int"] == 20)
        pause.letGo()
        try await backup
        try await writeOnce(21)
        await store.close()

        try FileManager.default.removeItem(at: folder.database)
        try FileManager.default.moveItem(at: copy, to: folder.database)
        let restored = try await EncryptedStore.open(in: folder, mode: .openExisting)
        let numbers = [
            try await restored.read(table: "items", itemID: "0-first")?["int"],
            try await restored.read(table: "items", itemID: "z-last")?["int"],
        ]
        #expect(numbers == [0, 0])
        #expect(try await restored.read { try $0.count(Query("items")) } == 3_003)
        await restored.close()
    }

    @Test("does not touch what is at its place, and needs a folder")
    func occupied() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let copy = folder.url.appending(path: "copy.db")
        try Data("mine".utf8).write(to: copy)
        #expect(try await code { try await store.backUp(to: copy) } == .alreadyExists)
        #expect(try Data(contentsOf: copy) == Data("mine".utf8))
        #expect(try await code { try await store.backUp(to: folder.database) } == .alreadyExists)
        let missing = folder.url.appending(path: "missing/copy.db")
        #expect(try await code { try await store.backUp(to: missing) } == .notFound)
        // A log that belongs to another database would be played into the copy.
        try Data("log".utf8).write(to: folder.url.appending(path: "other.db-wal"))
        #expect(try await code { try await store.backUp(to: folder.url.appending(path: "other.db")) } == .damaged)
        try await store.upsert([Record(id: "1")], table: "items")
        await store.close()
        #expect(try await code { try await store.backUp(to: missing) } == .closed)
    }

    #if os(Linux) || os(macOS)
    @Test("does not wait for whoever writes to a pipe under its temporary name, and tells of the pipe")
    func pipeUnderTemporaryName() async throws {
        let folder = try TestFolder()
        try #require(unsafe mkfifo(folder.url.appending(path: "copy.db.new").path, 0o600) == 0)
        await #expect(processExitsWith: .success) { [path = folder.url.path as String] in
            // What waits cannot be cancelled: this ends it.
            alarm(60)
            let folder = URL(filePath: path)
            let store = try await EncryptedStore.open(
                at: folder.appending(path: "store.db"),
                key: .testKey(),
                schema: StoreSchema([.items])
            )
            do {
                try await store.backUp(to: folder.appending(path: "copy.db"))
                Issue.record("a pipe made way")
            } catch let error as StoreError {
                try #require(error.code == .inputOutput && error.message.contains("copy.db.new"))
            }
            await store.close()
        }
        #expect(FileManager.default.fileExists(atPath: folder.url.appending(path: "copy.db.new").path))
        try FileManager.default.removeItem(at: folder.url.appending(path: "copy.db.new"))
    }
    #endif

    @Test("removes a link under its temporary name, and leaves what that leads to alone")
    func linkUnderTemporaryName() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "milk"])], table: "items")
        let (copy, temporary) = (folder.url.appending(path: "copy.db"), folder.url.appending(path: "copy.db.new"))
        let precious = folder.url.appending(path: "precious")
        try Data("precious".utf8).write(to: precious)
        for target in [precious, folder.url.appending(path: "nothing")] {
            try FileManager.default.createSymbolicLink(at: temporary, withDestinationURL: target)
            try await store.backUp(to: copy)
            try FileManager.default.removeItem(at: copy)
        }
        await store.close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock", "precious"])
        #expect(try Data(contentsOf: precious) == Data("precious".utf8))
    }

    @Test("two to the same place: one is made, the other refused")
    func race() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder)
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables)
        let copy = folder.url.appending(path: "copy.db")
        let outcomes = try await withThrowingTaskGroup(of: StoreError.Code?.self) { group in
            for _ in 0..<4 { group.addTask { try await code { try await store.backUp(to: copy) } } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.filter { $0 == nil }.count == 1)
        #expect(outcomes.allSatisfy { $0 == nil || $0 == .inUse || $0 == .alreadyExists }, "\(outcomes)")
        await store.close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock", "copy.db"])
        #expect(try await content(of: copy) == DatabaseDump(folder))
    }

    @Test("that is cancelled leaves nothing; closing the store waits for one that is not")
    func endings() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, isLarge: true)
        let store = try await EncryptedStore.open(in: folder, Array(SampleStore.tables.dropLast()))
        let copy = folder.url.appending(path: "copy.db")
        let found = try await code(cancelling: { cancel in
            try await store.backUp(to: copy) { _ in cancel() }
        })
        #expect(found == .cancelled)
        #expect(try folder.contents().keys.filter { $0.hasPrefix("copy") } == [])

        let (told, tell) = AsyncStream<Void>.makeStream()
        async let backup: Void = store.backUp(to: copy) { if $0.completed == 0 { tell.yield() } }
        for await _ in told { break }
        await store.close()
        #expect(FileManager.default.fileExists(atPath: copy.path))
        try await backup
        #expect(try await content(of: copy) == DatabaseDump(folder))
    }

    @Test("that is sound and has something else in it than the store is thrown away")
    func otherContent() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        let files = StoreFiles(folder.url.appending(path: "copy.db").path)
        let key = try SecretBytes.testKey()
        let found = try await code {
            try await CancellableWork.run(at: files.database) { work in
                let engine = try CipherConfiguration.engineVersion()
                let format = try #require(engine.newestFormat)
                let cipher = try CipherConfiguration(
                    key: key,
                    header: FileHeader(new: format, key: key),
                    engine: engine
                )
                try DatabaseBuilder(files: files, cipherConfiguration: cipher, work: work, progress: nil)
                    .build(.free) { path in
                        let (database, _) = try StoreCreator.build(path, cipher, StoreSchema([.items]))
                        let content = try DatabaseContent(database)
                        try database.run("INSERT INTO items (id) VALUES ('1')")
                        return content
                    }
            }
        }
        #expect(found == .damaged)
        #expect(try folder.contents().keys.filter { $0.hasPrefix("copy") } == [])
    }

    @Test("of a store with a damaged page is refused")
    func damage() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["bytes": .bytes(Array(repeating: 1, count: 50_000))])], table: "items")
        await store.close()
        try folder.edit { $0[$0.count - 3_000] ^= 1 }
        let damaged = try await EncryptedStore.open(in: folder)
        let copy = folder.url.appending(path: "copy.db")
        #expect(try await code { try await damaged.backUp(to: copy) } == .damaged)
        await damaged.close()
        #expect(try folder.contents().keys.filter { $0.hasPrefix("copy") } == [])
    }

    @Test("into a folder that cannot be written is refused")
    func readOnly() async throws {
        guard let disk = try SmallDisk(megabytes: 2) else { return }
        defer { disk.unmount() }
        let view = try disk.readOnlyView()
        defer { view.unmount() }
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await code { try await store.backUp(to: view.database) } == .readOnly)
        await store.close()
    }

    @Test("on a full disk is refused and leaves nothing of itself")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(megabytes: 2) else { return }
        defer { disk.unmount() }
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let large = FieldValue.bytes(Array(repeating: 3, count: 100_000))
        try await store.upsert((0..<40).map { Record(id: .string("\($0)"), ["bytes": large]) }, table: "items")
        #expect(try await code { try await store.backUp(to: disk.database) } == .full)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == [])
        try await store.upsert([Record(id: "1")], table: "items")
        await store.close()
    }
}
