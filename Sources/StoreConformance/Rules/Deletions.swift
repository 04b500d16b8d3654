internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let deletions: [StoreRule] = [
        rule(
            "delete.by-id",
            "Deletes the records with the given ids and returns how many there were.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Deletes two of four rows: these are gone, the others stay."
        ) { trial in
            let store = try await fourRows(trial)
            let count = try await store.write { try $0.delete(["b", "d"], from: "items") }
            trial.expect(count, equals: 2, "the number that deleting 'b' and 'd' returns")
            trial.expectIDs(try await store.read(Query("items")).records, ["a", "c"], "delete 'b' and 'd'")
            trial.expectRow(try await store.read(table: "items", itemID: "b"), nil, "read the deleted 'b'")
        },
        rule(
            "delete.absent-ids",
            "Absent ids are no error.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Deletes ids that are not there, beside one that is, and one of another casing."
        ) { trial in
            let store = try await fourRows(trial)
            let count = try await store.write { try $0.delete(["x", "b", "y", "A"], from: "items") }
            trial.expect(count, equals: 1, "the number that deleting 'x', 'b', 'y', 'A' returns")
            trial.expectIDs(try await store.read(Query("items")).records, ["a", "c", "d"], "delete 'x', 'b', 'y', 'A'")
        },
        rule(
            "delete.same-id-twice",
            "Deletes the records with the given ids and returns how many there were.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Names one id twice: the row counts once."
        ) { trial in
            let store = try await fourRows(trial)
            let count = try await store.write { try $0.delete(["b", "b"], from: "items") }
            trial.expect(count, equals: 1, "the number that deleting 'b' and 'b' returns")
        },
        rule(
            "delete.no-ids",
            "Absent ids are no error.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Deletes an empty list of ids: nothing happens."
        ) { trial in
            let store = try await fourRows(trial)
            let count = try await store.write { try $0.delete([], from: "items") }
            trial.expect(count, equals: 0, "the number that deleting no ids returns")
            trial.expectIDs(try await store.read(Query("items")).records, ["a", "b", "c", "d"], "delete no ids")
        },
        rule(
            "delete.many-ids",
            "Deletes the records with the given ids and returns how many there were.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Deletes 2,500 of 3,000 rows by id in one call: more than a database binds in one statement."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert((0..<3_000).map { Record(id: .string("\($0)")) }, table: "items")
            let ids = (0..<2_500).map { RecordID.string("\($0)") }
            let count = try await store.write { try $0.delete(ids, from: "items") }
            trial.expect(count, equals: 2_500, "the number that deleting 2,500 ids returns")
            trial.expect(try await store.read { try $0.count(Query("items")) }, equals: 500, "rows left of 3,000")
        },
        rule(
            "delete.ignoring-case",
            "Ignoring the case of the letters A to Z; the newest casing is the one stored.",
            in: "IDComparison",
            "Deletes under another casing where ids ignore case."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert([Record(id: "Ab"), Record(id: "\u{C9}")], table: "folding")
            let count = try await store.write { try $0.delete(["aB", "\u{E9}"], from: "folding") }
            trial.expect(count, equals: 1, "the number that deleting 'aB' and 'é' returns, where 'Ab' and 'É' are")
            trial.expectIDs(try await store.read(Query("folding")).records, ["\u{C9}"], "delete 'aB' and 'é'")
        },
        rule(
            "delete.id-kind",
            "`tableNotFound`, also for an empty list; `invalidRecord` for an id of the wrong kind.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Deletes a number from a table with string ids, and a string from the table of operations."
        ) { trial in
            let store = try await fourRows(trial)
            try await trial.expectError(.invalidRecord, from: "delete the id int64 1 from a table with string ids") {
                try await store.deleteItems(withIDs: [1], table: "items")
            }
            try await trial.expectError(.invalidRecord, from: "delete the id \"1\" from the table of operations") {
                try await store.deleteItems(withIDs: ["1"], table: store.operationTableName)
            }
        },
        rule(
            "delete.all-or-nothing",
            "Deletes records by id, all or nothing.",
            in: "SyncContextDataSource",
            "Deletes ids of which the last is of the wrong kind: refused, and no row is gone."
        ) { trial in
            let store = try await fourRows(trial)
            try await trial.expectError(.invalidRecord, from: "delete the ids \"a\", \"b\" and int64 1") {
                try await store.deleteItems(withIDs: ["a", "b", 1], table: "items")
            }
            trial.expectIDs(
                try await store.read(Query("items")).records,
                ["a", "b", "c", "d"],
                "rows after a refused delete of \"a\", \"b\" and int64 1"
            )
        },
        rule(
            "delete.unknown-table",
            "`tableNotFound`, also for an empty list; `invalidRecord` for an id of the wrong kind.",
            in: "StoreWriteBackend/delete(_:from:)",
            "Deletes by ids, by no ids and by query from a table that is not declared."
        ) { trial in
            let store = try await trial.makeStore()
            for ids: [RecordID] in [["a"], []] {
                try await trial.expectError(.tableNotFound, from: "delete \(ids.count) ids from the table 'absent'") {
                    try await store.deleteItems(withIDs: ids, table: "absent")
                }
            }
            try await trial.expectError(.tableNotFound, from: "delete all rows of the table 'absent'") {
                try await store.delete(Query("absent"))
            }
        },
        rule(
            "delete.by-query",
            "Deletes the rows that the query would give, its order, offset and limit included, and returns how many.",
            in: "StoreWriteBackend/delete(_:)",
            "Deletes by a condition; nulls that do not satisfy it stay."
        ) { trial in
            let store = try await fourRows(trial)
            let query = Query("items").filtered(by: Column("int") >= 2)
            let count = try await store.write { try $0.delete(query) }
            trial.expect(count, equals: 2, "the number that deleting \(shown(query)) returns")
            trial.expectIDs(try await store.read(Query("items")).records, ["a", "d"], "delete \(shown(query))")
        },
        rule(
            "delete.by-query-cut",
            "Deletes the rows that the query would give, its order, offset and limit included, and returns how many.",
            in: "StoreWriteBackend/delete(_:)",
            "Deletes by queries with order, offset and limit, also with the limit 0 and an offset alone."
        ) { trial in
            for (query, left) in cutQueries {
                let store = try await fourRows(trial)
                let count = try await store.write { try $0.delete(query) }
                trial.expect(
                    count,
                    equals: 4 - left.count,
                    "the number that deleting \(shown(query)) of a, b, c, d returns"
                )
                trial.expectIDs(
                    try await store.read(Query("items")).records,
                    left,
                    "delete \(shown(query)) of a, b, c, d"
                )
            }
        },
        rule(
            "delete.by-query-all",
            "Deletes the rows that a query would give.",
            in: "SyncContextDataSource",
            "Deletes a whole table; another table keeps its rows."
        ) { trial in
            let store = try await fourRows(trial)
            try await store.upsert([Record(id: "a")], table: "other")
            try await store.delete(Query("items"))
            trial.expectIDs(try await store.read(Query("items")).records, [], "delete all rows of 'items'")
            trial.expectIDs(try await store.read(Query("other")).records, ["a"], "rows of 'other' after that")
        },
        rule(
            "delete.by-query-many",
            "Deletes the rows that the query would give, its order, offset and limit included, and returns how many.",
            in: "StoreWriteBackend/delete(_:)",
            "Deletes 2,500 of 3,000 rows by one query, with a condition and with a limit."
        ) { trial in
            for query in [Query("other").filtered(by: Column("int") < 2_500), Query("other").limited(to: 2_500)] {
                let store = try await trial.makeStore()
                let rows = (0..<3_000).map { Record(id: .string("\(10_000 + $0)"), ["int": .int64(Int64($0))]) }
                try await store.upsert(rows, table: "other")
                let count = try await store.write { try $0.delete(query) }
                trial.expect(count, equals: 2_500, "the number that deleting \(shown(query)) of 3,000 rows returns")
                let left = try await store.read(Query("other").limited(to: 2)).records
                trial.expectIDs(left, ["12500", "12501"], "the first rows left by deleting \(shown(query))")
                trial.expect(
                    try await store.read { try $0.count(Query("other")) },
                    equals: 500,
                    "rows left by deleting \(shown(query)) of 3,000 rows"
                )
            }
        },
        rule(
            "delete.by-query-ignoring-case",
            "In a table whose ids ignore case, comparisons with the column `id` and the order by it ignore case"
                + " as well.",
            in: "Query",
            "Deletes by conditions on the id, and by a limit, where ids ignore case."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert(["B", "a", "C", "d"].map { Record(id: $0) }, table: "folding")
            try await store.delete(Query("folding").filtered(by: Column("id") == "b"))
            try await store.delete(Query("folding").limited(to: 1))
            trial.expectIDs(
                try await store.read(Query("folding")).records,
                ["C", "d"],
                "delete id 'b', then the first row"
            )
        },
        rule(
            "delete.then-insert",
            "Absent keys keep their columns, an explicit null clears.",
            in: "StoreWriteBackend/upsert(_:into:)",
            "Deletes a full row and inserts its id again with one value: nothing of the old row comes back."
        ) { trial in
            let store = try await trial.makeStore()
            var full = fullRow("a")
            full["undeclared"] = 5
            let row = full
            try await store.upsert([row], table: "items")
            try await store.deleteItems(withIDs: ["a"], table: "items")
            try await trial.expectStored([Record(id: "a", ["int": 1])], in: .items, store)
            try await store.write { transaction in
                try transaction.upsert([row], into: "items")
                try transaction.delete(Query("items"))
                try transaction.upsert([Record(id: "a", ["text": "new"])], into: "items")
            }
            let got = try await store.read(table: "items", itemID: "a")
            let expected = TableDefinition.items.filled(Record(id: "a", ["text": "new"]))
            trial.expectRow(got, expected, "upsert, delete and upsert 'a' in one transaction")
        },
        rule(
            "delete.random",
            "Deletes the rows that the query would give, its order, offset and limit included, and returns how many.",
            in: "StoreWriteBackend/delete(_:)",
            "Deletes by 60 random queries from random rows and holds what is left against QueryEvaluator."
        ) { trial in
            let store = try await trial.makeStore()
            var random = RandomRows(trial.random())
            var rows: [Record] = []
            for _ in 0..<60 {
                if rows.count < 20 {
                    rows = (0..<40).map { TableDefinition.items.filled(random.record(.string("\($0)"))) }
                    try await store.upsert(rows, table: "items")
                }
                let query = random.query(over: rows)
                let evaluator = QueryEvaluator(.items)
                let deleted = Set(try evaluator.evaluate(query, over: rows).map(\.id))
                rows.removeAll { deleted.contains($0.id) }
                let count = try await store.write { try $0.delete(query) }
                trial.expect(count, equals: deleted.count, "the number that deleting \(shown(query)) returns")
                let left = try evaluator.evaluate(Query("items"), over: rows)
                trial.expectIDs(try await store.read(Query("items")).records, left.map(\.id), "delete \(shown(query))")
            }
        },
    ]

    private static let cutQueries: [(Query, [RecordID])] = [
        (Query("items").limited(to: 1), ["b", "c", "d"]), (Query("items").limited(to: 0), ["a", "b", "c", "d"]),
        (Query("items").skipping(3), ["a", "b", "c"]), (Query("items").skipping(1).limited(to: 2), ["a", "d"]),
        (Query("items").ordered(by: "int", .descending).limited(to: 1), ["a", "b", "d"]),
        (Query("items").ordered(by: "int").limited(to: 1), ["a", "b", "c"]),
        (Query("items").filtered(by: Column("int") > 1).skipping(1).selecting(["text"]), ["a", "b", "d"]),
    ]

    /// Rows `a` to `d` with the numbers 1, 2, 3 and null.
    private static func fourRows(_ trial: StoreTrial) async throws -> any SyncContextDataSource {
        let store = try await trial.makeStore()
        let rows = ["a", "b", "c"].enumerated().map { Record(id: .string($1), ["int": .int64(Int64($0 + 1))]) }
        try await store.upsert(rows + [Record(id: "d")], table: "items")
        return store
    }
}
