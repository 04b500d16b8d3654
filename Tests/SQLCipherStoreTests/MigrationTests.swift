import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A store that is migrated")
struct MigrationTests {
    private static let bill = TableDefinition(
        "Bill",
        columns: [
            .init("text", .string, isSearchable: true), .init("price", .double), .init("due", .date),
            .init("paidAt", .date),
        ],
        indexes: [["due"]]
    )
    private static let invoice = TableDefinition(
        "Invoice",
        columns: [
            .init("title", .string, isSearchable: true), .init("amount", .decimal), .init("due", .date),
            .init("status", .string), .init("note", .string),
        ],
        indexes: [["due"], ["status"]]
    )
    private static let other = TableDefinition("Other", columns: [.init("text", .string, isSearchable: true)])

    private static func schema() throws -> StoreSchema {
        try StoreSchema(
            version: 3,
            [invoice, other],
            migrations: [
                Migration(
                    to: 2,
                    .renameTable("Bill", to: "Invoice"),
                    .renameColumn("price", to: "amount", in: "Invoice"),
                    .renameColumn("text", to: "title", in: "Invoice")
                ),
                Migration(
                    to: 3,
                    .convertColumn("amount", in: "Invoice") { price in
                        DecimalText(shortestOf: price.doubleValue ?? 0).map(FieldValue.decimal) ?? .null
                    },
                    .fillColumn("status", in: "Invoice") { $0["paidAt"] == .null ? "sent" : "paid" },
                    .dropColumn("paidAt", in: "Invoice")
                ),
            ]
        )
    }

    private func open(_ folder: TestFolder, _ schema: StoreSchema) async throws -> EncryptedStore {
        try await EncryptedStore.open(at: folder.database, key: .testKey(), schema: schema)
    }

    @Test("keeps everything that no step mentions: undeclared keys, finer dates, system properties, other tables")
    func everything() async throws {
        let folder = try TestFolder()
        let finer = FieldValue.date(Timestamp("2024-01-01T00:00:00.1234567Z")!)
        var store = try await EncryptedStore.open(in: folder, [Self.bill, Self.other])
        try await store.upsert(
            [
                Record(
                    id: "1",
                    [
                        "text": "fresh milk", "price": 1.5, "due": finer, "paidAt": finer, "version": "v1", "extra": 7,
                        "note": "undeclared so far",
                    ]
                ),
                Record(id: "2", ["text": "bread"]),
            ],
            table: "Bill"
        )
        try await store.upsert([Record(id: "o", ["text": "milk"])], table: "Other")
        await store.close()

        store = try await open(folder, Self.schema())
        let null = FieldValue.null
        let expected = [
            Record(
                id: "1",
                [
                    "title": "fresh milk", "amount": .decimal(DecimalText("1.5")!), "due": finer, "status": "paid",
                    "version": "v1", "extra": 7, "note": "undeclared so far", "createdAt": null, "updatedAt": null,
                ]
            ),
            Record(
                id: "2",
                [
                    "title": "bread", "amount": null, "due": null, "status": "sent", "version": null, "note": null,
                    "createdAt": null, "updatedAt": null,
                ]
            ),
        ]
        #expect(try await store.read(Query("Invoice").ordered(by: "id")).records == expected)
        for (table, column, id) in [("Invoice", "title", "1"), ("Other", "text", "o")] {
            let found = Query(table).filtered(by: Column(column).matches(words: "MILK"))
            #expect(try await store.read(found).records.map(\.id) == [.string(id)])
        }
        await store.close()
        #expect(try folder.searchIndexProblems(["title"], "Invoice").isEmpty)
        #expect(try folder.searchIndexProblems(["text"], "Other").isEmpty)
        #expect(try folder.openDatabase().text("SELECT name FROM sqlite_master WHERE name LIKE '%Bill%'") == nil)

        // The tables that tools see are of the version that was reached.
        store = try await EncryptedStore.openWithStoredSchema(at: folder.database, key: .testKey())
        #expect(store.schema.version == 3)
        #expect(try await store.read(Query("Invoice").ordered(by: "id")).records == expected)
        await store.close()
        store = try await open(folder, Self.schema())
        #expect(try await store.read(Query("Invoice").ordered(by: "id")).records == expected)
        await store.close()
    }

    @Test("lets two tables change their names with each other, and a new one take a name that is free")
    func swapped() async throws {
        let folder = try TestFolder()
        let a = TableDefinition("a", columns: [.init("x", .string)], indexes: [["x"]])
        let b = TableDefinition("b", columns: [.init("x", .string)], indexes: [["x"]])
        var store = try await EncryptedStore.open(in: folder, [a, b])
        try await store.upsert([Record(id: "1", ["x": "of a"])], table: "a")
        try await store.upsert([Record(id: "1", ["x": "of b"])], table: "b")
        await store.close()
        let schema = try StoreSchema(
            version: 3,
            [a, b, TableDefinition("c", columns: [.init("x", .int64)])],
            migrations: [
                Migration(
                    to: 2,
                    .renameTable("a", to: "c"),
                    .renameTable("b", to: "a"),
                    .renameTable("c", to: "b")
                ), Migration(to: 3),
            ]
        )
        store = try await open(folder, schema)
        #expect(try await store.read(table: "a", itemID: "1")?["x"] == "of b")
        #expect(try await store.read(table: "b", itemID: "1")?["x"] == "of a")
        #expect(try await store.read(Query("c")).records.isEmpty)
        await store.close()
    }

    @Test("has its values of JSON and bytes, and a thousand rows of many pages, as they were")
    func large() async throws {
        let folder = try TestFolder()
        var store = try await EncryptedStore.open(in: folder, [.items, .folding])
        let rows = (0..<1_000)
            .map { index in
                Record(
                    id: .string("k\(index)"),
                    [
                        "text": .string(String(repeating: "ё", count: index)), "int": .int64(Int64(index)),
                        "bytes": .bytes([UInt8](repeating: UInt8(index & 255), count: index % 97 * 100)),
                        "json": .json(JSONText("[\(index)]")!), "double": .double(Double(index) / 3),
                    ]
                )
            }
        for table in ["items", "folding"] { try await store.upsert(rows, table: table) }
        let before = try await store.read(Query("items").ordered(by: "int")).records
        await store.close()
        let schema = try StoreSchema(
            version: 2,
            [.items, .folding],
            migrations: [
                Migration(
                    to: 2,
                    .fillColumn("bool", in: "items", with: true),
                    .convertColumn("text", in: "folding") { $0 }
                )
            ]
        )
        store = try await open(folder, schema)
        let expected = before.map { row in
            var row = row
            row["bool"] = true
            return row
        }
        #expect(try await store.read(Query("items").ordered(by: "int")).records == expected)
        #expect(try await store.read(Query("folding").ordered(by: "int")).records == before)
        #expect(try await store.read(table: "folding", itemID: "K7")?.id == "k7")
        await store.close()
    }

    @Test("refuses a column that is declared with another type, where no step says what becomes of its values")
    func otherType() async throws {
        let folder = try TestFolder()
        let old = TableDefinition("t", columns: [.init("a", .string), .init("b", .string)])
        var store = try await EncryptedStore.open(in: folder, [old])
        try await store.upsert([Record(id: "1", ["a": "5", "b": "x"])], table: "t")
        await store.close()
        let new = TableDefinition("t", columns: [.init("a", .int64), .init("c", .string)])
        let schema = try StoreSchema(
            version: 2,
            [new],
            migrations: [Migration(to: 2, .renameColumn("b", to: "c", in: "t"))]
        )
        let error = await #expect(throws: StoreError.self) { _ = try await open(folder, schema) }
        #expect(error?.code == .schemaMismatch)
        store = try await EncryptedStore.open(in: folder, [old])
        #expect(try await store.read(Query("t")).records.map { $0["a"] } == ["5"], "nothing was changed")
        await store.close()
    }
}
