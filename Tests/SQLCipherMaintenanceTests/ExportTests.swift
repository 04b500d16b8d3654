import ChildProcesses
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Exporting a store to a plain file, and making a store of it again")
struct ExportTests {
    @Test("any SQLite reads the file, which has all values and is private")
    func export() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder)
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        #expect(try permissions(plain) == 0o600)
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock", "plain.sqlite"])
        let dump = try DatabaseDump(plain: plain)
        #expect(try dump.withoutSearching == DatabaseDump(folder).withoutSearching)
        // Of the index for searching there is the name alone: nothing in the file needs functions of this library.
        #expect(dump.entries.count == dump.withoutSearching.entries.count + 1)
        #expect(dump.rows.values.filter(\.isEmpty).count == 2)
        for (name, bytes) in try folder.contents() where name != "plain.sqlite" {
            #expect(Data(bytes).range(of: Data(SampleStore.marker.utf8)) == nil, "\(name)")
        }

        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            assert db.execute('pragma integrity_check').fetchall() == [('ok',)]
            row = db.execute('select int, double, decimal, typeof(bytes), date, text from items where id = ?', ('1',)).fetchone()
            assert row == (2**63 - 1, -0.0, '1.10', 'blob', 1614834367123, 'MarkerOfTheSample\\0é😀'), row
            assert db.execute("select count(*) from folding where id = 'ABC'").fetchone() == (1,)
            assert db.execute('select count(*) from MS_TableOperations').fetchone() == (5,)
            db.execute("update indexed set a = 'changed'")
            """
        #expect(try await ChildProcess.run(.named("python3", ["-c", script, plain.path])).status == 0)
    }

    @Test("a store of the file equals the exported one, value for value, with its undeclared keys, queue and tokens")
    func roundTrip() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder)
        let before = try DatabaseDump(folder)
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        let bytes = try Data(contentsOf: plain)

        let other = try TestFolder()
        let result = try await StoreFile.encrypt(plaintext: plain, into: other.database, key: .testKey(9))
        #expect(try DatabaseDump(other, keyByte: 9) == before)
        #expect(result.tables.map(\.name) == ["folding", "forgotten", "indexed", "items"])
        #expect(result.tables.first { $0.name == "indexed" }?.indexes == [["a"], ["a", "rowid"]])
        #expect(result.rowCounts["indexed"] == 200 && result.droppedIndexes == [])
        #expect(try permissions(other.database) == 0o600)
        #expect(
            try other.contents()["store.db"].map { Data($0).range(of: Data(SampleStore.marker.utf8)) } == .some(nil)
        )
        // The plain file still lies there, as it was.
        #expect(try Data(contentsOf: plain) == bytes)

        let store = try await EncryptedStore.open(in: other, result.tables, keyByte: 9, mode: .openExisting)
        #expect(try await store.read(table: "items", itemID: "1")?["undeclared"] == .double(0.1))
        let date = try await store.read(table: "items", itemID: "1")?["date"]?.dateValue
        #expect(date?.finerText == "2021-03-04T05:06:07.1234567Z")
        #expect(
            try await store.read(Query("MS_TableOperations")).records.map(\.id) == [1_000, 2_000, 3_000, 4_000, 5_000]
        )
        let search = Query("indexed").filtered(by: Column("a").matches(words: "αλφα"))
        #expect(try await store.read(search).records.count == 200)
        await store.close()
        // Opened with what it said, the store has its indexes still.
        #expect(try DatabaseDump(other, keyByte: 9).entries == before.entries)
    }

    @Test("leaves out the keys of files, and nothing of an app's own table of that name", arguments: [true, false])
    func fileKeys(_ isOfFiles: Bool) async throws {
        let folder = try TestFolder()
        let columns: [ColumnDefinition] = [.init("file", .string), .init("key", .bytes)]
        let table = TableDefinition(
            "AttachmentFiles",
            columns: columns + (isOfFiles ? [.init("isExposed", .bool)] : [])
        )
        let key = Array("KeyOfAFileThatStaysEncrypted....".utf8)
        let store = try await EncryptedStore.open(in: folder, [table])
        try await store.upsert([Record(id: "a", ["file": "name", "key": .bytes(key)])], table: table.name)
        await store.close()
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        #expect(try (Data(contentsOf: plain).range(of: Data(key)) == nil) == isOfFiles)
        #expect(try DatabaseDump(plain: plain).rows[table.name]?.count == (isOfFiles ? 0 : 1))
        let other = try TestFolder()
        let result = try await StoreFile.encrypt(plaintext: plain, into: other.database, key: .testKey())
        #expect(result.rowCounts[table.name] == (isOfFiles ? 0 : 1))
        #expect(result.tables == [table])
    }

    @Test("takes over what lies in a WAL that a killed process left")
    func leftLog() async throws {
        let folder = try TestFolder()
        _ = try await StoreLeftOpen(in: folder)
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        #expect(try DatabaseDump(plain: plain).rows["items"]?.count == 1)
    }

    @Test("refuses: a wrong key, a store in use, a place that is taken, a damaged page; no readable file is left")
    func refusals() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder)
        let plain = folder.url.appending(path: "plain.sqlite")
        let file = StoreFile(folder.database, keyIsVerified: false)
        #expect(try await code { try await file.exportPlaintext(to: plain, key: .testKey(8)) } == .wrongKey)
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables)
        #expect(try await code { try await file.exportPlaintext(to: plain, key: .testKey()) } == .inUse)
        await store.close()
        #expect(
            try await code { try await file.exportPlaintext(to: folder.database, key: .testKey()) } == .alreadyExists
        )
        let missing = folder.url.appending(path: "missing/plain.sqlite")
        #expect(try await code { try await file.exportPlaintext(to: missing, key: .testKey()) } == .notFound)
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])

        try await EncryptedStore.open(in: folder, SampleStore.tables).close()
        let found = try await code(cancelling: { cancel in
            try await file.exportPlaintext(to: plain, key: .testKey()) { _ in cancel() }
        })
        #expect(found == .cancelled)
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])

        // The last pages belong to a large value.
        let large = Record(id: "large", ["bytes": .bytes(Array(repeating: 1, count: 50_000))])
        let again = try await EncryptedStore.open(in: folder, SampleStore.tables)
        try await again.upsert([large], table: "items")
        await again.close()
        try folder.edit { $0[$0.count - 3_000] ^= 1 }
        #expect(try await code { try await file.exportPlaintext(to: plain, key: .testKey()) } == .damaged)
        #expect(try folder.contents().keys.filter { $0.hasPrefix("plain") } == [])
    }

    @Test("a file that was edited into something no store has is refused, and names the table")
    func edited() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, rows: 10)
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        let original = try Data(contentsOf: plain)
        let edits = [
            "UPDATE items SET int = 'SecretText'", "UPDATE items SET bool = 2 WHERE id = '1'",
            "UPDATE items SET decimal = 'x'", "UPDATE items SET json = '{'", "UPDATE items SET text = x'FF'",
            "UPDATE items SET __sealed_extra = 'SecretText'", "ALTER TABLE items ADD COLUMN more",
            "CREATE TABLE more (id TEXT PRIMARY KEY)", "DROP TABLE items",
            "CREATE VIEW view AS SELECT * FROM items", "UPDATE items SET text = CAST(x'C3' AS TEXT)",
        ]
        for edit in edits {
            try original.write(to: plain)
            try Database(path: plain.path, flags: 2).run(edit)
            let place = folder.url.appending(path: "other.db")
            do {
                _ = try await StoreFile.encrypt(plaintext: plain, into: place, key: .testKey())
                Issue.record("taken over: \(edit)")
                try FileManager.default.removeItem(at: place)
            } catch let error as StoreError {
                #expect(error.code == .schemaMismatch || error.code == .unsupportedFormat, "\(edit): \(error)")
                #expect(["items", "more", "view"].contains { error.message.contains("'\($0)'") }, "\(error)")
                #expect(!error.message.contains("SecretText"))
            }
            #expect(!FileManager.default.fileExists(atPath: place.path))
        }
        // A row that was added is a row like any other.
        try original.write(to: plain)
        try Database(path: plain.path, flags: 2).run("INSERT INTO items (id, text) VALUES ('new', 'row')")
        let result = try await StoreFile.encrypt(
            plaintext: plain,
            into: folder.url.appending(path: "b.db"),
            key: .testKey()
        )
        #expect(result.rowCounts["items"] == 5)
    }
}
