import ReferenceStore
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// The shapes of queries that the original engine asks for, and what its store made of them or should have.
@Suite("Every shape of query runs on both stores")
struct QueryShapeTests {
    enum Kind: CaseIterable {
        case encrypted, inMemory
    }

    private static let table = TableDefinition(
        "Item",
        columns: [.init("text", .string), .init("rank", .int64), .init("done", .bool), .init("due", .date)],
        idComparison: .asciiCaseInsensitive,
        systemProperties: [.version]
    )
    private static let operations = SystemTables.operations.name
    private static let errors = SystemTables.operationErrors.name
    private static let configuration = SystemTables.configuration.name

    private func with(_ kind: Kind, _ body: (any SyncContextDataSource) async throws -> Void) async throws {
        switch kind {
        case .inMemory: try await body(MemoryStore(try StoreSchema([Self.table])))
        case .encrypted:
            let folder = try TestFolder()
            let store = try await EncryptedStore.open(in: folder, [Self.table])
            try await body(store)
            await store.close()
        }
    }

    private func queue(_ store: any SyncContextDataSource) async throws {
        let rows: [(Int64, String, String)] = [
            (12, "Item", "b"), (2, "Item", "A"), (30, "Other", "A"), (4, "Item", "a"),
        ]
        try await store.upsert(
            rows.map { Record(id: .int64($0.0), ["table": .string($0.1), "itemId": .string($0.2)]) },
            table: Self.operations
        )
    }

    @Test(
        "operations of a table, and of an item whatever its case, by id though no order is given",
        arguments: Kind.allCases
    )
    func operationsOfItem(kind: Kind) async throws {
        try await with(kind) { store in
            try await queue(store)
            let ofTable = Query(Self.operations).filtered(by: Column("table") == "Item")
            #expect(try await store.read(ofTable).records.map(\.id) == [2, 4, 12])
            let ofItem = ofTable.filtered(by: Column("itemId").lowercased == "a")
            #expect(try await store.read(ofItem).records.map(\.id) == [2, 4])
        }
    }

    @Test("an operation by its number", arguments: Kind.allCases)
    func operationByNumber(kind: Kind) async throws {
        try await with(kind) { store in
            try await queue(store)
            #expect(
                try await store.read(Query(Self.operations).filtered(by: Column("id") == 4)).records.map(\.id) == [4]
            )
            #expect(try await store.read(Query(Self.operations).filtered(by: Column("id") == 5)).records.isEmpty)
        }
    }

    @Test("the first operation, and the first behind a number", arguments: Kind.allCases)
    func firstOperation(kind: Kind) async throws {
        try await with(kind) { store in
            try await queue(store)
            let first = Query(Self.operations).ordered(by: "id").limited(to: 1)
            #expect(try await store.read(first).records.map(\.id) == [2])
            #expect(try await store.read(first.filtered(by: Column("id") > 4)).records.map(\.id) == [12])
            #expect(try await store.read(first.filtered(by: Column("id") > 30)).records.isEmpty)
        }
    }

    @Test("the last operation", arguments: Kind.allCases)
    func lastOperation(kind: Kind) async throws {
        try await with(kind) { store in
            try await queue(store)
            let last = Query(Self.operations).ordered(by: "id", .descending).limited(to: 1)
            #expect(try await store.read(last).records.map(\.id) == [30])
        }
    }

    @Test("how many operations there are, without any row", arguments: Kind.allCases)
    func operationCount(kind: Kind) async throws {
        try await with(kind) { store in
            try await queue(store)
            let count = Query(Self.operations).limited(to: 0).countingAll()
            #expect(try await store.read(count) == QueryResult(records: [], totalCount: 4))
        }
    }

    @Test("all errors, then none", arguments: Kind.allCases)
    func allErrors(kind: Kind) async throws {
        try await with(kind) { store in
            try await store.upsert(["1", "2"].map { Record(id: $0) }, table: Self.errors)
            #expect(try await store.read(Query(Self.errors)).records.map(\.id) == ["1", "2"])
            try await store.delete(Query(Self.errors))
            #expect(try await store.read(Query(Self.errors)).records.isEmpty)
        }
    }

    @Test("the errors of an operation are deleted", arguments: Kind.allCases)
    func errorsOfOperation(kind: Kind) async throws {
        try await with(kind) { store in
            let rows = (1...4).map { Record(id: .string("\($0)"), ["operationId": .int64(Int64($0 % 2))]) }
            try await store.upsert(rows, table: Self.errors)
            try await store.delete(Query(Self.errors).filtered(by: Column("operationId") == 1))
            #expect(try await store.read(Query(Self.errors)).records.map(\.id) == ["2", "4"])
        }
    }

    @Test("a setting by table, key and kind, and all of a kind deleted", arguments: Kind.allCases)
    func settings(kind: Kind) async throws {
        try await with(kind) { store in
            let rows: [(String, String, Int64)] = [
                ("Item", "a", 0), ("Item", "b", 0), ("Item", "a", 1), ("Other", "a", 0),
            ]
            try await store.upsert(
                rows.enumerated()
                    .map { index, row in
                        Record(
                            id: .string("\(index)"),
                            ["table": .string(row.0), "key": .string(row.1), "keyType": .int64(row.2), "value": "x"]
                        )
                    },
                table: Self.configuration
            )
            let ofKind = Query(Self.configuration).filtered(by: Column("table") == "Item" && Column("keyType") == 0)
            let one = ofKind.filtered(by: Column("key") == "a")
            #expect(try await store.read(one).records.map { $0["value"] } == ["x"])
            try await store.delete(ofKind)
            #expect(try await store.read(Query(Self.configuration)).records.map(\.id) == ["2", "3"])
        }
    }

    private func fill(_ store: any SyncContextDataSource) async throws {
        try await store.upsert(
            [
                Record(
                    id: "A",
                    ["text": "Milk", "rank": 3, "done": false, "due": .date(Timestamp("2026-01-31T08:00:00Z")!)]
                ),
                Record(id: "b", ["text": "milkshake", "rank": 1, "done": true, "due": .null]),
                Record(
                    id: "C",
                    ["text": .null, "rank": .null, "done": .null, "due": .date(Timestamp("2025-12-31T23:00:00Z")!)]
                ),
                Record(
                    id: "d",
                    ["text": "50% off", "rank": 2, "done": true, "due": .date(Timestamp("2026-02-01T00:00:00Z")!)]
                ),
            ],
            table: "Item"
        )
    }

    @Test(
        "an app's own predicate",
        arguments: [
            (Column("text") == "Milk", ["A"]), (Column("text") == "milk", []),
            (Column("text").lowercased == "milk", ["A"]),
            (Column("text").starts(with: "milk"), ["b"]), (Column("text").ends(with: "off"), ["d"]),
            (Column("text").contains("%"), ["d"]), (Column("text").containsIgnoringASCIICase("MILK"), ["A", "b"]),
            (Column("text") == .null, ["C"]), (Column("text") != .null, ["A", "b", "d"]),
            (Column("done") == true, ["b", "d"]),
            (Column("done") != true, ["A", "C"]), (!(Column("done") == true), ["A", "C"]),
            (Column("rank") > 1, ["A", "d"]),
            (!(Column("rank") > 1), ["b", "C"]), (Column("rank") >= 1 && Column("rank") <= 2, ["b", "d"]),
            (Column("rank") == 1 || Column("rank") == 3, ["A", "b"]),
            (Column("rank").isAny(of: [1, 2, 9]), ["b", "d"]),
            (Column("rank").isAny(of: []), []), (Column("rank") + 1 == 3, ["d"]),
            (Column("rank") % 2 == 1, ["A", "b"]),
            (Column("rank") / 2.0 == 0.5, ["b"]), ((Column("rank") / 2.0).ceiling == 2, ["A"]),
            (Column("due") >= .date(Timestamp("2026-01-01T00:00:00Z")!), ["A", "d"]),
            (Column("due").year == 2026 && Column("due").month == 1, ["A"]), (Column("text").length > 4, ["b", "d"]),
            (Column("id") == "a", ["A"]), (Column("id").isAny(of: ["c", "D"]), ["C", "d"]),
            (.constant(true), ["A", "b", "C", "d"]),
            (.constant(false), []),
        ] as [(QueryPredicate, [RecordID])],
        Kind.allCases
    )
    func userPredicate(_ shape: (QueryPredicate, [RecordID]), kind: Kind) async throws {
        try await with(kind) { store in
            try await fill(store)
            let query = Query("Item").filtered(by: shape.0)
            #expect(try await store.read(query).records.map(\.id) == shape.1)
            try await store.delete(query)
            #expect(
                try await store.read(Query("Item")).records.map(\.id)
                    == ["A", "b", "C", "d"].filter { !shape.1.contains($0) }
            )
        }
    }

    @Test("orders, limits, offsets, and a total that knows neither", arguments: Kind.allCases)
    func cuts(kind: Kind) async throws {
        try await with(kind) { store in
            try await fill(store)
            let all = Query("Item").ordered(by: "rank", .descending).countingAll()
            let shapes: [(Query, [RecordID])] = [
                (all, ["A", "d", "b", "C"]), (all.limited(to: 2), ["A", "d"]), (all.skipping(3), ["C"]),
                (all.skipping(1).limited(to: 2), ["d", "b"]), (all.skipping(4), []), (all.skipping(.max), []),
                (all.limited(to: .max), ["A", "d", "b", "C"]), (all.limited(to: 0), []),
                (all.limited(to: 0).skipping(2), []),
            ]
            for (query, ids) in shapes {
                #expect(try await store.read(query).records.map(\.id) == ids, "\(query)")
                #expect(try await store.read(query).totalCount == 4)
            }
            var uncounted = all.limited(to: 0)
            uncounted.includesTotalCount = false
            #expect(try await store.read(uncounted) == QueryResult(records: []))
            let text = Query("Item").ordered(by: "done").ordered(by: "text", .descending)
            #expect(try await store.read(text).records.map(\.id) == ["C", "A", "b", "d"])
            try await store.delete(all.skipping(1).limited(to: 2))
            #expect(try await store.read(Query("Item")).records.map(\.id) == ["A", "C"])
        }
    }

    @Test(
        "selections hold what they name and the id; without one every column is there, nulls included",
        arguments: Kind.allCases
    )
    func selections(kind: Kind) async throws {
        try await with(kind) { store in
            try await fill(store)
            let one = Query("Item").filtered(by: Column("id") == "b")
            #expect(try await store.read(one.selecting(["done"])).records == [Record(id: "b", ["done": true])])
            #expect(try await store.read(one.selecting([])).records == [Record(id: "b")])
            #expect(
                try await store.read(one.selecting(["id", "due", "due"])).records == [Record(id: "b", ["due": .null])]
            )
            let whole: [String: FieldValue] = [
                "text": "milkshake", "rank": 1, "done": true, "due": .null, "version": .null,
            ]
            #expect(try await store.read(one).records == [Record(id: "b", whole)])
        }
    }

    @Test("what does not exist or is out of range is refused", arguments: Kind.allCases)
    func refusals(kind: Kind) async throws {
        try await with(kind) { store in
            var deep = Column("rank") == 1
            for _ in 0..<65 { deep = .all([.any([deep])]) }
            let refused: [Query] = [
                Query("Item").filtered(by: Column("nope") + 1 == 2),
                Query("Item").filtered(by: Column("rank").position(of: Column("nope")) == 1),
                Query("Item").ordered(by: "nope"), Query("Item").selecting(["nope"]), Query("Item").limited(to: -1),
                Query("Item").skipping(-1), Query("Item").filtered(by: deep),
                Query("Item").filtered(by: (0..<60).reduce(Column("rank") + 0) { term, _ in term + 1 } == 1),
            ]
            for query in refused {
                let codes = [
                    try await code { _ = try await store.read(query) },
                    try await code { _ = try await store.read { try $0.count(query) } },
                    try await code { try await store.delete(query) },
                ]
                #expect(codes == [.invalidQuery, .invalidQuery, .invalidQuery], "\(query)")
            }
            let codes = [
                try await code { _ = try await store.read(Query("Nope")) },
                try await code { try await store.delete(Query("Nope")) },
            ]
            #expect(codes == [.tableNotFound, .tableNotFound])
        }
    }
}
