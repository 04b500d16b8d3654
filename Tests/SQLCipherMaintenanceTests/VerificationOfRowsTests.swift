import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Verifying tables and rows that were altered past the store")
struct VerificationOfRowsTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func makeStore() async throws {
        let store = try await EncryptedStore.open(in: folder)
        let records = (1...5)
            .map { Record(id: .string("secret-\($0)"), ["text": "a", "int": 1, "beyond": "kept", "double": 0.5]) }
        try await store.upsert(records, table: "items")
        await store.close()
    }

    private func findings() async throws -> [StoreFinding] {
        try await StoreFile(folder.database).verify(key: .testKey()).findings
    }

    @Test(
        "a value that is none of its column is found, with its row, its column, and nothing of its content",
        arguments: [
            ("bool", "2"), ("bool", "'x'"), ("int", "'secret'"), ("int", "0.5"), ("double", "'1.5'"), ("double", "7"),
            ("decimal", "'1,5'"), ("decimal", "x'3130'"), ("text", "x'61'"), ("text", "CAST(x'C328' AS TEXT)"),
            ("date", "'2024-01-01'"), ("bytes", "'text'"), ("json", "'{\"a\":'"), ("version", "x'00'"),
            ("__sealed_extra", "'{'"), ("__sealed_extra", "'[]'"), ("__sealed_extra", "'{\"u:a\":5}'"),
            ("__sealed_extra", "'{\"u:a\":\"int64:x\"}'"), ("__sealed_extra", "x'7B7D'"),
        ]
    )
    func value(column: String, sql: String) async throws {
        try await makeStore()
        try folder.alter("UPDATE \"items\" SET \"\(column)\" = \(sql) WHERE \"id\" = 'secret-3'")
        let findings = try await findings()
        #expect(findings.map(\.kind) == [.damagedValue])
        #expect(findings.map(\.place) == [.row(3, table: "items")])
        let message = try #require(findings.first?.message)
        #expect(message.contains(column == "__sealed_extra" ? "undeclared" : "'\(column)'"))
        #expect(!message.contains("secret"), "neither ids nor values are told")
    }

    @Test("an id that is none of its table is found")
    func id() async throws {
        try await makeStore()
        try folder.alter("UPDATE \"items\" SET \"id\" = x'00' WHERE \"id\" = 'secret-2'")
        #expect(try await findings().map(\.place) == [.row(2, table: "items")])
    }

    @Test("many bad values are counted beyond the first 1,000")
    func bound() async throws {
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert((0..<1_200).map { Record(id: .string("\($0)")) }, table: "items")
        await store.close()
        try folder.alter("UPDATE \"items\" SET \"bool\" = 2")
        let result = try await StoreFile(folder.database).verify(key: .testKey())
        #expect(result.findings.count == 1_000 && result.omittedFindings == 200)
    }

    @Test(
        "tables that are not what the store remembers are found",
        arguments: [
            ("DROP TABLE \"items\"", "items"), ("DROP TABLE \"MS_TableConfig\"", "MS_TableConfig"),
            ("ALTER TABLE \"items\" ADD COLUMN \"new\" TEXT", "items"), ("CREATE TABLE \"other\" (\"a\")", "other"),
            ("DELETE FROM \"sealed:columns\" WHERE \"table\" = 'items' AND \"column\" = 'text'", "items"),
            ("DELETE FROM \"sealed:columns\" WHERE \"table\" = 'MS_TableOperations'", "MS_TableOperations"),
            ("UPDATE \"sealed:columns\" SET \"type\" = 'int64' WHERE \"column\" = 'text'", "items"),
            ("INSERT INTO \"sealed:columns\" VALUES ('gone', 'id', 'id.int64', 1)", "gone"),
        ]
    )
    func table(sql: String, name: String) async throws {
        try await makeStore()
        try folder.alter(sql)
        let findings = try await findings().filter { $0.kind == .alteredTable }
        #expect(findings.contains { $0.place == .table(name) }, "\(findings)")
    }

    @Test("a store without the memory of its columns has findings, and does not end the process")
    func noMemory() async throws {
        try await makeStore()
        try folder.alter("DROP TABLE \"sealed:columns\"")
        #expect(try await findings().contains { $0.kind == .alteredTable })
    }

    @Test("an index that does not fit its table is found")
    func index() async throws {
        try await makeStore()
        try folder.alter(
            "PRAGMA writable_schema = ON",
            "CREATE INDEX \"index:items:int\" ON \"items\" (\"int\")",
            "UPDATE sqlite_master SET sql = 'CREATE INDEX \"index:items:int\" ON \"items\" (\"text\")'"
                + " WHERE name = 'index:items:int'"
        )
        #expect(try await findings().contains { $0.kind == .damagedStructure })
    }

    @Test(
        "a memory of the columns that cannot be understood, in a layout that is known, is found and not quoted",
        arguments: [
            "UPDATE \"sealed:columns\" SET \"type\" = 'secret-x' WHERE \"column\" = 'text'",
            "UPDATE \"sealed:columns\" SET \"type\" = 'secret-x' WHERE \"column\" = 'id'",
        ]
    )
    func unintelligible(sql: String) async throws {
        try await makeStore()
        try folder.alter(sql)
        let findings = try await findings()
        #expect(findings.map(\.kind) == [.damagedStructure], "\(findings)")
        #expect(findings.allSatisfy { $0.remedy.contains("newest version") && !"\($0)".contains("secret") })
    }

    @Test("what a newer version laid out is refused and not called damage")
    func newerVersion() async throws {
        try await makeStore()
        try folder.alter("PRAGMA user_version = 99")
        #expect(try await code { _ = try await findings() } == .unsupportedFormat)
    }

    @Test("values of a column that is no longer declared are looked at like others")
    func undeclaredColumn() async throws {
        try await makeStore()
        let fewer = TableDefinition("items", columns: [.init("int", .int64)])
        try await EncryptedStore.open(in: folder, [fewer]).close()
        #expect(try await findings().isEmpty)
        try folder.alter("UPDATE \"items\" SET \"decimal\" = 'x' WHERE \"id\" = 'secret-1'")
        #expect(try await findings().map(\.place) == [.row(1, table: "items")])
    }

    @Test(
        "a search index that does not fit the rows is found",
        arguments: [
            ("DELETE FROM \"words1:notes:text\" WHERE \"word\" = 'milk'", "lacks words"),
            ("INSERT INTO \"words1:notes:text\" VALUES ('beer', 'b')", "words that no row has"),
            ("UPDATE \"words1:notes:text\" SET \"row\" = 'c' WHERE \"word\" = 'milk'", "lacks words"),
            ("DROP TRIGGER \"words1:notes:text:update\"", "lacks a part"),
            ("DROP INDEX \"folded1:notes:text\"", "lacks a part"),
        ]
    )
    func searchIndex(sql: String, expected: String) async throws {
        let notes = TableDefinition("notes", columns: [.init("text", .string, isSearchable: true)])
        let store = try await EncryptedStore.open(in: folder, [notes])
        try await store.upsert(
            [Record(id: "a", ["text": "Buy milk"]), Record(id: "b", ["text": "Buy bread"])],
            table: "notes"
        )
        await store.close()
        #expect(try await findings().isEmpty)
        try folder.alter(sql)
        let found = try await findings()
        #expect(found.map(\.kind) == [.inconsistentIndex], "\(found)")
        #expect(found.first?.message.contains(expected) == true, "\(found)")
        // The remedy is one.
        let plain = TableDefinition("notes", columns: [.init("text", .string)])
        try await EncryptedStore.open(in: folder, [plain]).close()
        try await EncryptedStore.open(in: folder, [notes]).close()
        #expect(try await findings().isEmpty)
    }

    @Test("a store that is opened as it is keeps indexes, search indexes and undeclared columns")
    func openedAsItIs() async throws {
        let notes = TableDefinition(
            "notes",
            columns: [.init("text", .string, isSearchable: true), .init("other", .int64)],
            indexes: [["other", "id"], ["text"]]
        )
        let fewer = TableDefinition("notes", columns: [.init("text", .string, isSearchable: true)], indexes: [["text"]])
        var store = try await EncryptedStore.open(in: folder, [notes, .folding])
        try await store.upsert([Record(id: "a", ["text": "Buy milk", "other": 5])], table: "notes")
        await store.close()
        store = try await EncryptedStore.open(in: folder, [fewer])
        await store.close()
        func objects() throws -> [String] {
            let database = try folder.openDatabase()
            return try database.withStatement("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name") {
                row in
                var sql: [String] = []
                while try row.step() { sql.append(row.text(0)) }
                return sql
            }
        }
        let before = try objects()
        store = try await EncryptedStore.openWithStoredSchema(at: folder.database, key: .testKey())
        #expect(store.schema.table("notes") == fewer && store.schema.tables.map(\.name) == ["notes", "folding"])
        #expect(try await store.read(table: "notes", itemID: "a")?["other"] == 5)
        try await store.upsert([Record(id: "b", ["text": "Bread"])], table: "notes")
        await store.close()
        #expect(try objects() == before)
        #expect(try await findings().isEmpty)
        #expect(
            try await code {
                _ = try await EncryptedStore.openWithStoredSchema(at: folder.url.appending(path: "no"), key: .testKey())
            } == .notFound
        )
    }
}
