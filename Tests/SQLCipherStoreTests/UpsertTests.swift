import QueryGenerator
import SQLCipherStoreTestSupport
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Upserting and deleting")
struct UpsertTests {
    @Test("absent keys keep their columns and undeclared values, nulls clear, later records win")
    func merging() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert(
            [
                Record(id: "1", ["text": "a", "int": 1, "x": 1, "y": 2]), Record(id: "2", ["text": "b"]),
                Record(id: "1", ["int": 2, "y": "three"]), Record(id: "1"), Record(id: "3"),
            ],
            table: "items"
        )
        try await store.upsert([Record(id: "1", ["text": .null])], table: "items")
        let record = try #require(try await store.read(table: "items", itemID: "1"))
        #expect(record["text"] == .null)
        #expect(record["int"] == 2)
        #expect(record["x"] == 1)
        #expect(record["y"] == "three")
        #expect(record["bool"] == .null)
        #expect(try await store.read(Query("items")).records.map(\.id) == ["1", "2", "3"])
        await store.close()
    }

    @Test("an insert leaves a row that is there and its words alone, and is refused only for its id")
    func inserting() async throws {
        let folder = try TestFolder()
        let words = TableDefinition("words", columns: [.init("text", .string, isSearchable: true)])
        let store = try await EncryptedStore.open(in: folder, [.items, words])
        for table in ["items", "words"] {
            let inserted = try await store.write { transaction in
                try [("1", "milk"), ("1", "bread"), ("2", "bread"), ("2", "milk")]
                    .map { try transaction.insert(Record(id: .string($0.0), ["text": .string($0.1)]), into: table) }
            }
            #expect(inserted == [true, false, true, false])
            #expect(try await store.read(Query(table)).records.map { $0["text"] } == ["milk", "bread"])
        }
        let found = Query("words").filtered(by: .matches(words: "bread", in: ["text"]))
        #expect(try await store.read(found).records.map(\.id) == ["2"])
        await store.close()
    }

    @Test("agrees with merging in memory on random records")
    func randomMerging() async throws {
        let seed = SeededGenerator.seed()
        var random = RandomQueries(.folding, .everything, seed: seed)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.folding])
        var expected: [RecordID: Record] = [:]
        for _ in 0..<40 {
            var records: [Record] = []
            for _ in 0..<25 {
                var record = random.record(.string(random.pick(["a", "A", "b", "B", "c", "d\0", "D\0"])))
                for name in record.fields.keys.sorted() where random.chance(60) { record[name] = nil }
                if random.chance(20) { record["extra"] = random.value(random.pick(ColumnType.allCases)) }
                if random.chance(20) { record["more"] = random.chance(50) ? .null : "text" }
                records.append(record)
                let key = record.id.folded(for: .asciiCaseInsensitive)
                var row = expected[key] ?? Record(id: record.id)
                for column in TableDefinition.folding.allColumns where row[column.name] == nil {
                    row[column.name] = .null
                }
                row.id = record.id
                row.merge(record)
                expected[key] = row
            }
            try await store.upsert(records, table: "folding")
            let rows = try await store.read(Query("folding")).records
            #expect(Set(rows) == Set(expected.values), "seed \(seed)")
        }
        await store.close()
    }

    @Test("an id in another casing updates the row of a table that ignores case, and is the id from then on")
    func casing() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items, .folding])
        for table in ["items", "folding"] {
            try await store.upsert([Record(id: "Ab", ["text": "1"])], table: table)
            try await store.upsert([Record(id: "aB", ["int": 2])], table: table)
        }
        #expect(try await store.read(Query("items")).records.map(\.id) == ["Ab", "aB"])
        let row = try #require(try await store.read(table: "folding", itemID: "AB"))
        #expect(row.id == "aB")
        #expect(row["text"] == "1")
        #expect(row["int"] == 2)
        try await store.deleteItems(withIDs: ["ab"], table: "folding")
        #expect(try await store.read(Query("folding")).records.isEmpty)
        await store.close()
    }

    @Test("deleting counts the rows there were, by id and by query with its limit")
    func deleting() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert((0..<10).map { Record(id: .string("\($0)"), ["int": .int64($0)]) }, table: "items")
        let counts = try await store.write { transaction in
            [
                try transaction.delete(["1", "1", "x"], from: "items"),
                try transaction.delete(Query("items").ordered(by: "int", .descending).skipping(1).limited(to: 2)),
                try transaction.delete(Query("items").limited(to: 0)),
                try transaction.delete(Query("items").filtered(by: Column("int") < 3)),
            ]
        }
        #expect(counts == [1, 2, 0, 2])
        #expect(try await store.read(Query("items")).records.map(\.id) == ["3", "4", "5", "6", "9"])
        await store.close()
    }

    @Test("a row with a value under an undeclared key is not the one that is stored without it")
    func undeclaredValue() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let row = Record(id: "1", ["text": "a"])
        try await store.upsert([row], table: "items")
        var more = row
        more["x"] = 1
        let found = try await store.write { [more] transaction in
            try [row, more].map { try transaction.stored($0, ignoring: [], in: "items") == .asExpected }
        }
        #expect(found == [true, false])
        await store.close()
    }

    @Test("an undeclared table is refused, also for nothing to write, and an undeclared column in a query")
    func undeclared() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await code { try await store.upsert([], table: "x") } == .tableNotFound)
        #expect(try await code { try await store.deleteItems(withIDs: [], table: "x") } == .tableNotFound)
        #expect(try await code { _ = try await store.read(Query("x")) } == .tableNotFound)
        #expect(try await code { _ = try await store.read(Query("x").limited(to: 0)) } == .tableNotFound)
        #expect(try await code { _ = try await store.read(table: "x", itemID: "1") } == .tableNotFound)
        // Names are told apart by case, as on a server, although SQLite would not.
        #expect(try await code { _ = try await store.read(Query("Items")) } == .tableNotFound)
        let queries = [
            Query("items").filtered(by: Column("x") == 1), Query("items").ordered(by: "x"),
            Query("items").selecting(["x"]), Query("items").skipping(-1), Query("items").limited(to: -1),
            Query("items").filtered(by: Column("Text") == "a"), Query("items").ordered(by: "__sealed_extra"),
            Query("items").filtered(by: !(Column("x").isAny(of: []))),
        ]
        for query in queries {
            #expect(try await code { _ = try await store.read { try $0.records(query) } } == .invalidQuery, "\(query)")
            #expect(try await code { try await store.delete(query) } == .invalidQuery, "\(query)")
        }
        await store.close()
    }
}
