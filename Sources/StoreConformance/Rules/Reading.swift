internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let reading: [StoreRule] = [
        rule(
            "read.absent-is-nil",
            "The record with an id, compared as the table declares; nil when there is none, which is no error.",
            in: "StoreReadBackend/record(_:in:)",
            "Reads ids that were never written, from an empty table and from one with rows."
        ) { trial in
            let store = try await trial.makeStore()
            trial.expectRow(try await store.read(table: "items", itemID: "a"), nil, "read 'a' from an empty table")
            try await store.upsert([Record(id: "a")], table: "items")
            trial.expectRow(try await store.read(table: "items", itemID: "b"), nil, "read 'b' beside a row 'a'")
            trial.expectRow(try await store.read(table: "other", itemID: "a"), nil, "read 'a' from another table")
        },
        rule(
            "read.row-has-all-columns",
            "A stored row has every declared column: a column that was never written is null.",
            in: "StoreReadBackend/record(_:in:)",
            "Writes a record with one value and expects all other declared columns as nulls, not as absent keys."
        ) { trial in
            let store = try await trial.makeStore()
            let rows = [Record(id: "a", ["int": 1]), Record(id: "b")]
            try await trial.expectStored(rows, in: .items, store)
        },
        rule(
            "read.id-exact-case",
            "By their bytes.",
            in: "IDComparison",
            "In a table with exact ids, 'a' and 'A' are two rows, and 'B' does not find 'b'."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectStored(
                [Record(id: "a", ["int": 1]), Record(id: "A", ["int": 2]), Record(id: "b", ["int": 3])],
                in: .items,
                store
            )
            trial.expectRow(try await store.read(table: "items", itemID: "B"), nil, "read 'B' where only 'b' is")
        },
        rule(
            "read.id-not-normalised",
            "Two string ids are equal when their UTF-8 bytes are equal.",
            in: "RecordID",
            "Composed and decomposed accents, trailing spaces and zeros in front make different ids."
        ) { trial in
            let store = try await trial.makeStore()
            let ids: [RecordID] = [
                "\u{E9}", "e\u{301}", "a", "a ", " a", "1", "01", "1.0", "+1", "a\0", "a\0b", "\u{212B}", "\u{C5}",
            ]
            let records = ids.enumerated().map { Record(id: $0.element, ["int": .int64(Int64($0.offset))]) }
            try await trial.expectStored(records, in: .items, store)
            let count = try await store.read { try $0.count(Query("items")) }
            trial.expect(count, equals: ids.count, "count after writing the ids \(shown(ids))")
        },
        rule(
            "read.id-any-text",
            "An id chosen by the app, or a UUID made for it.",
            in: "RecordID",
            "Ids with quotes, signs of SQL and of paths, emoji, of 4,000 characters, and two of 6,000 that differ in the last one,"
                + " come back as they went in."
        ) { trial in
            let store = try await trial.makeStore()
            let ids: [RecordID] = [
                "'", "\"", "a'b\"c", "%", "_", "?", "../x", "a/b\\c", "😀", "日本", "; DROP TABLE items", "null", "a\nb",
                .string(String(repeating: "x", count: 4_000)), "550e8400-e29b-41d4-a716-446655440000",
            ]
            try await trial.expectStored(ids.map { Record(id: $0) }, in: .items, store)
            for table in [TableDefinition.items, .folding] {
                let long = ["a", "b"]
                    .map { Record(id: .string(String(repeating: "x", count: 5_999) + $0), ["text": .string($0)]) }
                try await trial.expectStored(long, in: table, store)
            }
        },
        rule(
            "read.id-ignoring-case",
            "Ignoring the case of the letters A to Z; the newest casing is the one stored.",
            in: "IDComparison",
            "In a table whose ids ignore case, a row is found under every casing and comes back with the stored one."
        ) { trial in
            let store = try await trial.makeStore()
            let row = Record(id: "Ab-Z", ["int": 1])
            try await trial.expectStored([row], in: .folding, store)
            for id: RecordID in ["ab-z", "AB-Z", "aB-z", "Ab-Z"] {
                let got = try await store.read(table: "folding", itemID: id)
                trial.expectRow(got, TableDefinition.folding.filled(row), "read \(shown(id)) where \"Ab-Z\" is stored")
            }
        },
        rule(
            "read.id-ignoring-ascii-case-only",
            "Ignoring the case of the letters A to Z; the newest casing is the one stored.",
            in: "IDComparison",
            "In a table whose ids ignore case, É and é, and signs that differ in one bit like '[' and '{', stay"
                + " different."
        ) { trial in
            let store = try await trial.makeStore()
            let ids: [RecordID] = [
                "\u{C9}", "\u{E9}", "[", "{", "@", "`", "^", "~", "\u{130}", "i", "\u{212A}", "k", "ß", "SS",
            ]
            try await trial.expectStored(ids.map { Record(id: $0) }, in: .folding, store)
            let count = try await store.read { try $0.count(Query("folding")) }
            trial.expect(count, equals: ids.count, "count after writing the ids \(shown(ids))")
        },
        rule(
            "read.id-ignoring-case-behind-null",
            "Ignoring the case of the letters A to Z; the newest casing is the one stored.",
            in: "IDComparison",
            "In a table whose ids ignore case, ids that differ behind a U+0000 are different, and are found in every casing:"
                + " read, merged, inserted, deleted, in lists and orders, and with their states."
        ) { trial in
            let store = try await trial.makeStore()
            let ids: [RecordID] = ["a\0b", "A\0c", "a\0", "a", "\0", "B\0"]
            let rows = ids.enumerated().map { Record(id: $0.element, ["int": .int64(Int64($0.offset))]) }
            try await trial.expectStored(rows, in: .folding, store)
            for (text, row) in [("A\0B", 0), ("a\0C", 1), ("A\0", 2), ("A", 3), ("b\0", 5)] {
                let got = try await store.read(table: "folding", itemID: .string(text))
                trial.expectRow(got, TableDefinition.folding.filled(rows[row]), "read \(shown(.string(text)))")
            }
            trial.expectRow(try await store.read(table: "folding", itemID: "A\0D"), nil, "read \"A\\0D\"")
            let operation = StateWorld.operation(1, "a\0B", in: .folding, StateWorld.operations[0])
            let (inserted, deleted) = try await store.write { transaction in
                try transaction.upsert([Record(id: "A\0B", ["int": 9])], into: "folding")
                try transaction.upsert([operation], into: SystemTables.operations.name)
                let inserted = try ["a\0B", "A\0d"].map { try transaction.insert(Record(id: $0), into: "folding") }
                return (inserted, try transaction.delete(["A\0C"], from: "folding"))
            }
            trial.expect(
                inserted,
                equals: [false, true],
                "insert an id that is there in another casing, and a new one"
            )
            trial.expect(deleted, equals: 1, "rows deleted by an id in another casing")
            for (query, expected) in [
                (Query("folding"), ["\0", "a", "a\0", "A\0B", "A\0d", "B\0"]),
                (Query("folding").filtered(by: Column("id") == "a\0b"), ["A\0B"]),
                (Query("folding").filtered(by: Column("id").isAny(of: ["A\0D", "b\0", "b"])), ["A\0d", "B\0"]),
                (Query("folding").filtered(by: Column("id") > "A\0"), ["A\0B", "A\0d", "B\0"]),
                (Query("folding").filtered(by: Column.syncState == .pending), ["A\0B"]),
                (Query("folding").filtered(by: Column("int") == 9), ["A\0B"]),
            ] as [(Query, [RecordID])] {
                trial.expectIDs(try await store.read(query).records, expected, "query \(shown(query))")
            }
            let states = try await store.read(Query("folding").includingSyncStates()).records.map(\.syncState)
            trial.expect(
                states,
                equals: [.synced, .synced, .synced, .pending, .synced, .synced],
                "the states of the rows, of which \"A\\0B\" has an operation"
            )
        },
        rule(
            "read.id-kind",
            "`invalidRecord` for an id of the wrong kind.",
            in: "StoreReadBackend/record(_:in:)",
            "Reads with a number from a table with string ids, and with a string from the table of operations."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectError(.invalidRecord, from: "read the id int64 1 from a table with string ids") {
                _ = try await store.read(table: "items", itemID: 1)
            }
            try await trial.expectError(.invalidRecord, from: "read the id \"1\" from the table of operations") {
                _ = try await store.read(table: store.operationTableName, itemID: "1")
            }
        },
        rule(
            "read.unknown-table",
            "`tableNotFound` for an undeclared table",
            in: "StoreReadBackend/record(_:in:)",
            "Reads by id from a table that is not declared, and from one whose name differs in case."
        ) { trial in
            let store = try await trial.makeStore()
            for table in ["absent", "Items", "", "items "] {
                try await trial.expectError(.tableNotFound, from: "read an id from the table '\(table)'") {
                    _ = try await store.read(table: table, itemID: "a")
                }
            }
        },
        rule(
            "read.definition",
            "The declaration of a table or system table.",
            in: "StoreReadBackend/definition(of:)",
            "Asks for the declarations of all tables inside a read and a write, and for that of an unknown one."
        ) { trial in
            let store = try await trial.makeStore()
            for table in store.schema.allTables {
                let inRead = try await store.read { try $0.definition(of: table.name) }
                let inWrite = try await store.write { try $0.definition(of: table.name) }
                trial.expect(
                    inRead == table && inWrite == table,
                    "the declaration of '\(table.name)'",
                    expected: "the one of the schema",
                    got: brief(inRead == table ? inWrite : inRead)
                )
            }
            try await trial.expectError(.tableNotFound, from: "the declaration of the table 'absent'") {
                _ = try await store.read { try $0.definition(of: "absent") }
            }
        },
        rule(
            "read.tables-are-separate",
            "The tables a store keeps: the app's and the three system tables.",
            in: "StoreSchema",
            "The same id in two tables is two rows that do not influence each other."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "a", ["text": "1"])], table: "items")
            try await store.upsert([Record(id: "a", ["text": "2"])], table: "other")
            try await store.deleteItems(withIDs: ["a"], table: "items")
            let other = try await store.read(table: "other", itemID: "a")
            trial.expect(
                other?["text"] == "2",
                "write 'a' into two tables, delete it from the first, read it from the second",
                expected: "\"2\"",
                got: shown(other)
            )
        },
    ]
}
