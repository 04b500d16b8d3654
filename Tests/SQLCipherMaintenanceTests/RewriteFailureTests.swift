import DurableFiles
import FileSystemRecording
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("A rewrite that cannot be done leaves the old store")
struct RewriteFailureTests {
    @Test("with a wrong key, every byte as it was, a WAL that was left behind included", arguments: Rewrite.allCases)
    func wrongKey(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        _ = try await StoreLeftOpen(in: folder)
        var before = try folder.contents()
        // It may be the new database of a revocation that was killed.
        let leftover = folder.url.appending(path: "store.db.new")
        before["store.db.new"] = Array("new".utf8)
        try Data("new".utf8).write(to: leftover)
        #expect(try await code { try await rewrite.run(on: folder.database, keyByte: 8) } == .wrongKey)
        #expect(try folder.contentsWithoutLock() == before)
        before["store.db.new"] = nil
        try FileManager.default.removeItem(at: leftover)
        let short = unsafe try SecretBytes(count: 31) { _ in }
        let file = StoreFile(folder.database)
        #expect(try await code { _ = try await file.compact(key: short) } == .wrongKey)
        #expect(try await code { _ = try await file.rekey(from: .testKey(), to: short) } == .wrongKey)
        #expect(try folder.contentsWithoutLock() == before)
    }

    @Test("while the store is open here, and there is none elsewhere", arguments: Rewrite.allCases)
    func inUse(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        #expect(try await code { try await rewrite.run(on: folder.database) } == .notFound)
        #expect(try folder.contents().isEmpty)
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await code { try await rewrite.run(on: folder.database) } == .inUse)
        try await store.upsert([Record(id: "1")], table: "items")
        await store.close()
        try await rewrite.run(on: folder.database)
    }

    @Test("when another program that knows no lock file has the database open", arguments: Rewrite.possible)
    func openElsewhere(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format)
        let before = try DatabaseDump(folder)
        let other = try folder.openDatabase()
        _ = try other.int64("SELECT COUNT(*) FROM items")
        #expect(try await code { try await rewrite.run(on: folder.database) } == .inUse)
        #expect(try DatabaseDump(folder) == before)
        _ = other.changes
    }

    @Test("of a newer format than the library knows, with the remedy in the message")
    func newerFormat() async throws {
        let folder = try TestFolder()
        let bytes = [0xD3] + Array("SealDB".utf8) + [9] + [UInt8](repeating: 1, count: 8_184)
        try folder.write(bytes)
        for rewrite in Rewrite.allCases {
            #expect(try await code { try await rewrite.run(on: folder.database) } == .unsupportedFormat)
        }
        if try CipherConfiguration.engineVersion().newestFormat == .sqlcipher3 {
            try folder.edit { $0[7] = FileHeader.Format.sqlcipher4.rawValue }
            do {
                _ = try await EncryptedStore.open(in: folder)
                Issue.record("a file of SQLCipher 4 opened under 3")
            } catch let error as StoreError {
                #expect(error.code == .unsupportedFormat && error.message.contains("link SQLCipher 4"))
            }
        }
        #expect(try folder.contents()["store.db"]?.dropFirst(8) == bytes.dropFirst(8))
    }

    @Test("with damage in any one page: refused, or nothing that is in use was damaged", arguments: Rewrite.possible)
    func damage(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format, rows: 100)
        let intact = try #require(folder.contents()["store.db"])
        let content = try DatabaseDump(folder)
        var refused = 0
        let pages = intact.count / 4_096
        for page in 0..<pages {
            var damaged = intact
            damaged[page * 4_096 + 50] ^= 1
            try folder.write(damaged)
            let file = StoreFile(folder.database, keyIsVerified: true)
            let found = try await code {
                switch rewrite {
                case .compact: _ = try await file.compact(key: .testKey())
                case .upgrade: _ = try await file.upgrade(key: .testKey())
                case .rekey: _ = try await file.rekey(from: .testKey(), to: .testKey(9))
                }
            }
            if found == nil {
                #expect(try DatabaseDump(folder, keyByte: rewrite.keyByte) == content, "page \(page)")
            } else {
                #expect(found == .damaged, "page \(page)")
                // The first page is written anew when the WAL is given up; all others are as they were.
                #expect(try folder.contents()["store.db"]?.dropFirst(4_096) == damaged.dropFirst(4_096), "page \(page)")
                refused += 1
            }
            // A connection that met the damage may leave its WAL, in which there is nothing.
            let others = try folder.contents()
                .filter { !["store.db", "store.db.lock", "store.db-shm"].contains($0.key) }
            #expect(others.isEmpty || others == ["store.db-wal": []], "page \(page)")
        }
        #expect(refused > pages * 2 / 3)
    }

    @Test("whose tables and indexes do not agree, which no cipher notices")
    func inconsistent() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, rows: 100)
        do {
            let database = try folder.openDatabaseForWriting()
            try database.run("PRAGMA writable_schema = ON")
            // An index that is taken for another one's: its entries are those of other columns.
            try database.run(
                """
                UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'index:indexed:a') \
                WHERE name = 'index:indexed:a,rowid'
                """
            )
        }
        let before = try #require(folder.contents()["store.db"])
        #expect(try await code { try await Rewrite.compact.run(on: folder.database) } == .damaged)
        #expect(try folder.contents()["store.db"]?.dropFirst(4_096) == before.dropFirst(4_096))
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
    }

    @Test("when the task is cancelled, at every step before the new file takes its place", arguments: Rewrite.possible)
    func cancelled(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format)
        let content = try DatabaseDump(folder)
        for last in 1...7 {
            let isDone = last == 7
            let found = try await code(cancelling: { cancel in
                try await rewrite.run(on: folder.database, .acting(after: last, cancel))
            })
            #expect(found == (isDone ? nil : .cancelled), "\(last)")
            #expect(try DatabaseDump(folder, keyByte: isDone ? rewrite.keyByte : 7) == content, "\(last)")
            #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"], "\(last)")
        }
    }

    @Test("when the task is cancelled in the middle of the copy, which ends there", arguments: Rewrite.possible)
    func cancelledCopying(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format, isLarge: true)
        let recorder = FileSystemRecorder(in: folder.url)
        let found = try await code(cancelling: { cancel in
            try await rewrite.run(on: folder.database, progress: { _ in cancel() }, recorder.fileSystem)
        })
        #expect(found == .cancelled)
        #expect(
            recorder.takeLines() == [
                "remove store.db-wal", "synchronize .", "create store.db.new", "remove store.db.new",
            ]
        )
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
        try await rewrite.run(on: folder.database)
    }

    /// Creates a store in a format; without one, the next opening does.
    private static func createStore(on disk: SmallDisk, _ format: FileHeader.Format?) throws {
        guard let format else { return }
        let files = StoreFiles(disk.database.path)
        try StoreCreator(files: files, engine: CipherConfiguration.engineVersion(), format: format)
            .create(.testKey(), StoreSchema([.items]))
    }

    @Test("on a full disk, and works when there is space again", arguments: Rewrite.possible)
    func fullDisk(rewrite: Rewrite) async throws {
        guard let disk = try SmallDisk(megabytes: 6) else { return }
        defer { disk.unmount() }
        try Self.createStore(on: disk, rewrite.format)
        let store = try await disk.open()
        let large = FieldValue.bytes(Array(repeating: 3, count: 100_000))
        let rows = (0..<20).map { Record(id: .string("\($0)"), ["bytes": large]) }
        try await store.upsert(rows, table: "items")
        await store.close()
        let before = try Data(contentsOf: disk.database)
        let filler = disk.folder.appending(path: "filler")
        // Room for half of the copy.
        try Data(count: 6 << 20 - before.count - before.count / 2).write(to: filler)
        #expect(try await code { try await rewrite.run(on: disk.database) } == .full)
        #expect(try Data(contentsOf: disk.database).dropFirst(4_096) == before.dropFirst(4_096))
        let names = try FileManager.default.contentsOfDirectory(atPath: disk.folder.path)
        #expect(Set(names) == ["filler", "store.db", "store.db.lock"])
        let again = try await disk.open()
        #expect(try await again.read(Query("items")).records.count == 20)
        await again.close()
        try await disk.remove(filler)
        try await rewrite.run(on: disk.database)
    }

    @Test("in a folder that cannot be written", arguments: Rewrite.possible)
    func readOnly(rewrite: Rewrite) async throws {
        guard let disk = try SmallDisk(megabytes: 6) else { return }
        defer { disk.unmount() }
        try Self.createStore(on: disk, rewrite.format)
        try await disk.open().close()
        let before = try Data(contentsOf: disk.database)
        let view = try disk.readOnlyView()
        defer { view.unmount() }
        #expect(try await code { try await rewrite.run(on: view.database) } == .readOnly)
        #expect(try Data(contentsOf: disk.database) == before)
    }

    #if os(Linux) || os(macOS)
    @Test("for a process that may not write there", arguments: Rewrite.possible)
    func withoutPermission(rewrite: Rewrite) async throws {
        // As the superuser, who may write anywhere, the process first becomes somebody else.
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format)
        for name in try folder.contents().keys {
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o666],
                ofItemAtPath: folder.url.appending(path: name).path
            )
        }
        let before = try folder.contents()
        let (path, name) = (folder.url.path, rewrite.rawValue)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
        defer { _ = unsafe chmod(path, 0o755) }
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String, name = name as String] in
            if geteuid() == 0, setuid(65_534) != 0 { exit(2) }
            let found = try await code {
                try await Rewrite(rawValue: name)?.run(on: URL(filePath: path).appending(path: "store.db"))
            }
            exit(found == .readOnly ? 42 : 1)
        }
        #expect(try folder.contents() == before)
    }
    #endif
}

/// What became of a closure whose task cancels itself by the function that it is given.
enum Outcome: Equatable {
    case cancelled
    case failed(StoreError.Code)
}

/// Runs a closure in a task of its own, which the function it is given cancels. Returns nil when it throws nothing.
func code(cancelling body: @escaping @Sendable (@escaping @Sendable () -> Void) async throws -> Void) async throws
    -> Outcome?
{
    let (starts, start) = AsyncStream<Void>.makeStream()
    let running = Mutex<Task<Void, any Error>?>(nil)
    let task = Task {
        for await _ in starts { break }
        try await body { running.withLock { $0?.cancel() } }
    }
    running.withLock { $0 = task }
    start.yield()
    do {
        try await task.value
        return nil
    } catch is CancellationError {
        return .cancelled
    } catch let error as StoreError {
        return .failed(error.code)
    }
}
