import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("The schema of a store that exists")
struct SchemaTests {
    private func table(
        _ columns: [ColumnDefinition],
        name: String = "t",
        ids: IDComparison = .exact,
        system: SystemProperties = [],
        indexes: [[String]] = []
    ) -> TableDefinition {
        TableDefinition(name, columns: columns, idComparison: ids, systemProperties: system, indexes: indexes)
    }

    @Test("a column that is no longer declared keeps its values as undeclared ones, and takes them back")
    func undeclaring() async throws {
        let folder = try TestFolder()
        let finer = FieldValue.date(Timestamp("2024-01-01T00:00:00.1234567Z")!)
        let full = table([.init("a", .string), .init("b", .decimal), .init("c", .date)])
        let part = table([.init("a", .string)])

        var store = try await EncryptedStore.open(in: folder, [full])
        let number = FieldValue.decimal(DecimalText("1.10")!)
        try await store.upsert([Record(id: "1", ["a": "x", "b": number, "c": finer])], table: "t")
        try await store.upsert([Record(id: "2", ["a": "y", "b": number])], table: "t")
        await store.close()

        store = try await EncryptedStore.open(in: folder, [part])
        #expect(try await store.read(table: "t", itemID: "1") == Record(id: "1", ["a": "x", "b": number, "c": finer]))
        #expect(try await store.read(table: "t", itemID: "2") == Record(id: "2", ["a": "y", "b": number]))
        #expect(try await code { _ = try await store.read(Query("t").filtered(by: Column("b") == 1)) } == .invalidQuery)
        try await store.upsert([Record(id: "2", ["b": 5, "new": true]), Record(id: "1", ["b": .null])], table: "t")
        #expect(try await store.read(table: "t", itemID: "2") == Record(id: "2", ["a": "y", "b": 5, "new": true]))
        #expect(try await store.read(table: "t", itemID: "1")?["b"] == .null)
        await store.close()

        store = try await EncryptedStore.open(in: folder, [full])
        let five = FieldValue.decimal(DecimalText("5")!)
        let second = Record(id: "2", ["a": "y", "b": five, "c": .null, "new": true])
        #expect(try await store.read(table: "t", itemID: "2") == second)
        #expect(try await store.read(table: "t", itemID: "1") == Record(id: "1", ["a": "x", "b": .null, "c": finer]))
        #expect(try await store.read(Query("t").filtered(by: Column("b") == 5)).records.map(\.id) == ["2"])
        await store.close()
    }

    @Test("a column that is declared for an undeclared key takes its values over, read as its type")
    func declaringLater() async throws {
        let folder = try TestFolder()
        var store = try await EncryptedStore.open(in: folder, [table([])])
        try await store.upsert(
            [
                Record(id: "1", ["due": "2024-01-01T00:00:00.1234567Z", "price": 2, "kept": "k"]),
                Record(id: "2", ["due": .null, "price": 2.5]), Record(id: "3"),
            ],
            table: "t"
        )
        await store.close()

        let declared = table([.init("due", .date), .init("price", .decimal)], indexes: [["due", "price"]])
        store = try await EncryptedStore.open(in: folder, [declared])
        let first = try #require(try await store.read(table: "t", itemID: "1"))
        #expect(first["due"] == .date(Timestamp("2024-01-01T00:00:00.1234567Z")!))
        #expect(first["price"] == .decimal(DecimalText("2")!))
        #expect(first["kept"] == "k")
        let cheap = Query("t").filtered(by: Column("price") < 3).ordered(by: "price", .descending)
        #expect(try await store.read(cheap).records.map(\.id) == ["2", "1"])
        await store.close()
    }

    @Test("values that do not fit the column declared for them stop the open and stay as they are")
    func declaringOtherType() async throws {
        let folder = try TestFolder()
        var store = try await EncryptedStore.open(in: folder, [table([])])
        try await store.upsert([Record(id: "1", ["a": 1]), Record(id: "2", ["a": "no date"])], table: "t")
        await store.close()
        let found = try await code { _ = try await EncryptedStore.open(in: folder, [table([.init("a", .date)])]) }
        #expect(found == .schemaMismatch)
        store = try await EncryptedStore.open(in: folder, [table([])])
        #expect(try await store.read(table: "t", itemID: "2")?["a"] == "no date")
        await store.close()
    }

    @Test("a change that cannot be made is refused before any byte of the file changes")
    func mismatches() async throws {
        let folder = try TestFolder()
        let original = table([.init("a", .string)])
        let store = try await EncryptedStore.open(in: folder, [original])
        try await store.upsert([Record(id: "1", ["a": "x"])], table: "t")
        await store.close()
        let before = try folder.contents()
        let declarations: [TableDefinition] = [
            table([.init("a", .int64)]), table([.init("a", .json)]), table([.init("A", .string)]),
            table([.init("a", .string)], name: "T"), table([.init("a", .string)], ids: .asciiCaseInsensitive),
        ]
        for declaration in declarations {
            let other = table([.init("x", .string)], name: "other")
            let found = try await code { _ = try await EncryptedStore.open(in: folder, [other, declaration]) }
            #expect(found == .schemaMismatch, "\(declaration)")
            #expect(try folder.contents() == before)
        }
        // Nor once the column is undeclared.
        await (try EncryptedStore.open(in: folder, [table([])])).close()
        #expect(
            try await code { _ = try await EncryptedStore.open(in: folder, [table([.init("a", .bool)])]) }
                == .schemaMismatch
        )
    }

    @Test("an open that changes nothing about the tables leaves the file as it is")
    func unchanged() async throws {
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder)).close()
        let before = try folder.contents()
        await (try EncryptedStore.open(in: folder)).close()
        #expect(try folder.contents() == before)
    }

    @Test("indexes follow the declaration")
    func indexes() async throws {
        let folder = try TestFolder()
        let column = ColumnDefinition("a", .string)
        for indexes in [[["a"]], [["id", "a"], ["a"]], [["a"], ["id", "a"], ["a"]], []] {
            let store = try await EncryptedStore.open(in: folder, [table([column], indexes: indexes)])
            await store.close()
            let database = try folder.openDatabase()
            let stored = try StoredSchema(database).indexes.filter { $0.hasPrefix("index:t:") }
            #expect(stored == Set(indexes.map { SchemaSQL.indexName($0, of: "t") }))
        }
    }

    @Test("more columns than a statement can bind are refused")
    func tooManyColumns() async throws {
        let folder = try TestFolder()
        let columns = (0..<901).map { ColumnDefinition("c\($0)", .int64) }
        #expect(try await code { _ = try await EncryptedStore.open(in: folder, [table(columns)]) } == .invalidSchema)
        let store = try await EncryptedStore.open(in: folder, [table(columns.dropLast())])
        let values = Dictionary(uniqueKeysWithValues: columns.dropLast().map { ($0.name, FieldValue.int64(1)) })
        try await store.upsert([Record(id: "1", values), Record(id: "1", values)], table: "t")
        #expect(try await store.read(table: "t", itemID: "1") == Record(id: "1", values))
        await store.close()
    }

    @Test("names that SQL reserves are names like any other")
    func reservedNames() async throws {
        let folder = try TestFolder()
        let names = ["select", "order", "rowid", "oid", "_rowid_", "null", "index", "group", "table", "where"]
        let reserved = table(names.map { .init($0, .string) }, name: "table", indexes: [["order"], ["rowid", "id"]])
        let store = try await EncryptedStore.open(in: folder, [reserved, table([], name: "index")])
        let values = Dictionary(uniqueKeysWithValues: names.map { ($0, FieldValue.string($0)) })
        try await store.upsert([Record(id: "1", values)], table: "table")
        try await store.upsert([Record(id: "2", ["rowid": "a"])], table: "table")
        #expect(try await store.read(table: "table", itemID: "1") == Record(id: "1", values))
        let query = Query("table").filtered(by: Column("rowid") == "a").ordered(by: "oid")
        #expect(try await store.read(query).records.map(\.id) == ["2"])
        await store.close()
    }
}
