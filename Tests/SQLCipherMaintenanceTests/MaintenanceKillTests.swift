import DurableFiles
import FileSystemRecording
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

#if os(Linux) || os(macOS)
@Suite("A process that is killed while it rewrites, copies, exports or encrypts a store")
struct MaintenanceKillTests {
    /// The places to be killed at: after each of the durable steps, and in the middle of the copy.
    static let places = Array(1...7) + [-1]
    /// A rewriting begins with one more: the WAL is gone for good.
    static let placesOfRewriting = Array(1...8) + [-1]

    @Test(
        "leaves the old store or the new one, whole, and what is left over goes with the next opening",
        arguments: Rewrite.possible,
        placesOfRewriting
    )
    func rewriting(rewrite: Rewrite, place: Int) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format, rows: 100, isLarge: place < 0)
        let content = try DatabaseDump(folder)
        let (path, name) = (folder.url.path, rewrite.rawValue)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, name = name as String, place = place as Int] in
            let database = URL(filePath: path).appending(path: "store.db")
            let killer = Killer(place)
            try await Rewrite(rawValue: name)?.run(on: database, progress: killer.progress, killer.fileSystem)
        }
        let isDone = place >= 7
        let keyByte = isDone ? rewrite.keyByte : 7
        try expectSecrecy(in: folder)
        #expect(try DatabaseDump(folder, keyByte: keyByte) == content)
        if rewrite == .rekey {
            #expect(
                try await code { _ = try await EncryptedStore.open(in: folder, keyByte: isDone ? 7 : 9) } == .wrongKey
            )
        }
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables.dropLast(), keyByte: keyByte)
        #expect(try await store.read(table: "items", itemID: "1")?["undeclared"] == .double(0.1))
        await store.close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
        #expect(try DatabaseDump(folder, keyByte: keyByte) == content)
        if !isDone { try await rewrite.run(on: folder.database) }
        #expect(try DatabaseDump(folder, keyByte: rewrite.keyByte) == content)
    }

    @Test("while it takes a backup leaves the store and a whole copy, or none", arguments: places)
    func backingUp(place: Int) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, rows: 100, isLarge: place < 0)
        let content = try DatabaseDump(folder)
        let path = folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, place = place as Int] in
            let folder = URL(filePath: path)
            let killer = Killer(place)
            let store = try await EncryptedStore.open(
                at: folder.appending(path: "store.db"),
                key: .testKey(),
                schema: StoreSchema(SampleStore.tables.dropLast())
            )
            try await store.backUp(
                to: folder.appending(path: "copy.db"),
                progress: killer.progress,
                in: killer.fileSystem
            )
        }
        let isDone = place >= 5
        let names = try folder.contents().keys
        #expect(names.contains("copy.db") == isDone)
        try expectSecrecy(in: folder)
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables.dropLast())
        let copy = folder.url.appending(path: "copy.db")
        if isDone {
            try FileManager.default.removeItem(at: copy)
        }
        // What the killed process has left is not an obstacle.
        try await store.backUp(to: copy)
        await store.close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock", "copy.db"])
        try FileManager.default.removeItem(at: folder.database)
        try FileManager.default.moveItem(at: copy, to: folder.database)
        #expect(try DatabaseDump(folder) == content)
    }

    @Test("while it exports leaves the store, and a whole plain file or one that is not finished", arguments: places)
    func exporting(place: Int) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, rows: 100, isLarge: place < 0)
        let content = try DatabaseDump(folder)
        let path = folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, place = place as Int] in
            let folder = URL(filePath: path)
            let killer = Killer(place)
            var file = StoreFile(folder.appending(path: "store.db"))
            file.fileSystem = killer.fileSystem
            try await file.exportPlaintext(
                to: folder.appending(path: "plain"),
                key: .testKey(),
                progress: killer.progress
            )
        }
        let isDone = place >= 5
        let plain = folder.url.appending(path: "plain")
        let unfinished = folder.url.appending(path: "plain.new")
        #expect(FileManager.default.fileExists(atPath: plain.path) == isDone)
        if FileManager.default.fileExists(atPath: unfinished.path) { #expect(try permissions(unfinished) == 0o600) }
        if isDone { try FileManager.default.removeItem(at: plain) }
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        #expect(try DatabaseDump(plain: plain).withoutSearching == content.withoutSearching)
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock", "plain"])
        #expect(try DatabaseDump(folder) == content)
    }

    @Test("while it encrypts leaves the plain file, and a whole store or none", arguments: places, [true, false])
    func encrypting(place: Int, isExported: Bool) async throws {
        let folder = try TestFolder()
        let plain = folder.url.appending(path: "plain")
        if isExported {
            try await SampleStore.make(in: folder, rows: 100, isLarge: place < 0)
            try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
            try FileManager.default.removeItem(at: folder.database)
        } else {
            let database = try Database(path: plain.path, flags: 6)
            try database.run("CREATE TABLE items (id TEXT PRIMARY KEY, \(SampleStore.marker) TEXT)")
            let rows = """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
                INSERT INTO items SELECT i, '\(SampleStore.marker)' || i FROM n
                """
            try database.run(rows)
        }
        let before = try Data(contentsOf: plain)
        let path = folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, place = place as Int] in
            let folder = URL(filePath: path)
            let killer = Killer(place)
            _ = try await StoreFile.encrypt(
                plaintext: folder.appending(path: "plain"),
                into: folder.appending(path: "store.db"),
                key: .testKey(),
                schema: nil,
                progress: killer.progress,
                in: killer.fileSystem
            )
        }
        let isDone = place >= 5
        #expect(FileManager.default.fileExists(atPath: folder.database.path) == isDone)
        #expect(try Data(contentsOf: plain) == before)
        try expectSecrecy(in: folder, except: "plain")
        if !isDone { try await StoreFile.encrypt(plaintext: plain, into: folder.database, key: .testKey()) }
        // What the killed process has left goes with the next opening.
        try await EncryptedStore.openWithStoredSchema(at: folder.database, key: .testKey()).close()
        let count = try DatabaseDump(folder).rows["items"]?.count
        #expect(count == (isExported ? 4 : 2_000))
        #expect(
            try Set(folder.contents().keys).subtracting(["store.db-wal", "store.db-shm"]) == [
                "store.db", "store.db.lock", "plain",
            ]
        )
    }

    private func expectSecrecy(in folder: TestFolder, except other: String? = nil) throws {
        for (name, bytes) in try folder.contents() where name != other {
            for marker in [SampleStore.marker, "SQLite format", "CREATE TABLE"] {
                #expect(Data(bytes).range(of: Data(marker.utf8)) == nil, "\(marker) in \(name)")
            }
            #expect(try permissions(folder.url.appending(path: name)) == 0o600, "\(name)")
        }
    }
}

/// Ends its process after that many durable steps, or, for -1, in the middle of the copy.
struct Killer: Sendable {
    private let place: Int

    init(_ place: Int) { self.place = place }

    var fileSystem: FileSystem { place < 0 ? FileSystem() : .killing(after: place) }

    var progress: StoreProgressHandler {
        { [place] in
            if place < 0, $0.phase == .copying, (1..<$0.total).contains($0.completed) { kill(getpid(), SIGKILL) }
        }
    }
}
#endif
