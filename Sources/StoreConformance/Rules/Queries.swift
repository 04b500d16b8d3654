internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let queries: [StoreRule] =
        comparisons + nulls + kinds + sides + logic + [
            rule(
                "query.random",
                "The same query is evaluated in memory, compiled to SQL and printed as OData, with one meaning",
                in: "Query",
                "Runs 150 random queries over 60 random rows and compares rows, order and count with QueryEvaluator."
            ) { trial in
                var random = RandomRows(trial.random())
                let world = try await QueryWorld(trial, (0..<60).map { random.record(.string("\($0)")) })
                for _ in 0..<150 where try await !world.expectShrinking(random.query(over: world.rows)) { return }
            },
            rule(
                "query.random-folding",
                "Ignoring the case of the letters A to Z; the newest casing is the one stored.",
                in: "IDComparison",
                "Runs 80 random queries over a table whose ids ignore case and compares with QueryEvaluator."
            ) { trial in
                var random = RandomRows(trial.random(), .folding)
                let rows = (0..<40).map { random.record(.string($0 % 2 == 0 ? "A\($0)" : "a\($0)")) }
                let world = try await QueryWorld(trial, rows, in: .folding)
                for _ in 0..<80 where try await !world.expectShrinking(random.query(over: world.rows)) { return }
            },
        ]

    /// Reports a query that may name an undeclared key.
    private static let expectNotQueryable: StoreRule.Body = { trial in
        let store = try await trial.makeStore()
        try await store.upsert([Record(id: "a", ["extra": 1])], table: "items")
        let query = Query("items")
        for wrong in [
            query.filtered(by: Column("extra") == 1), query.ordered(by: "extra"), query.selecting(["extra"]),
        ] {
            try await trial.expectError(.invalidQuery, from: "query \(shown(wrong)) with a value under 'extra'") {
                _ = try await store.read(wrong)
            }
        }
    }

    private static let logic: [StoreRule] = [
        rule(
            "query.marked-as-deleted",
            "it sets none by itself, and a row marked as deleted is a row.",
            in: "SystemProperties",
            "Marks rows as deleted: reads by id, queries and counts give them like all others."
        ) { trial in
            let rows = [
                Record(id: "0", ["deleted": true, "int": 1]), Record(id: "1", ["deleted": false, "int": 1]),
                Record(id: "2", ["int": 1]),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Query("items"), ids: ["0", "1", "2"])
            try await world.expect(Column("int") == 1, ids: ["0", "1", "2"])
            try await world.expect(Column("deleted") == true, ids: ["0"])
            try await world.expect(Column("deleted") != true, ids: ["1", "2"])
            let row = try await world.store.read(table: "items", itemID: "0")
            trial.expectRow(row, world.rows[0], "read a row marked as deleted by its id")
        },
        rule(
            "query.all",
            "Whether all hold; true for an empty list.",
            in: "QueryPredicate",
            "Joins conditions with 'all': three, one, and none."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2, 3]))
            try await world.expect(.all([]), ids: ["0", "1", "2"])
            try await world.expect(.all([Column("int") > 1]), ids: ["1", "2"])
            try await world.expect(.all([Column("int") > 1, Column("int") < 3, Column("text") == .null]), ids: ["1"])
        },
        rule(
            "query.any",
            "Whether one holds at least; false for an empty list.",
            in: "QueryPredicate",
            "Joins conditions with 'any': three, one, and none."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2, 3]))
            try await world.expect(.any([]), ids: [])
            try await world.expect(.any([Column("int") > 2]), ids: ["2"])
            try await world.expect(.any([Column("int") == 1, Column("int") == 3]), ids: ["0", "2"])
        },
        rule(
            "query.constant",
            "Always or never true.",
            in: "QueryPredicate",
            "Filters by a constant, alone and inside other conditions."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2]))
            try await world.expect(.constant(true), ids: ["0", "1"])
            try await world.expect(.constant(false), ids: [])
            try await world.expect(.constant(false) || Column("int") == 1, ids: ["0"])
            try await world.expect(!.constant(false) && Column("int") == 1, ids: ["0"])
        },
        rule(
            "query.precedence",
            "A condition on a row: a tree whose leaves compare expressions.",
            in: "QueryPredicate",
            "Mixes 'and', 'or' and 'not' so that a tree read without its brackets gives other rows."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2, 3, 4]))
            try await world.expect((Column("int") == 1 || Column("int") == 2) && Column("int") > 1, ids: ["1"])
            try await world.expect(Column("int") == 1 || (Column("int") == 2 && Column("int") > 5), ids: ["0"])
            try await world.expect(!(Column("int") == 1 || Column("int") == 2), ids: ["2", "3"])
            try await world.expect(!(Column("int") == 1) && Column("int") == 2, ids: ["1"])
        },
        rule(
            "query.deep-tree",
            "A condition on a row: a tree whose leaves compare expressions.",
            in: "QueryPredicate",
            "Nests a condition 60 levels deep and joins 200 conditions side by side."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2, 3]))
            var deep = Column("int") == 2
            for level in 0..<30 { deep = level % 2 == 0 ? !(!deep) : .all([deep]) }
            try await world.expect(deep, ids: ["1"])
            try await world.expect(.any((0..<200).map { Column("int") == .int64($0 * 3) }), ids: ["2"])
        },
        rule(
            "query.id-column",
            "The value of a column, `id` included.",
            in: "QueryExpression",
            "Compares the id with texts, in a table with exact ids."
        ) { trial in
            let world = try await QueryWorld(trial, [Record(id: "a"), Record(id: "A"), Record(id: "b")])
            try await world.expect(Column("id") == "a", ids: ["a"])
            try await world.expect(Column("id") >= "a", ids: ["a", "b"])
            try await world.expect(Column("id").isAny(of: ["b", "A", "x"]), ids: ["A", "b"])
            try await world.expect(Column("id") != .null, ids: ["A", "a", "b"])
        },
        rule(
            "query.id-ignoring-case",
            "In a table whose ids ignore case, comparisons with the column `id` and the order by it ignore case"
                + " as well.",
            in: "Query",
            "Compares the id with texts of another casing, with 'equal', 'not equal', 'any of', and with an order."
        ) { trial in
            let rows = [Record(id: "B"), Record(id: "a"), Record(id: "C")]
            let world = try await QueryWorld(trial, rows, in: .folding)
            try await world.expect(Column("id") == "A", ids: ["a"])
            try await world.expect(Column("id") == "b", ids: ["B"])
            try await world.expect(Column("id") != "b", ids: ["a", "C"])
            try await world.expect(Column("id").isAny(of: ["c", "A"]), ids: ["a", "C"])
            try await world.expect(Column("id") > "A", ids: ["B", "C"])
            try await world.expect(Query("folding"), ids: ["a", "B", "C"])
        },
        rule(
            "query.undeclared-column",
            "`invalidQuery` as `validate(for:)` does.",
            in: "StoreReadBackend/forEach(_:_:)",
            "Names an undeclared column in the condition, deep inside it, in the order and in the selection."
        ) { trial in
            let store = try await trial.makeStore()
            let query = Query("items")
            let wrong = [
                query.filtered(by: Column("absent") == 1), query.filtered(by: Column("Int") == 1),
                query.filtered(by: .any([.constant(true), !(Column("int") == 1 && Column("absent").contains("a"))])),
                query.filtered(by: .isAnyOf(.lowercased(.column("absent")), [])), query.ordered(by: "absent"),
                query.selecting(["int", "absent"]), query.limited(to: 0).ordered(by: "absent"),
                query.filtered(by: Column("int\" OR 1=1 --") == 1),
            ]
            for query in wrong {
                try await trial.expectError(.invalidQuery, from: "query \(shown(query))") {
                    _ = try await store.read(query)
                }
            }
        },
        rule(
            "query.undeclared-column-count",
            "Refuses a query as `forEach(_:_:)` does.",
            in: "StoreReadBackend/count(_:)",
            "Counts and deletes with conditions that name an undeclared column, and counts with what a walk refuses."
        ) { trial in
            let store = try await trial.makeStore()
            for refused in [
                Query("items").limited(to: -1), Query("items").ordered(by: "absent"),
                Query("items").selecting(["absent"]),
            ] {
                try await trial.expectError(.invalidQuery, from: "count \(shown(refused))") {
                    _ = try await store.read { try $0.count(refused) }
                }
            }
            let wrong = Query("items").filtered(by: Column("absent") == 1)
            try await trial.expectError(.invalidQuery, from: "count \(shown(wrong))") {
                _ = try await store.read { try $0.count(wrong) }
            }
            try await trial.expectError(.invalidQuery, from: "delete \(shown(wrong))") { try await store.delete(wrong) }
        },
        rule(
            "query.undeclared-key-not-queryable",
            "Values under undeclared keys are kept and come back in reads without a selection; no query can name them.",
            in: "StoreCapabilities",
            "Writes a value under an undeclared key and then names the key in a condition, an order and a selection.",
            needs: "unknownColumns",
            otherwise: ("An undeclared key is dropped, and no query can name it.", expectNotQueryable)
        ) { trial in try await expectNotQueryable(trial) },
        rule(
            "query.unknown-table",
            "`tableNotFound`, and `invalidQuery` as `validate(for:)` does.",
            in: "StoreReadBackend/forEach(_:_:)",
            "Queries and counts a table that is not declared: an error, not an empty result."
        ) { trial in
            let store = try await trial.makeStore()
            try await trial.expectError(.tableNotFound, from: "query the table 'absent'") {
                _ = try await store.read(Query("absent"))
            }
            try await trial.expectError(.tableNotFound, from: "count the table 'absent'") {
                _ = try await store.read { try $0.count(Query("absent")) }
            }
        },
        rule(
            "query.negative-numbers",
            "Refuses a query that names an undeclared column, has a negative limit or offset, or a predicate beyond the"
                + " bounds said at `QueryPredicate`.",
            in: "Query/validate(for:)",
            "Queries with a negative limit and with a negative offset."
        ) { trial in
            let store = try await trial.makeStore()
            for query in [
                Query("items").limited(to: -1), Query("items").skipping(-1), Query("items").limited(to: .min),
            ] {
                try await trial.expectError(.invalidQuery, from: "query \(shown(query))") {
                    _ = try await store.read(query)
                }
            }
        },
    ]
}
