internal import ConformanceRunner
internal import SyncContract
internal import Synchronization

extension StoreRules {
    private static let source = "StoreWriteBackend/insert(_:into:)"
    private static let sentence =
        "Inserts a record unless the table has a row with its id, compared as the table declares, and returns whether it"
        + " did."

    /// Inserting without merging.
    static let inserts: [StoreRule] = [
        rule(
            "upsert.insert-new",
            sentence,
            in: source,
            "Inserts ids that are not there, one of them deleted before: the rows are as given, others stay as they are."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([fullRow("a"), fullRow("b")], table: "items")
            let (wasInserted, within) = try await store.write { transaction in
                _ = try transaction.delete(["b"], from: "items")
                let results = try [Record(id: "b", ["int": 2]), Record(id: "c")]
                    .map { try transaction.insert($0, into: "items") }
                return (results, try transaction.record("b", in: "items"))
            }
            trial.expect(wasInserted, equals: [true, true], "insert a deleted id and a new one")
            let expected = TableDefinition.items.filled(Record(id: "b", ["int": 2]))
            trial.expectRow(within, expected, "read 'b' in the transaction that inserted it")
            let rows = try await store.read(Query("items")).records
            let all = [
                TableDefinition.items.filled(fullRow("a")), expected, TableDefinition.items.filled(Record(id: "c")),
            ]
            trial.expectRows(rows, all, "read all rows after two inserts")
        },
        rule(
            "upsert.insert-keeps-a-row",
            "When there is one, nothing is written",
            in: source,
            "Inserts ids that are there, one of them written in the same transaction: false comes back, the rows stay."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([fullRow("a")], table: "items")
            let other = Record(id: "b", ["int": 1, "text": "x"])
            let wasInserted = try await store.write { transaction in
                try transaction.upsert([other], into: "items")
                return try [Record(id: "a", ["int": 7, "text": .null]), Record(id: "b", ["int": 7]), Record(id: "a")]
                    .map { try transaction.insert($0, into: "items") }
            }
            trial.expect(wasInserted, equals: [false, false, false], "insert ids that have rows")
            let rows = try await store.read(Query("items")).records
            let expected = [TableDefinition.items.filled(fullRow("a")), TableDefinition.items.filled(other)]
            trial.expectRows(rows, expected, "read all rows after inserts of their ids")
        },
        rule(
            "upsert.insert-compares-ids",
            sentence,
            in: source,
            "Inserts 'AB' beside 'ab', where ids ignore case and where they do not."
        ) { trial in
            let store = try await trial.makeStore()
            for (table, isNew) in [("folding", false), ("items", true)] {
                try await store.upsert([Record(id: "ab", ["int": 1])], table: table)
                let wasInserted = try await store.write {
                    try $0.insert(Record(id: "AB", ["int": 2]), into: table)
                }
                trial.expect(wasInserted, equals: isNew, "insert 'AB' beside 'ab' into '\(table)'")
                let ids: [RecordID] = isNew ? ["AB", "ab"] : ["ab"]
                trial.expectIDs(try await store.read(Query(table)).records, ids, "the ids in '\(table)' after it")
            }
        },
        rule(
            "upsert.insert-refuses",
            "What is written and what is refused is as for `upsert(_:into:)`",
            in: source,
            "Inserts a NaN, a value of another type, an id of another kind and into a table that there is not."
        ) { trial in
            let store = try await trial.makeStore()
            let refused: [(String, Record, String, StoreError.Code)] = [
                ("a NaN", Record(id: "a", ["double": .double(.nan)]), "items", .invalidRecord),
                ("a text into a number", Record(id: "a", ["int": "x"]), "items", .invalidRecord),
                ("an id that is a number", Record(id: 1), "items", .invalidRecord),
                ("into a table that there is not", Record(id: "a"), "nowhere", .tableNotFound),
            ]
            for (input, record, table, code) in refused {
                try await trial.expectError(code, from: "insert \(input)") {
                    _ = try await store.write { try $0.insert(record, into: table) }
                }
            }
            trial.expectRows(try await store.read(Query("items")).records, [], "read after inserts that were refused")
        },
        rule(
            "upsert.insert-values",
            asForUpsert,
            in: source,
            "Inserts rows with values of every type, and one with a date finer than milliseconds: they come back as they were"
                + " given, read by id and by query, in the transaction that inserts them and afterwards, and after closing and"
                + " opening where the store is durable."
        ) { trial in
            var finer = fullRow("finer")
            finer["date"] = .date(text: "1969-12-31T23:59:59.1234567Z")
            finer["decimal"] = .decimal("-12345678901234567890.10")
            finer["int"] = .int64(.min)
            finer["bytes"] = .bytes([])
            finer["json"] = .json("[1.0, 1e2, {\"b\": null, \"a\": \"\\u0000\"}]")
            try await trial.expectInserted([fullRow("full"), finer, Record(id: "empty")])
        },
        rule(
            "upsert.insert-undeclared-keys",
            asForUpsert,
            in: source,
            "Inserts a row with undeclared keys of every kind, a date finer than milliseconds among them: they come back as"
                + " they were given, as those of a row with every type do.",
            needs: "unknownColumns"
        ) { trial in
            let row = Record(
                id: "a",
                [
                    "int": 1, "x": 0.1, "y": .date(text: "2024-02-29T12:34:56.7891234Z"), "z": .decimal("1.10"),
                    "n": .null,
                    "b": .bytes([0, 1]), "j": .json("[1.0]"), "t": "1", "f": true, "i": .int64(.max), "one": 1.0,
                ]
            )
            try await trial.expectInserted([row])
        },
        rule(
            "upsert.insert-rolls-back",
            allOrNothing,
            in: "SyncContextDataSource",
            "Inserts rows into several tables, one of which is searched by words, looks for them, and throws: no row is left,"
                + " no search finds one, and the ids are free."
        ) { trial in
            let notes = TableDefinition("notes", columns: [.init("text", .string, isSearchable: true)])
            let store = try await trial.makeStore(TableDefinition.standard + [notes])
            let found = Shared(Mutex(0))
            do {
                try await store.write { transaction in
                    for table in ["items", "folding", "notes"] {
                        _ = try transaction.insert(Record(id: "inserted", ["text": "milk"]), into: table)
                    }
                    let count = try transaction.count(
                        Query("notes").filtered(by: Column("text").matches(words: "milk"))
                    )
                    found.value.withLock { $0 = count }
                    throw OwnError(number: 1)
                }
            } catch is OwnError {
                // This is what the closure throws.
            }
            trial.expect(
                found.value.withLock { $0 },
                equals: 1,
                "rows that words find in the transaction that inserted one"
            )
            for table in ["items", "folding", "notes"] {
                let rows = try await store.read(Query(table)).records
                trial.expectIDs(rows, [], "rows of '\(table)' after inserts that were rolled back")
            }
            let words = Query("notes").filtered(by: Column("text").matches(words: "milk"))
            trial.expectIDs(
                try await store.read(words).records,
                [],
                "rows that words find after inserts were rolled back"
            )
            let isNew = try await store.write { try $0.insert(Record(id: "inserted"), into: "notes") }
            trial.expect(isNew, equals: true, "insert of an id whose insert was rolled back")
            trial.expectIDs(
                try await store.read(words).records,
                [],
                "rows that words find after an insert without a text"
            )
        },
        rule(
            "upsert.insert-is-searched",
            asForUpsert,
            in: source,
            "Inserts rows with texts, before and after others are merged, into a searchable column and one that is not: words,"
                + " folded texts and their order find them, in the transaction that inserts them and afterwards."
        ) { trial in
            for isSearchable in [true, false] {
                let table = TableDefinition("notes", columns: [.init("text", .string, isSearchable: isSearchable)])
                let store = try await trial.makeStore([table])
                let queries = [
                    (Query("notes").filtered(by: Column("text").matches(words: "milk")), ["a", "c"]),
                    (Query("notes").filtered(by: Column("text").folded == "BREAD"), ["b"]),
                    (Query("notes").ordered(by: "text", folded: true), ["b", "a", "c"]),
                ]
                let within = try await store.write { transaction in
                    _ = try transaction.insert(Record(id: "a", ["text": "fresh Milk"]), into: "notes")
                    _ = try transaction.insert(Record(id: "b", ["text": "Bréad"]), into: "notes")
                    try transaction.upsert([Record(id: "c", ["text": "water"])], into: "notes")
                    try transaction.upsert([Record(id: "c", ["text": "milk or bread"])], into: "notes")
                    _ = try transaction.insert(Record(id: "b", ["text": "milk"]), into: "notes")
                    return try queries.map { try transaction.records($0.0) }
                }
                for (number, (query, ids)) in queries.enumerated() {
                    let expected = ids.map { RecordID.string($0) }
                    let input = "\(shown(query)) after inserts, \(isSearchable ? "" : "not ")searchable"
                    trial.expectIDs(within[number], expected, input + ", in their transaction")
                    trial.expectIDs(try await store.read(query).records, expected, input)
                }
            }
        },
    ]

    /// Inserting without merging, by a process that is killed.
    static let killedInserts: [StoreRule] = [
        rule(
            "durability.killed-keeps-inserts",
            survives,
            in: "SyncContextDataSource",
            "Another process inserts rows without merging, one of them over a row that is there, rolls one back and is killed."
                + " What was inserted must be there, and nothing else.",
            needs: "durable",
            drills: [
                "writer": { trial in
                    let store = try await trial.makeStore(at: trial.place())
                    try await store.upsert([fullRow("a")], table: "items")
                    for row in [Record(id: "a", ["int": 99]), fullRow("b"), fullRow("c")] {
                        _ = try await store.write { try $0.insert(row, into: "items") }
                    }
                    do {
                        try await store.write { transaction in
                            _ = try transaction.insert(Record(id: "d"), into: "items")
                            throw OwnError(number: 1)
                        }
                    } catch is OwnError {
                        // This is what the closure throws.
                    }
                }
            ]
        ) { trial in
            try await trial.runKilled("writer")
            let store = try await trial.reopen()
            trial.expectRows(
                try await store.read(Query("items")).records,
                ["a", "b", "c"].map { fullRow($0) },
                "rows of a process that inserted them and was killed"
            )
        }
    ]

    private static let asForUpsert = "What is written and what is refused is as for `upsert(_:into:)`"
}

extension Trial where Subject == StoreSubject {
    /// Inserts rows into `items`, each alone, and reports what does not come back as it was given.
    fileprivate func expectInserted(_ rows: [Record]) async throws {
        let store = try await makeStore()
        let expected = rows.map { TableDefinition.items.filled($0) }
        for (row, expected) in zip(rows, expected) {
            let within = try await store.write { transaction in
                _ = try transaction.insert(row, into: "items")
                return try transaction.record(row.id, in: "items")
            }
            expectRow(within, expected, "insert \(shown(row)), read in the same transaction")
            let byID = try await store.read(table: "items", itemID: row.id)
            expectRow(byID, expected, "insert \(shown(row)), read by id")
        }
        let sorted = expected.sorted { ($0.id.stringValue ?? "") < ($1.id.stringValue ?? "") }
        expectRows(try await store.read(Query("items")).records, sorted, "inserted rows, read by query")
        guard store.capabilities.contains(.durable) else { return }
        try await close(store)
        let again = try await reopen()
        expectRows(try await again.read(Query("items")).records, sorted, "inserted rows after closing and opening")
    }
}
