import Dispatch
import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

@Suite("Opening a store")
struct OpeningTests {
    @Test("what was written is there after closing and opening again, and no WAL is left beside it")
    func reopening() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "milk"])], table: "items")
        await store.close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])

        let again = try await EncryptedStore.open(in: folder, mode: .openExisting)
        #expect(try await again.read(table: "items", itemID: "1")?["text"] == "milk")
        await again.close()
    }

    @Test("a schema that is a literal is checked first, and nothing is made of a wrong one")
    func literal() async throws {
        let folder = try TestFolder()
        let table = TableDefinition("items", columns: [])
        let error = await #expect(throws: StoreError.self) {
            try await EncryptedStore.open(at: folder.database, key: .testKey(), schema: [table, table])
        }
        #expect(error?.code == .invalidSchema)
        #expect(try folder.contents().isEmpty)
        let store = try await EncryptedStore.open(at: folder.database, key: .testKey(), schema: [table])
        #expect(try await store.read(Query("items")).records.isEmpty)
        await store.close()
    }

    @Test("the first bytes are the file header, never SQLite's header, and two stores differ in the rest")
    func fileHeader() async throws {
        var starts: Set<[UInt8]> = []
        for _ in 0..<2 {
            let folder = try TestFolder()
            let store = try await EncryptedStore.open(in: folder)
            await store.close()
            let start = try #require(folder.contents()["store.db"]).prefix(16)
            #expect(start.prefix(7) == [0xD3] + "SealDB".utf8)
            #expect(start[7] & 0x7F == store.engineVersion.newestFormat?.rawValue)
            starts.insert(Array(start))
        }
        #expect(starts.count == 2)
    }

    @Test("a wrong key is refused, touches no byte of any file and leaves no file behind")
    func wrongKey() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "milk"])], table: "items")
        await store.close()
        // It may be the new database of a revocation that was killed.
        try Data("new".utf8).write(to: folder.url.appending(path: "store.db.new"))
        let before = try folder.contents()
        #expect(try await code { _ = try await EncryptedStore.open(in: folder, keyByte: 8) } == .wrongKey)
        #expect(try folder.contents() == before)
        #expect(
            try await code { _ = try await EncryptedStore.open(in: folder, keyByte: 8, keyIsVerified: true) }
                == .wrongKey,
            "the header names the key"
        )
        #expect(try folder.contents() == before)
    }

    @Test("a wrong key touches nothing of a store whose process was killed, its WAL included")
    func wrongKeyBesideLog() async throws {
        let folder = try TestFolder()
        let killed = try await StoreLeftOpen(in: folder)
        try Data("new".utf8).write(to: folder.url.appending(path: "store.db.new"))
        let before = try folder.contentsWithoutLock()
        #expect(before["store.db-wal"]?.isEmpty == false)
        #expect(try await code { _ = try await EncryptedStore.open(in: folder, keyByte: 8) } == .wrongKey)
        #expect(try folder.contentsWithoutLock() == before)

        let store = try await EncryptedStore.open(in: folder)
        #expect(try await store.read(table: "items", itemID: "1")?["text"] == killed.text)
        await store.close()
    }

    @Test("a key of another length is refused")
    func keyLength() async throws {
        let folder = try TestFolder()
        let short = unsafe try SecretBytes(count: 31) { _ in }
        let found = try await code {
            _ = try await EncryptedStore.open(at: folder.database, key: short, schema: StoreSchema([.items]))
        }
        #expect(found == .wrongKey)
        #expect(try folder.contents().isEmpty)
    }

    @Test("the modes tell a missing store from one that exists, and leave no file where there was none")
    func modes() async throws {
        let folder = try TestFolder()
        #expect(try await code { _ = try await EncryptedStore.open(in: folder, mode: .openExisting) } == .notFound)
        #expect(try folder.contents().isEmpty)
        await (try EncryptedStore.open(in: folder, mode: .createNew)).close()
        #expect(try await code { _ = try await EncryptedStore.open(in: folder, mode: .createNew) } == .alreadyExists)
        let elsewhere = folder.url.appending(path: "missing/store.db")
        let found = try await code {
            _ = try await EncryptedStore.open(at: elsewhere, key: .testKey(), schema: StoreSchema([.items]))
        }
        #expect(found == .notFound)
    }

    @Test("a second object on an open store is refused, also through a link to its folder, until the first is closed")
    func lock() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await code { _ = try await EncryptedStore.open(in: folder) } == .inUse)
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        let found = try await code {
            _ = try await EncryptedStore.open(
                at: link.appending(path: "store.db"),
                key: .testKey(),
                schema: StoreSchema([.items])
            )
        }
        #expect(found == .inUse)
        try FileManager.default.removeItem(at: link)
        await store.close()
        await (try EncryptedStore.open(in: folder)).close()
    }

    @Test(
        "no link in the place of a file is followed, be it to nothing, and what it leads to stays as it is",
        arguments: ["store.db", "store.db.lock", "store.db-wal", "store.db-journal", "store.db-shm"],
        [true, false]
    )
    func links(name: String, leadsToFile: Bool) async throws {
        let (folder, other) = (try TestFolder(), try TestFolder())
        for place in [folder, other] { try await EncryptedStore.open(in: place).close() }
        let target = other.url.appending(path: leadsToFile ? "store.db" : "nothing")
        let before = try other.contents()
        let link = folder.url.appending(path: name)
        if FileSystem.exists(link.path) { try FileManager.default.removeItem(at: link) }
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
        for mode in [OpenMode.openOrCreate, .createNew, .openExisting] {
            let found = try await code { _ = try await EncryptedStore.open(in: folder, mode: mode) }
            #expect(found != nil && found != .inUse && found != .damaged, "\(mode)")
            #expect(mode != .openOrCreate || found == .readOnly)
        }
        #expect(try other.contents() == before)
        #expect(FileSystem.isLink(link.path))
    }

    @Test("a store that is dropped without being closed lets others in")
    func dropped() async throws {
        let folder = try TestFolder()
        do {
            let store = try await EncryptedStore.open(in: folder)
            try await store.upsert([Record(id: "1")], table: "items")
            _ = try await store.read(Query("items"))
        }
        let again = try await EncryptedStore.open(in: folder)
        #expect(try await again.read(table: "items", itemID: "1") != nil)
        await again.close()
    }

    @Test("a store that is dropped is closed on its queue, not by the thread that drops it, and can be worked on then")
    func droppedElsewhere() async throws {
        let folder = try TestFolder()
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: key, value: true)
        let (closings, closing) = AsyncStream<Bool>.makeStream()
        let dropped = Mutex<StoreSession?>(nil)
        let opener = try StoreOpener(
            files: StoreFiles(folder.database.path),
            key: .testKey(),
            schema: StoreSchema([.items]),
            mode: .createNew,
            options: EncryptedStoreOptions()
        )
        do {
            let (session, _) = try await StoreSession.open(opener)
            let probe: @Sendable (Database) -> Void = { database in
                database.whenClosed { closing.yield(DispatchQueue.getSpecific(key: key) == true) }
            }
            try await session.readers.read(probe)
            try await session.writer.transaction { database in
                probe(database)
                try database.run("INSERT INTO items (id) VALUES ('1')")
            }
            dropped.withLock { $0 = session }
        }
        await withCheckedContinuation { continuation in
            queue.async {
                dropped.withLock { $0 = nil }
                continuation.resume()
            }
        }
        await DroppedStores.closing(of: opener.files.database)
        var iterator = closings.makeAsyncIterator()
        for _ in 0..<2 { #expect(await iterator.next() == false) }
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
    }

    @Test("only the owner may read the files")
    func permissions() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1")], table: "items")
        for name in try folder.contents().keys {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.url.appending(path: name).path)
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        await store.close()
    }

    @Test("leftovers of a creation that was killed are replaced")
    func leftovers() async throws {
        let folder = try TestFolder()
        for name in ["store.db.new", "store.db.new-wal", "store.db.new-journal", "store.db.new-shm"] {
            try Data("half".utf8).write(to: folder.url.appending(path: name))
        }
        // And a link that leads to nothing.
        try FileManager.default.removeItem(at: folder.url.appending(path: "store.db.new"))
        try FileManager.default.createSymbolicLink(
            at: folder.url.appending(path: "store.db.new"),
            withDestinationURL: folder.url.appending(path: "nothing")
        )
        await (try EncryptedStore.open(in: folder)).close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
    }

    @Test(
        "what is to be looked at when the lock is taken is, at every opening, and may refuse it before anything has changed"
    )
    func whenLocked() async throws {
        struct Refusal: Error {}
        let folder = try TestFolder()
        let files = StoreFiles(folder.database.path)
        let asked = Mutex(0)
        func open(_ refusal: Refusal?) async throws -> EncryptedStore {
            try await EncryptedStore.open(
                at: folder.database,
                key: .testKey(),
                schema: StoreSchema([.items]),
                translating: nil,
                mode: .openOrCreate,
                options: EncryptedStoreOptions(),
                in: FileSystem(),
                whenLocked: {
                    asked.withLock { $0 += 1 }
                    #expect(try LockFile.isHeld(files))
                    if let refusal { throw refusal }
                }
            )
        }
        await #expect(throws: Refusal.self) { _ = try await open(Refusal()) }
        #expect(try folder.contentsWithoutLock().isEmpty)
        try await open(nil).close()
        try Data("new".utf8).write(to: folder.url.appending(path: "store.db.new"))
        let before = try folder.contentsWithoutLock()
        await #expect(throws: Refusal.self) { _ = try await open(Refusal()) }
        #expect(try folder.contentsWithoutLock() == before)
        let store = try await open(nil)
        await store.lock()
        await #expect(throws: Refusal.self) { try await store.unlock(key: .testKey(), whenLocked: { throw Refusal() }) }
        #expect(store.isLocked)
        await store.close()
        #expect(asked.withLock { $0 } == 4)
    }

    @Test("a store that is removed before the lock is taken is looked for once more, and not created")
    func removedMeanwhile() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        let opener = try StoreOpener(
            files: StoreFiles(folder.database.path),
            key: .testKey(),
            schema: StoreSchema([.items]),
            mode: .openExisting,
            options: EncryptedStoreOptions()
        )
        let lock = try LockFile(opener.files)
        try FileManager.default.removeItem(at: folder.database)
        let found = try await code { _ = try opener.openLocked(lock, CipherConfiguration.engineVersion()) }
        #expect(found == .notFound)
        #expect(try folder.contentsWithoutLock().isEmpty)
    }

    @Test("a WAL without its database stops the creation of a new one, which it would be played into")
    func orphanedLog() async throws {
        let folder = try TestFolder()
        _ = try await StoreLeftOpen(in: folder)
        try FileManager.default.removeItem(at: folder.database)
        let before = try folder.contentsWithoutLock()
        let error = await #expect(throws: StoreError.self) { _ = try await EncryptedStore.open(in: folder) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("into an empty folder") == true, "a backup would be mixed with the log")
        #expect(try folder.contentsWithoutLock() == before)
    }

    @Test("closing again does nothing, and a closed store refuses work and ends its streams")
    func closing() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let changes = store.changes()
        async let first: Void = store.close()
        async let second: Void = store.close()
        _ = await (first, second)
        await store.close()
        #expect(try await code { _ = try await store.read(Query("items")) } == .closed)
        #expect(try await code { try await store.upsert([], table: "items") } == .closed)
        for await change in changes { Issue.record("unexpected \(change)") }
    }

    @Test("the linked library encrypts and tells its versions")
    func engine() async throws {
        let linked = try EncryptedStore.linkedEngineVersion()
        print("engine: \(linked)")
        // `make test-sqlcipher4` sets the variable: the loader must have found the library that it names.
        let isFour = ProcessInfo.processInfo.environment["SEALEDSYNC_SQLCIPHER4"] != nil
        #expect(linked.majorCipherVersion >= (isFour ? 4 : 3))
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        #expect(store.engineVersion == linked)
        await store.close()
    }

    @Test("a store in any format the linked library has opens; one in a newer format is refused by name")
    func formats() async throws {
        let engine = try EncryptedStore.linkedEngineVersion()
        let newest = try #require(engine.newestFormat)
        for format in FileHeader.Format.allCases {
            let folder = try TestFolder()
            if format.rawValue <= newest.rawValue {
                let creator = StoreCreator(files: StoreFiles(folder.database.path), engine: engine, format: format)
                try creator.create(.testKey(), StoreSchema([.items]))
            } else {
                try folder.write(FileHeader(new: format, key: .testKey()).bytes + [UInt8](repeating: 0, count: 8_192))
                #expect(try await code { _ = try await EncryptedStore.open(in: folder) } == .unsupportedFormat)
                continue
            }
            for index in 0..<2 {
                let store = try await EncryptedStore.open(in: folder, mode: .openExisting)
                #expect(try await store.read(Query("items")).records.count == index)
                try await store.upsert([Record(id: .string("\(index)"))], table: "items")
                await store.close()
            }
            #expect(try folder.contents()["store.db"]?[7] == format.rawValue | 0x80)
            #expect(try await code { _ = try await EncryptedStore.open(in: folder, keyByte: 1) } == .wrongKey)
        }
    }

    @Test("a path with characters that have a meaning in a URI opens")
    func oddPath() async throws {
        let folder = try TestFolder()
        let url = folder.url.appending(path: "a b?c#d%41&é.db")
        for _ in 0..<2 {
            let store = try await EncryptedStore.open(at: url, key: .testKey(), schema: StoreSchema([.items]))
            try await store.upsert([Record(id: "1")], table: "items")
            await store.close()
        }
        #expect(try folder.contents().keys.contains("a b?c#d%41&é.db"))
    }

    @Test("no connection sorts in files, where nothing would be encrypted, and each notices damaged cells")
    func session() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        let database = try folder.openDatabase()
        try database.configureSession(EncryptedStoreOptions())
        #expect(try database.int64("PRAGMA temp_store") == 2)
        #expect(try database.int64("PRAGMA cell_size_check") == 1)
    }

    @Test("unlocking tells of every table, those of the sync among them")
    func unlocking() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        var changes = store.changes().makeAsyncIterator()
        await store.lock()
        try await store.unlock(key: .testKey())
        #expect(await changes.next()?.tables == Set(store.schema.allTables.map(\.name)))
        await store.close()
    }
}
