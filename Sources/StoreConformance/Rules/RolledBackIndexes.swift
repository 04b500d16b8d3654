internal import ConformanceRunner
internal import SyncContract

// What a store keeps beside its rows, to find them by: it goes back with them.
extension StoreRules {
    static let rolledBackIndexes: [StoreRule] = [
        rule(
            "transaction.rollback-indexed",
            allOrNothing,
            in: "SyncContextDataSource",
            "Merges, deletes and inserts rows of a table with indexes in transactions that throw: conditions that equal a value"
                + " or one of several, ranges and orders over the indexed columns find the rows with their old values, and none"
                + " by the new ones."
        ) { trial in
            let table = TableDefinition(
                "indexed",
                columns: [.init("int", .int64), .init("text", .string)],
                systemProperties: [],
                indexes: [["int"], ["text"], ["text", "int"]]
            )
            let store = try await trial.makeStore([table])
            let rows = (0..<6)
                .map { Record(id: .string("\($0)"), ["int": .int64(Int64($0)), "text": .string("t\($0)")]) }
            try await store.upsert(rows, table: "indexed")
            let changes: [(String, @Sendable (inout StoreTransaction) throws -> Void)] = [
                (
                    "merges",
                    { try $0.upsert(rows.map { Record(id: $0.id, ["int": 77, "text": "new"]) }, into: "indexed") }
                ),
                ("deletes ids", { try $0.delete(rows.map(\.id), from: "indexed") }),
                ("deletes by a query", { try $0.delete(Query("indexed").filtered(by: Column("int") > 1)) }),
                ("inserts", { try $0.upsert([Record(id: "new", ["int": 77, "text": "new"])], into: "indexed") }),
                (
                    "inserts with insert",
                    { _ = try $0.insert(Record(id: "new", ["int": 77, "text": "t3"]), into: "indexed") }
                ),
            ]
            for (name, change) in changes {
                do {
                    try await store.write { transaction in
                        try change(&transaction)
                        throw OwnError(number: 1)
                    }
                } catch is OwnError {
                    // This is what the closure throws.
                }
                for (query, ids) in indexedQueries {
                    let input = "query \(shown(query)) after a transaction that \(name) and throws"
                    trial.expectIDs(try await store.read(query).records, ids, input)
                }
            }
        }
    ]

    private static let indexedQueries: [(Query, [RecordID])] = [
        (Query("indexed").filtered(by: Column("int") == 2), ["2"]),
        (Query("indexed").filtered(by: Column("int") == 77), []),
        (Query("indexed").filtered(by: Column("text") == "t3"), ["3"]),
        (Query("indexed").filtered(by: Column("text") == "new"), []),
        (Query("indexed").filtered(by: Column("int").isAny(of: [1, 4, 77])), ["1", "4"]),
        (Query("indexed").filtered(by: Column("text").isAny(of: ["t0", "new", "t5"])), ["0", "5"]),
        (Query("indexed").filtered(by: Column("int") > 3), ["4", "5"]),
        (Query("indexed").ordered(by: "text", .descending), ["5", "4", "3", "2", "1", "0"]),
        (Query("indexed").ordered(by: "int").limited(to: 2), ["0", "1"]),
    ]
}
