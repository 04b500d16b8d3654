internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    private static let retyped =
        "A column or id that is declared with another type than the stored one is `schemaMismatch`, before"
        + " anything is touched."

    static let redeclarations: [StoreRule] = [
        rule(
            "schema.retyped-as-any-other",
            retyped,
            in: "SyncContextDataSource",
            "Opens the store again with a column of every type declared as every other one, string, JSON and decimal as one"
                + " another too, whose values lie alike on disk: refused each time, and the values are as they were.",
            needs: "durable"
        ) { trial in
            let row = Record(
                id: "a",
                [
                    "bool": true, "int": 1, "double": 1.0, "decimal": .decimal("1"), "text": "1", "date": .date(1),
                    "bytes": .bytes([49]), "json": .json("1"),
                ]
            )
            try await trial.writeAndClose([.items], [row])
            for column in TableDefinition.items.columns {
                for type in ColumnType.allCases where type != column.type {
                    let columns = TableDefinition.items.columns.map {
                        ColumnDefinition($0.name, $0.name == column.name ? type : $0.type)
                    }
                    let table = TableDefinition("items", columns: columns, systemProperties: .all)
                    let input =
                        "open with the \(column.type.rawValue) column '\(column.name)' declared as \(type.rawValue)"
                    try await trial.expectError(.schemaMismatch, from: input) {
                        try await trial.close(try await trial.reopen([table]))
                    }
                }
            }
            let store = try await trial.reopen([.items])
            let got = try await store.read(table: "items", itemID: "a")
            trial.expectRow(got, TableDefinition.items.filled(row), "the row after all refusals")
        },
        rule(
            "schema.declared-later",
            "A value that is kept under an undeclared key is the column's once the column is declared;",
            in: "SyncContextDataSource",
            "Writes values of every kind under undeclared keys, and opens the store again with columns of these names: rows"
                + " have the values there, queries find and order by them, and they merge and clear like others.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await undeclaredStore(trial)
            let values: [String: FieldValue] = [
                "laterBool": true, "laterInt": 7, "laterDouble": 2.0, "laterDecimal": .decimal("1.10"),
                "laterText": "later", "laterDate": .date(text: "2024-02-29T12:34:56.7891234Z"),
                "laterBytes": .bytes([0, 1]), "laterJSON": .json("{ \"a\": 1.0 }"),
            ]
            let types: [(String, ColumnType)] = [
                ("laterBool", .bool), ("laterInt", .int64), ("laterDouble", .double), ("laterDecimal", .decimal),
                ("laterText", .string), ("laterDate", .date), ("laterBytes", .bytes), ("laterJSON", .json),
            ]
            try await store.upsert(
                [Record(id: "a", values), Record(id: "b", ["laterInt": 3]), Record(id: "c")],
                table: "notes"
            )
            try await trial.close(store)
            let table = notes(types.map { ColumnDefinition($0.0, $0.1) })
            let again = try await trial.reopen([table])
            let rows = [Record(id: "a", values), Record(id: "b", ["laterInt": 3]), Record(id: "c")]
                .map { table.filled($0) }
            trial.expectRows(
                try await again.read(Query("notes")).records,
                rows,
                exactNulls: true,
                "rows whose keys are declared now"
            )
            for (name, value) in values {
                let query = Query("notes").filtered(by: Column(name) == value)
                trial.expectIDs(try await again.read(query).records, ["a"], "query \(shown(query))")
            }
            let ordered = Query("notes").ordered(by: "laterInt")
            trial.expectIDs(try await again.read(ordered).records, ["c", "b", "a"], "query \(shown(ordered))")
            try await again.upsert([Record(id: "a", ["laterInt": .null, "laterText": "new"])], table: "notes")
            var merged = rows[0]
            merged.merge(Record(id: "a", ["laterInt": .null, "laterText": "new"]))
            trial.expectRow(
                try await again.read(table: "notes", itemID: "a"),
                merged,
                exactNulls: true,
                "a row that is merged after its keys were declared"
            )
        },
        rule(
            "schema.declared-later-unfit",
            "one that does not fit its type makes the opening `schemaMismatch`,",
            in: "SyncContextDataSource",
            "Writes text that is no number under an undeclared key and opens the store again with a column of that name for"
                + " whole numbers: refused, and everything is there without the column.",
            needs: "unknownColumns"
        ) { trial in
            let store = try await undeclaredStore(trial)
            let row = Record(id: "a", ["text": "x", "later": "no number"])
            try await store.upsert([row], table: "notes")
            try await trial.close(store)
            try await trial.expectError(.schemaMismatch, from: "declare a column for numbers where text is kept") {
                _ = try await trial.reopen([notes([.init("later", .int64)])])
            }
            let again = try await trial.reopen([notes([])])
            trial.expectRow(try await again.read(table: "notes", itemID: "a"), row, "the row after the refusal")
        },
    ]

    private static func notes(_ further: [ColumnDefinition]) -> TableDefinition {
        TableDefinition("notes", columns: [.init("text", .string)] + further, systemProperties: [])
    }

    private static func undeclaredStore(_ trial: StoreTrial) async throws -> any SyncContextDataSource {
        let store = try await trial.makeStore([notes([])])
        guard store.capabilities.contains(.durable) else { throw Unsupported("'durable' is not declared") }
        return store
    }
}
