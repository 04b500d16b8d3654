import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("SQL of the app's own that is refused")
struct SQLRefusalTests {
    private static let writing: [SQLQuery] = [
        "INSERT INTO Customer (id) VALUES ('x')", "UPDATE Customer SET name = 'x'", "DELETE FROM Customer",
        "REPLACE INTO Customer (id) VALUES ('x')", "DROP TABLE Customer", "CREATE TABLE x (a)",
        "CREATE TEMP TABLE x (a)",
        "CREATE INDEX x ON Customer (name)", "CREATE VIEW x AS SELECT 1", "CREATE TEMP VIEW x AS SELECT 1",
        "CREATE TRIGGER x AFTER INSERT ON Customer BEGIN SELECT 1; END", "ALTER TABLE Customer RENAME TO x",
        "CREATE VIRTUAL TABLE x USING fts3(a)", "WITH x AS (SELECT 1) INSERT INTO Customer (id) SELECT 'x' FROM x",
        "WITH x AS (SELECT 1) DELETE FROM Customer WHERE id IN (SELECT * FROM x)",
        "WITH a AS (WITH b AS (SELECT 'x' AS id) SELECT id FROM b) UPDATE Customer SET name = 'x' WHERE id IN a",
        "PRAGMA user_version", "PRAGMA user_version = 3", "PRAGMA key = 'x'", "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1", "PRAGMA journal_mode = DELETE", "ATTACH ':memory:' AS x", "DETACH main", "VACUUM",
        "VACUUM INTO '/tmp/x'", "REINDEX", "ANALYZE", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x", "RELEASE x",
        "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT * FROM Customer",
    ]

    private static let several: [SQLQuery] = [
        "SELECT 1; SELECT 2", "SELECT 1; DROP TABLE Customer", "SELECT 1;;DELETE FROM Customer", "SELECT 1; nonsense",
        "SELECT 1 /* ; */; -- x\n DELETE FROM Customer", "", "   ", "-- nothing", "/* SELECT 1", ";", "; SELECT 1",
    ]

    private static let reaching: [SQLQuery] = [
        "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')", "SELECT writefile('/tmp/x', 'y')",
        "SELECT sqlcipher_export('x')", "SELECT sealed_holds(1)", "SELECT sealed_fold1('x')", "SELECT randomblob(9)",
        "SELECT zeroblob(1000000000)", "SELECT changes()", "SELECT last_insert_rowid()", "SELECT sqlite_version()",
        "SELECT sqlite_compileoption_get(1)", "SELECT fts3_tokenizer('simple')",
        "SELECT max(name) FROM Customer ORDER BY load_extension(name)", "SELECT LOAD_EXTENSION('x')",
        "SELECT * FROM Customer WHERE name IN (SELECT load_extension('x'))", "SELECT printf('%s', 1)",
    ]

    private static let systemTables: [SQLQuery] = [
        "SELECT * FROM MS_TableOperations", "SELECT count(*) FROM MS_TableOperations", "SELECT 1 FROM ms_tableconfig",
        "SELECT count(*) FROM \"MS_TableOperationErrors\"", "SELECT o.id FROM [MS_TableOperations] AS o",
        "SELECT 1 FROM `MS_TableOperations` x", "SELECT c.name FROM Customer c, MS_TableOperations",
        "SELECT c.name FROM Customer c LEFT JOIN MS_TableOperations o ON o.itemId = c.id",
        "SELECT name FROM Customer WHERE id IN (SELECT itemId FROM MS_TableOperations)",
        "SELECT name FROM Customer WHERE EXISTS (SELECT 1 FROM MS_TableConfig)",
        "WITH x AS (SELECT * FROM MS_TableConfig) SELECT count(*) FROM x",
        "WITH MS_x AS (SELECT * FROM MS_TableConfig) SELECT * FROM MS_x",
        "SELECT (SELECT count(*) FROM MS_TableOperations)",
        "SELECT name FROM Customer UNION SELECT itemId FROM MS_TableOperations",
        "SELECT name FROM Customer ORDER BY (SELECT count(*) FROM MS_TableOperations)",
        "SELECT * FROM main.MS_TableOperations", "SELECT * FROM sqlite_master", "SELECT count(*) FROM sqlite_master",
        "SELECT * FROM main.sqlite_master", "SELECT 1 FROM \"sqlite_master\" LIMIT 1",
        "SELECT * FROM sqlite_temp_master",
        "SELECT count(*) FROM sqlite_temp_master", "SELECT * FROM sqlite_schema",
        "SELECT * FROM pragma_table_info('Customer')",
        "SELECT count(*) FROM pragma_database_list", "SELECT * FROM dbstat", "SELECT rowid FROM Customer",
        "SELECT oid FROM Customer",
        "SELECT * FROM sealed_tables", "SELECT * FROM Nothing", "SELECT nothing FROM Customer",
        "SELECT __sealed_extra FROM Customer", "SELECT length(c.__Sealed_Extra) AS x, c.* FROM Customer c",
        "SELECT name FROM Customer WHERE __sealed_extra IS NULL", "SELECT * FROM (SELECT __sealed_extra FROM Customer)",
    ]

    @Test("for writing, settings and other files", arguments: writing)
    func writes(_ query: SQLQuery) async throws { try await expectRefused(query) }

    @Test("for being several statements, or none", arguments: several)
    func manyOrNone(_ query: SQLQuery) async throws { try await expectRefused(query) }

    @Test("for functions that reach out of the row", arguments: reaching)
    func reaches(_ query: SQLQuery) async throws { try await expectRefused(query) }

    @Test("for tables that are not the app's, by whatever way", arguments: systemTables)
    func foreignTables(_ query: SQLQuery) async throws { try await expectRefused(query) }

    @Test("for a U+0000, parameters of its own, and too many values")
    func text() async throws {
        for query: SQLQuery in ["SELECT 1\0; DROP TABLE Customer", "SELECT ?", "SELECT \(1), ?", "SELECT :name"] {
            try await expectRefused(query)
        }
        var parts = SQLQuery.StringInterpolation(literalCapacity: 0, interpolationCount: 0)
        parts.appendLiteral("SELECT 1 IN (0")
        for index in 0..<40_000 {
            parts.appendLiteral(",")
            parts.appendInterpolation(index)
        }
        parts.appendLiteral(")")
        try await expectRefused(SQLQuery(stringInterpolation: parts))
    }

    @Test("with a message that says what and why")
    func messages() async throws {
        let (folder, store) = try await SQLTests.filledStore()
        for (query, part) in [
            ("SELECT * FROM MS_TableConfig" as SQLQuery, "'MS_TableConfig', which is no declared table of the app"),
            ("DELETE FROM Customer", "one SELECT is taken"),
            ("SELECT load_extension('x')", "the function 'load_extension'"),
            ("SELECT 1; SELECT 2", "more than one statement"), ("SELECT nam FROM Customer", "no such column: nam"),
            ("SELECT count(*) FROM MS_TableConfig", "no declared table of the app"),
        ] {
            await #expect { try await store.sql(query).read() } throws: {
                ($0 as? StoreError)?.message.contains(part) == true
            }
        }
        await store.close()
        _ = folder
    }

    @Test("for what fails while it runs, without what is in a row")
    func running() async throws {
        let (folder, store) = try await SQLTests.filledStore()
        let most = Int64.max
        await #expect {
            try await store.sql("SELECT sum(x) FROM (SELECT \(most) AS x UNION ALL SELECT 1)").read()
        } throws: {
            ($0 as? StoreError)?.code == .outOfRange
        }
        await #expect { try await store.sql("SELECT decimal_sum(name) FROM Customer").read() } throws: {
            ($0 as? StoreError)?.code == .outOfRange && !"\($0)".contains("Ann")
        }
        await #expect { try await store.sql("SELECT abs(\(Int64.min))").read() } throws: {
            [.invalidQuery, .outOfRange].contains(($0 as? StoreError)?.code)
        }
        let sum = store.sql(
            "SELECT decimal_sum(x) AS s FROM (SELECT 1 AS x UNION ALL SELECT 0.5 UNION ALL SELECT '0.1')"
        )
        #expect(try await sum.read().first?["s"] == "1.6")
        #expect(try await store.sql("SELECT 1 AS n").read().first?["n"] == 1)
        await store.close()
        _ = folder
    }

    /// In a read and in a write; the store is as it was, and goes on.
    private func expectRefused(_ query: SQLQuery) async throws {
        let (folder, store) = try await SQLTests.filledStore()
        await #expect { try await store.read { try $0.rows(query) } } throws: {
            ($0 as? StoreError)?.code == .invalidQuery
        }
        await #expect { try await store.write { try $0.rows(query) } } throws: {
            ($0 as? StoreError)?.code == .invalidQuery
        }
        let rows = try await store.read { reader in
            (try reader.count(Query("Customer")), try reader.rows("SELECT name FROM Customer ORDER BY id"))
        }
        #expect(rows.0 == 2)
        #expect(rows.1.map { $0["name"] } == ["Ann", "Bob"])
        try await store.write { _ = try $0.insert(Record(id: "c3"), into: "Customer") }
        await store.close()
        _ = folder
    }
}
