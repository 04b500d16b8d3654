internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    /// The id on either side of a comparison, and the id that is no text at all.
    static let sides: [StoreRule] = [
        rule(
            "query.id-on-the-right",
            "In a table whose ids ignore case, comparisons with the column `id` and the order by it ignore case"
                + " as well.",
            in: "Query",
            "Compares texts, and the text of a column, with the id on the right, in tables with exact ids and with such that"
                + " ignore case."
        ) { trial in
            let rows = [("Ab", "ab"), ("b", "B"), ("C", "C")]
                .map { Record(id: .string($0.0), ["text": .string($0.1)]) }
            let equal: [(TableDefinition, [RecordID])] = [(.items, ["C"]), (.folding, ["Ab", "b", "C"])]
            for (table, same) in equal {
                let world = try await QueryWorld(trial, rows, in: table)
                for text: FieldValue in ["Ab", "aB", "b", "B", "c", "", "bb", 1, .null] {
                    for comparison in QueryComparison.allCases {
                        try await world.expect(.comparison(.value(text), comparison, .column("id")))
                    }
                }
                for comparison in QueryComparison.allCases {
                    try await world.expect(.comparison(.column("text"), comparison, .column("id")))
                    try await world.expect(.comparison(.column("id"), comparison, .column("text")))
                }
                try await world.expect(.comparison(.column("text"), .equal, .column("id")), ids: same)
            }
        },
        rule(
            "query.empty-id",
            "To a store the empty text is an id like any other.",
            in: "RecordID",
            "Writes, merges, finds, orders, inserts again and deletes a row whose id is the empty text."
        ) { trial in
            let store = try await trial.makeStore()
            for table in [TableDefinition.items, .folding] {
                try await trial.expectStored([Record(id: "", ["int": 1]), Record(id: " ")], in: table, store)
                try await store.upsert([Record(id: "", ["text": "x"])], table: table.name)
                let isNew = try await store.write { try $0.insert(Record(id: "", ["int": 5]), into: table.name) }
                trial.expect(isNew, equals: false, "insert the empty id where it is")
                let row = try await store.read(table: table.name, itemID: "")
                let expected = table.filled(Record(id: "", ["int": 1, "text": "x"]))
                trial.expectRow(row, expected, "the row with the empty id, merged")
                trial.expectIDs(try await store.read(Query(table.name)).records, ["", " "], "rows by id")
                let found = try await store.read(Query(table.name).filtered(by: Column("id") == "")).records
                trial.expectIDs(found, [""], "rows whose id equals the empty text")
                let count = try await store.write { try $0.delete([""], from: table.name) }
                trial.expect(count, equals: 1, "the number that deleting the empty id returns")
                trial.expectIDs(try await store.read(Query(table.name)).records, [" "], "rows after that")
            }
        },
    ]
}
