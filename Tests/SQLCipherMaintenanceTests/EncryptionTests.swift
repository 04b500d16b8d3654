import FileSystemRecording
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Making a store of a plain SQLite file of another program")
struct EncryptionTests {
    private let folder: TestFolder
    private var plain: URL { folder.url.appending(path: "plain.sqlite") }

    init() throws { folder = try TestFolder() }

    private func makePlain(_ statements: String...) throws {
        if FileManager.default.fileExists(atPath: plain.path) { try FileManager.default.removeItem(at: plain) }
        let database = try Database(path: plain.path, flags: 6)
        for statement in statements { try database.run(statement) }
    }

    private func encrypt(_ schema: StoreSchema? = nil) async throws -> StoreEncryptionResult {
        try await StoreFile.encrypt(plaintext: plain, into: folder.database, key: .testKey(), schema: schema)
    }

    private func refusal(_ schema: StoreSchema? = nil) async throws -> StoreError? {
        do {
            _ = try await encrypt(schema)
            try FileManager.default.removeItem(at: folder.database)
            return nil
        } catch let error as StoreError {
            #expect(try Set(folder.contents().keys).isSubset(of: ["plain.sqlite", "store.db.lock"]))
            return error
        }
    }

    @Test("gives each column the type that its values have, and takes every value over exactly")
    func types() async throws {
        try makePlain(
            """
            CREATE TABLE things (id TEXT PRIMARY KEY, flag BOOLEAN, whole INTEGER, real REAL, text TEXT, blob BLOB, free, \
            number NUMERIC, none INT, never, when_ DATETIME, json JSON, updatedAt TEXT, deleted INTEGER)
            """,
            """
            INSERT INTO things VALUES ('a', 1, 9223372036854775807, 0.1, 'text', x'00ff', 5, 2, NULL, NULL, \
            '2020-01-01 00:00:00', '{}', '2020-01-01T00:00:00.123Z', 0)
            """,
            "INSERT INTO things VALUES ('b', 0, -9223372036854775808, 1e300, '', x'', 6, 2.5, NULL, NULL, '', '', NULL, 1)",
            "INSERT INTO things (id) VALUES ('A')",
            "CREATE TABLE numbers (n INTEGER, ID INTEGER PRIMARY KEY)",
            "INSERT INTO numbers VALUES (1, -5), (2, 7)",
            "CREATE TABLE folded (id VARCHAR(36) COLLATE NOCASE PRIMARY KEY, x) WITHOUT ROWID",
            "INSERT INTO folded VALUES ('AbC', 1)",
            "CREATE INDEX plainIndex ON things (text, whole)",
            "CREATE UNIQUE INDEX uniqueIndex ON things (whole)",
            "CREATE INDEX partialIndex ON things (text) WHERE whole > 1",
            "CREATE INDEX descendingIndex ON things (text DESC)",
            "ANALYZE"
        )
        let bytes = try Data(contentsOf: plain)
        let result = try await encrypt()
        #expect(try Data(contentsOf: plain) == bytes)
        #expect(result.tables.map(\.name) == ["folded", "numbers", "things"])
        #expect(result.rowCounts == ["folded": 1, "numbers": 2, "things": 3])
        #expect(result.droppedIndexes == ["descendingIndex", "partialIndex", "uniqueIndex"])
        let things = try #require(result.tables.last)
        #expect(things.indexes == [["text", "whole"]])
        #expect(things.systemProperties == [.createdAt, .updatedAt, .version, .deleted])
        let types: [String: ColumnType] = [
            "flag": .bool, "whole": .int64, "real": .double, "text": .string, "blob": .bytes, "free": .int64,
            "number": .double, "none": .int64, "never": .string, "when_": .string, "json": .string, "updatedAt": .date,
        ]
        for (name, type) in types { #expect(things.type(of: name) == type, "\(name)") }
        #expect(result.tables.first?.idComparison == .asciiCaseInsensitive && things.idComparison == .exact)

        let store = try await EncryptedStore.open(in: folder, result.tables, mode: .openExisting)
        let row = try #require(try await store.read(table: "things", itemID: "a"))
        #expect(row["flag"] == true && row["whole"] == .int64(.max) && row["real"] == .double(0.1))
        #expect(row["blob"] == .bytes([0, 255]) && row["number"] == .double(2) && row["text"] == "text")
        #expect(row["updatedAt"] == .date(Timestamp("2020-01-01T00:00:00.123Z")!) && row["deleted"] == false)
        let second = try #require(try await store.read(table: "things", itemID: "b"))
        #expect(second["whole"] == .int64(.min) && second["blob"] == .bytes([]) && second["text"] == "")
        #expect(try await store.read(table: "things", itemID: "A")?["text"] == .null)
        #expect(try await store.read(table: "numbers", itemID: "-5")?["n"] == 1)
        #expect(try await store.read(table: "folded", itemID: "ABC")?.id == "AbC")
        await store.close()
    }

    @Test("converts to declared types, keeps columns that are not declared, and creates declared tables")
    func schema() async throws {
        try makePlain(
            "CREATE TABLE t (id TEXT PRIMARY KEY, date TEXT, decimal, json TEXT, flag, whole, real, other, blob)",
            "INSERT INTO t VALUES ('1', '2020-01-01T00:00:00Z', '1.10', '[1]', 1, 3.0, 3, 'kept', x'01')",
            "INSERT INTO t VALUES ('2', NULL, 1.5, NULL, 0, 4, 2.5, NULL, NULL)",
            "INSERT INTO t VALUES ('3', NULL, 7, NULL, NULL, NULL, NULL, 8, NULL)",
            "CREATE TABLE u (id TEXT PRIMARY KEY, x TEXT)"
        )
        let table = TableDefinition(
            "t",
            columns: [
                .init("date", .date), .init("decimal", .decimal), .init("json", .json), .init("flag", .bool),
                .init("whole", .int64), .init("real", .double), .init("added", .string),
            ]
        )
        let schema = try StoreSchema([table, TableDefinition("extra", columns: [])])
        let result = try await encrypt(schema)
        #expect(result.tables.map(\.name) == ["extra", "t", "u"])
        let store = try await EncryptedStore.open(in: folder, result.tables, mode: .openExisting)
        let row = try #require(try await store.read(table: "t", itemID: "1"))
        #expect(row["date"] == .date(Timestamp("2020-01-01T00:00:00Z")!))
        #expect(row["decimal"] == .decimal(DecimalText("1.10")!) && row["json"] == .json(JSONText("[1]")!))
        #expect(row["flag"] == true && row["whole"] == 3 && row["real"] == .double(3))
        #expect(row["other"] == "kept" && row["blob"] == .bytes([1]))
        #expect(try await store.read(table: "t", itemID: "2")?["decimal"] == .decimal(DecimalText("1.5")!))
        #expect(try await store.read(table: "t", itemID: "3")?["decimal"] == .decimal(DecimalText(7)))
        #expect(try await store.read(table: "t", itemID: "3")?["other"] == 8)
        await store.close()
    }

    @Test(
        "refuses what cannot be taken over exactly, names table and remedy, no value, and leaves no store",
        arguments: [
            "CREATE TABLE bad (name TEXT)", "CREATE TABLE bad (id TEXT)",
            "CREATE TABLE bad (id, b, PRIMARY KEY (id, b))",
            "CREATE TABLE bad (id TEXT PRIMARY KEY); INSERT INTO bad VALUES (NULL)",
            "CREATE TABLE bad (id BLOB PRIMARY KEY); INSERT INTO bad VALUES (x'01')",
            "CREATE TABLE bad (id REAL PRIMARY KEY); INSERT INTO bad VALUES (1.5)",
            "CREATE TABLE bad (id PRIMARY KEY); INSERT INTO bad VALUES (1), ('1')",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, t TEXT); INSERT INTO bad VALUES ('1', x'5365637265745465787400')",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, t INTEGER); INSERT INTO bad VALUES ('1', 'SecretText')",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, t); INSERT INTO bad VALUES ('1', 'SecretText'), ('2', 5)",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, t); INSERT INTO bad VALUES ('1', 9007199254740993), ('2', 0.5)",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, t TEXT); INSERT INTO bad VALUES ('1', CAST(x'C3' AS TEXT))",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, updatedAt TEXT); INSERT INTO bad VALUES ('1', 'SecretText')",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, \"a b\" TEXT)", "CREATE TABLE bad (id TEXT PRIMARY KEY, __x TEXT)",
            "CREATE TABLE bad (id TEXT PRIMARY KEY, CreatedAt TEXT)",
            "CREATE TABLE \"bad table\" (id TEXT PRIMARY KEY)",
            "CREATE TABLE MS_bad (id TEXT PRIMARY KEY)", "CREATE VIEW bad AS SELECT 1",
            "CREATE TABLE x (id TEXT PRIMARY KEY); CREATE TRIGGER bad AFTER INSERT ON x BEGIN SELECT 1; END",
        ]
    )
    func refused(sql: String) async throws {
        try makePlain("CREATE TABLE good (id TEXT PRIMARY KEY)")
        let database = try Database(path: plain.path, flags: 2)
        let statements = sql.contains("TRIGGER") ? sql.split(separator: "; ", maxSplits: 1) : sql.split(separator: "; ")
        for statement in statements { try database.run(String(statement)) }
        let before = try Data(contentsOf: plain)
        let error = try #require(try await refusal())
        #expect(error.code == .schemaMismatch)
        #expect(error.message.contains("bad") && error.message.contains("; "), "\(error)")
        #expect(!"\(error)".contains("SecretText") && !"\(error)".contains("9007199254740993"))
        #expect(try Data(contentsOf: plain) == before)
    }

    @Test("refuses ids that a declared table does not tell apart, and values that a declared column does not take")
    func refusedBySchema() async throws {
        try makePlain(
            "CREATE TABLE t (id TEXT PRIMARY KEY, v TEXT)",
            "INSERT INTO t VALUES ('a', 'no date'), ('A', NULL)"
        )
        let folding = TableDefinition("t", columns: [], idComparison: .asciiCaseInsensitive)
        #expect(try await refusal(StoreSchema([folding]))?.code == .schemaMismatch)
        for type in ColumnType.allCases where type != .string {
            let table = TableDefinition("t", columns: [.init("v", type)])
            let error = try #require(try await refusal(StoreSchema([table])), "\(type)")
            #expect(error.code == .schemaMismatch && error.message.contains("'v'") && error.message.contains("'t'"))
        }
        #expect(try await refusal(StoreSchema([TableDefinition("T", columns: [])]))?.code == .schemaMismatch)
        #expect(
            try await refusal(StoreSchema([TableDefinition("t", columns: [.init("V", .string)])]))?.code
                == .schemaMismatch
        )
        #expect(try await refusal(StoreSchema([TableDefinition("t", columns: [.init("v", .string)])])) == nil)
    }

    @Test("refuses files that are not plain database: a store, one encrypted by others, an empty one, none")
    func otherFiles() async throws {
        let store = folder.url.appending(path: "other.db")
        try await EncryptedStore.open(at: store, key: .testKey(), schema: StoreSchema([.items])).close()
        try FileManager.default.moveItem(at: store, to: plain)
        try FileManager.default.removeItem(at: folder.url.appending(path: "other.db.lock"))
        let error = try #require(try await refusal())
        #expect(error.code == .unsupportedFormat && error.message.contains("store already"))
        for bytes in [Data(), Data("%PDF".utf8), Data(repeating: 7, count: 8_192)] {
            try bytes.write(to: plain)
            #expect(try await refusal()?.code == .unsupportedFormat)
        }
        try FileManager.default.removeItem(at: plain)
        #expect(try await refusal()?.code == .notFound)
        try makePlain("CREATE TABLE t (id TEXT PRIMARY KEY)", "PRAGMA encoding")
        let short = unsafe try SecretBytes(count: 31) { _ in }
        #expect(
            try await code { _ = try await StoreFile.encrypt(plaintext: plain, into: folder.database, key: short) }
                == .wrongKey
        )
        try Data("mine".utf8).write(to: folder.database)
        #expect(try await code { _ = try await encrypt() } == .alreadyExists)
        #expect(try Data(contentsOf: folder.database) == Data("mine".utf8))
    }

    @Test("refuses a file with texts in UTF-16, and a damaged one")
    func unreadable() async throws {
        try makePlain("PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (id TEXT PRIMARY KEY)")
        let error = try #require(try await refusal())
        #expect(error.code == .schemaMismatch && error.message.contains("UTF-16"))
        try makePlain(
            "CREATE TABLE t (id TEXT PRIMARY KEY, b BLOB)",
            "INSERT INTO t VALUES ('1', zeroblob(100000)), ('2', zeroblob(100000))"
        )
        var data = try Data(contentsOf: plain)
        // The head of the table's first page.
        data.replaceSubrange(4_096..<4_104, with: [UInt8](repeating: 0xFF, count: 8))
        try data.write(to: plain)
        #expect(try await refusal()?.code == .damaged)
    }

    @Test("on a full disk is refused, and the store is not there")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(megabytes: 1) else { return }
        defer { disk.unmount() }
        try makePlain("CREATE TABLE t (id TEXT PRIMARY KEY, b BLOB)", "INSERT INTO t VALUES ('1', randomblob(2000000))")
        let found = try await code {
            _ = try await StoreFile.encrypt(plaintext: plain, into: disk.database, key: .testKey())
        }
        #expect(found == .full)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == ["store.db.lock"])
    }

    @Test("refuses a file with a WAL or a journal beside it, and does not touch them")
    func companions() async throws {
        try makePlain("PRAGMA journal_mode = WAL", "CREATE TABLE t (id TEXT PRIMARY KEY)")
        do {
            let database = try Database(path: plain.path, flags: 2)
            try database.run("INSERT INTO t VALUES ('in the WAL')")
            let before = try folder.contents().filter { !$0.key.hasSuffix("-shm") }
            #expect(before["plain.sqlite-wal"]?.isEmpty == false)
            #expect(try await code { _ = try await encrypt() } == .inUse)
            #expect(try folder.contents().filter { !$0.key.hasSuffix("-shm") } == before)
            _ = database.changes
        }
        // Its last connection has written the WAL back: now it can be read, and no WAL appears.
        #expect(try await encrypt().rowCounts == ["t": 1])
        #expect(try folder.contents().keys.filter { $0.hasPrefix("plain") } == ["plain.sqlite"])
        let journal = folder.url.appending(path: "plain.sqlite-journal")
        try Data([0xD9, 0xD5, 0x05, 0xF9]).write(to: journal)
        try FileManager.default.removeItem(at: folder.database)
        #expect(try await code { _ = try await encrypt() } == .inUse)
        try Data(count: 512).write(to: journal)
        #expect(try await encrypt().rowCounts == ["t": 1])
    }

    @Test("refuses what is not a regular file without waiting for it, and names what it cannot read")
    func otherThanFiles() async throws {
        let pipe = folder.url.appending(path: "pipe")
        try #require(unsafe mkfifo(pipe.path, 0o600) == 0)
        for url in [pipe, folder.url, URL(filePath: "/dev/null")] {
            do {
                _ = try await StoreFile.encrypt(plaintext: url, into: folder.database, key: .testKey())
                Issue.record("\(url.path) was taken")
            } catch let error as StoreError {
                #expect(error.code == .unsupportedFormat && error.message.contains("'\(url.path)'"), "\(error)")
            }
        }
        try makePlain("CREATE TABLE t (id TEXT PRIMARY KEY)")
        // A link leads to the file, and to what lies beside that.
        let link = folder.url.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: plain)
        let journal = folder.url.appending(path: "plain.sqlite-journal")
        try FileManager.default.createDirectory(at: journal, withIntermediateDirectories: false)
        for url in [plain, link] {
            do {
                _ = try await StoreFile.encrypt(plaintext: url, into: folder.database, key: .testKey())
                Issue.record("what lies beside was not read")
            } catch let error as StoreError {
                #expect(error.code == .inputOutput && error.message.contains("'\(plain.path)'"), "\(error)")
            }
        }
        try FileManager.default.removeItem(at: journal)
        let result = try await StoreFile.encrypt(plaintext: link, into: folder.database, key: .testKey())
        #expect(result.rowCounts == ["t": 0])
    }

    @Test("refuses a file that changes while it is read")
    func changing() async throws {
        try makePlain("CREATE TABLE t (id TEXT PRIMARY KEY)", "INSERT INTO t VALUES ('1')")
        let plain = plain
        let found = try await code {
            _ = try await StoreFile.encrypt(
                plaintext: plain,
                into: folder.database,
                key: .testKey(),
                schema: nil,
                progress: nil,
                in: .acting(after: 1) {
                    do {
                        try Database(path: plain.path, flags: 2).run("INSERT INTO t VALUES ('2')")
                    } catch {
                        Issue.record(error)
                    }
                }
            )
        }
        #expect(found == .inUse)
        #expect(try Set(folder.contents().keys) == ["plain.sqlite", "store.db.lock"])
    }

    @Test("of many rows reports progress, and ends when it is cancelled")
    func many() async throws {
        try makePlain(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)",
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) \
            INSERT INTO t SELECT i, 'MarkerOfTheText' || i FROM n
            """
        )
        let (plain, database) = (plain, folder.database)
        let found = try await code(cancelling: { cancel in
            _ = try await StoreFile.encrypt(plaintext: plain, into: database, key: .testKey()) { _ in cancel() }
        })
        #expect(found == .cancelled)
        #expect(try Set(folder.contents().keys) == ["plain.sqlite", "store.db.lock"])
        let steps = Collected<StoreProgress>()
        let result = try await StoreFile.encrypt(plaintext: plain, into: database, key: .testKey()) { steps.append($0) }
        #expect(result.rowCounts == ["t": 5_000])
        #expect(steps.values.filter { $0.phase == .copying }.count > 10)
        for (name, bytes) in try folder.contents() where name != "plain.sqlite" {
            #expect(Data(bytes).range(of: Data("MarkerOfTheText".utf8)) == nil)
        }
    }
}
