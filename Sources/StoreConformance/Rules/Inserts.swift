internal import ConformanceRunner
internal import SyncContract

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
            "when there is a row, nothing is written.",
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
    ]
}
