internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let retypedTables: [StoreRule] = [
        rule(
            "schema.undeclared-table-retyped",
            "A column or id that is declared with another type than the stored one is `schemaMismatch`, before"
                + " anything is touched.",
            in: "SyncContextDataSource",
            "Opens the store without a table, and then with it again, a column of it declared with another type, or its ids"
                + " compared in another way: refused, and the rows are as they were.",
            needs: "durable"
        ) { trial in
            let row = Record(id: "a", ["text": "1", "int": 1])
            let store = try await trial.makeStore([.items, .other])
            try await store.upsert([row], table: "other")
            try await trial.close(store)
            try await trial.close(try await trial.reopen([.items]))
            let text = ColumnDefinition("text", .string)
            let int = ColumnDefinition("int", .int64)
            for (input, table) in [
                ("a column of another type", TableDefinition("other", columns: [text, .init("int", .string)])),
                (
                    "ids that ignore case",
                    TableDefinition("other", columns: [text, int], idComparison: .asciiCaseInsensitive)
                ),
            ] {
                try await trial.expectError(.schemaMismatch, from: "declare a table again, with \(input)") {
                    try await trial.close(try await trial.reopen([.items, table]))
                }
            }
            let again = try await trial.reopen([.items, .other])
            trial.expectRows(
                try await again.read(Query("other")).records,
                [TableDefinition.other.filled(row)],
                "the rows after the refusals"
            )
        }
    ]
}
