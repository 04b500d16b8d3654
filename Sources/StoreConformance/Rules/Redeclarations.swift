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
                + " have the values there, whole numbers as the column's type has them, queries find and order by them, and they"
                + " merge and clear like others.",
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
                [
                    Record(id: "a", values), Record(id: "b", ["laterInt": 3, "laterDouble": 5, "laterDecimal": -7]),
                    Record(id: "c"),
                ],
                table: "notes"
            )
            try await trial.close(store)
            let table = notes(types.map { ColumnDefinition($0.0, $0.1) })
            let again = try await trial.reopen([table])
            let whole = Record(id: "b", ["laterInt": 3, "laterDouble": 5.0, "laterDecimal": .decimal("-7")])
            let rows = [Record(id: "a", values), whole, Record(id: "c")].map { table.filled($0) }
            trial.expectRows(
                try await again.read(Query("notes")).records,
                rows,
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
        rule(
            "schema.declared-again",
            "Its values count then as written under an undeclared key.",
            in: "SyncContextDataSource",
            "Opens the store without a column, writes another value and a null over what rows have there and a value into new rows,"
                + " and opens it with the column again: the newest are there, in rows, conditions, orders, selections and sums.",
            needs: "unknownColumns"
        ) { trial in
            let int = ColumnDefinition("int", .int64)
            let store = try await undeclaredStore(trial, [int])
            try await store.upsert(
                ["a", "b", "c", "d"].map { Record(id: .string($0), ["text": .string($0)]) }
                    + [Record(id: "a", ["int": 5]), Record(id: "b", ["int": 6]), Record(id: "c", ["int": 7])],
                table: "notes"
            )
            try await trial.close(store)
            let without = try await trial.reopen([notes([])])
            try await without.upsert(
                [
                    Record(id: "a", ["int": 9]), Record(id: "b", ["int": .null]),
                    Record(id: "e", ["text": "e", "int": 4]),
                ],
                table: "notes"
            )
            var rows = [("a", 9), ("b", nil), ("c", 7), ("d", nil), ("e", 4)]
                .map { (id: String, value: Int64?) in
                    Record(id: .string(id), ["text": .string(id), "int": value.map(FieldValue.int64) ?? .null])
                }
            // A null that was never written may be kept there, as the null of a row from before.
            trial.expectRows(
                try await without.read(Query("notes")).records.map { $0.id == "d" ? $0.withoutNulls : $0 },
                rows.map { $0.id == "d" ? $0.withoutNulls : $0 },
                "rows without the column"
            )
            try await trial.close(without)
            let again = try await trial.reopen([notes([int])])
            for row in rows {
                let got = try await again.read(table: "notes", itemID: row.id)
                trial.expectRow(got, row, "read \(shown(row.id)), with the column again")
            }
            for (query, ids) in [
                (Query("notes").ordered(by: "int"), ["b", "d", "e", "c", "a"]),
                (Query("notes").filtered(by: Column("int") == 9), ["a"]),
                (Query("notes").filtered(by: Column("int").isAny(of: [5, 6])), []),
                (Query("notes").filtered(by: Column("int") == .null), ["b", "d"]),
            ] as [(Query, [RecordID])] {
                trial.expectIDs(
                    try await again.read(query).records,
                    ids,
                    "query \(shown(query)), with the column again"
                )
            }
            trial.expectRows(
                try await again.read(Query("notes").selecting(["int"])).records,
                rows.map { $0.selecting(["int"]) },
                "the column alone, with the column again"
            )
            trial.expect(
                try await again.aggregate(Query("notes").aggregating(.sum(of: "int"), .maximum(of: "int"))),
                equals: [AggregateGroup(values: [20, 9])],
                "the sum and the largest value, with the column again"
            )
            try await again.upsert([Record(id: "a", ["int": 1])], table: "notes")
            rows[0]["int"] = 1
            trial.expectRow(try await again.read(table: "notes", itemID: "a"), rows[0], "a row that is written then")
        },
        rule(
            "schema.declared-again-unfit",
            "one that does not fit its type makes the opening `schemaMismatch`, unless the store reads it again from its JSON.",
            in: "SyncContextDataSource",
            "Opens the store without a column for numbers, writes a text under its name, and opens it with the column again:"
                + " refused, and everything is there without it.",
            needs: "unknownColumns"
        ) { trial in
            let int = ColumnDefinition("int", .int64)
            let store = try await undeclaredStore(trial, [int])
            try await store.upsert(
                [Record(id: "a", ["text": "x", "int": 5]), Record(id: "b", ["int": 6])],
                table: "notes"
            )
            try await trial.close(store)
            let without = try await trial.reopen([notes([])])
            try await without.upsert([Record(id: "a", ["int": "no number"])], table: "notes")
            try await trial.close(without)
            try await trial.expectError(
                .schemaMismatch,
                from: "declare a column for numbers again where text was written"
            ) {
                _ = try await trial.reopen([notes([int])])
            }
            let again = try await trial.reopen([notes([])])
            trial.expectRows(
                try await again.read(Query("notes")).records,
                [Record(id: "a", ["text": "x", "int": "no number"]), notes([]).filled(Record(id: "b", ["int": 6]))],
                "the rows after the refusal"
            )
        },
    ]

    private static func notes(_ further: [ColumnDefinition]) -> TableDefinition {
        TableDefinition("notes", columns: [.init("text", .string)] + further, systemProperties: [])
    }

    private static func undeclaredStore(
        _ trial: StoreTrial,
        _ further: [ColumnDefinition] = []
    ) async throws -> any SyncContextDataSource {
        let store = try await trial.makeStore([notes(further)])
        try store.requireDurability()
        return store
    }
}
