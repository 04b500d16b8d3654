import Foundation
import SecretMemory
import SyncContract
import Testing

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

    @Test("what a newer version wrote is refused and not called damage")
    func newerVersion() async throws {
        try await makeStore()
        try folder.alter("UPDATE \"sealed:columns\" SET \"type\" = 'vector' WHERE \"column\" = 'text'")
        #expect(try await code { _ = try await findings() } == .unsupportedFormat)
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
}
