internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let queries: [StoreRule] =
        comparisons + nulls + kinds + logic + [
            rule(
                "query.random",
                "The same query is evaluated in memory, compiled to SQL and printed as OData, with one meaning",
                in: "Query",
                "Runs 150 random queries over 60 random rows and compares rows, order and count with QueryEvaluator."
            ) { trial in
                var random = RandomRows(trial.random())
                let world = try await QueryWorld(trial, (0..<60).map { random.record(.string("\($0)")) })
                for _ in 0..<150 { try await world.expect(random.query(over: world.rows), alsoCounts: true) }
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
                for _ in 0..<80 { try await world.expect(random.query(over: world.rows), alsoCounts: true) }
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

    private static let comparisons: [StoreRule] = [
        ("equal", QueryComparison.equal, "The same value, or both null."),
        ("not-equal", .notEqual, "Not `equal`."), ("less", .less, "Smaller; false with a null."),
        ("less-or-equal", .lessOrEqual, "Smaller or the same; false with a null."),
        ("greater", .greater, "Larger; false with a null."),
        ("greater-or-equal", .greaterOrEqual, "Larger or the same; false with a null."),
    ]
    .map { name, comparison, sentence in
        rule(
            "query." + name,
            sentence,
            in: "QueryComparison",
            "Compares a column of every type with every value it holds, with null, and the other way round."
        ) { trial in
            for (column, values) in comparedValues {
                let world = try await QueryWorld(
                    trial,
                    QueryWorld.rows(column, values + [.null])
                )
                for value in values + [.null] {
                    try await world.expect(.comparison(.column(column), comparison, .value(value)))
                    try await world.expect(.comparison(.value(value), comparison, .column(column)))
                }
            }
        }
    }

    private static let comparedValues: [(String, [FieldValue])] = [
        ("bool", [false, true]), ("int", [-2, 0, 1, 10, 9]), ("double", [-0.5, 0.0, 0.1, 10.0, 9.0]),
        ("decimal", [.decimal("-0.5"), .decimal("1"), .decimal("10"), .decimal("9"), .decimal("1.00")]),
        ("text", ["", "a", "A", "b", "é"]), ("date", [.date(-1), .date(0), .date(1)]),
        ("bytes", [.bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([255])]), ("json", [.json("1"), .json("[]")]),
        ("version", ["1", "10", "9"]), ("deleted", [false, true]),
    ]

    private static let nulls: [StoreRule] = [
        rule(
            "query.null-equals-null",
            "A comparison with a null is false, except that null equals null and differs from anything else.",
            in: "Query",
            "Asks for rows whose text is null, and for those whose text is not."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", [.null, "", "null", "0"]))
            try await world.expect(Column("text") == .null, ids: ["0"])
            try await world.expect(Column("text") != .null, ids: ["1", "2", "3"])
        },
        rule(
            "query.null-differs-from-values",
            "A comparison with a null is false, except that null equals null and differs from anything else.",
            in: "Query",
            "Asks for rows whose number is not 1: the row with a null is among them."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [.null, 1, 2]))
            try await world.expect(Column("int") != 1, ids: ["0", "2"])
        },
        rule(
            "query.null-is-not-ordered",
            "A comparison with a null is false, except that null equals null and differs from anything else.",
            in: "Query",
            "Compares with less, greater and their likes where one side or both sides are null: never true."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [.null, 1, 2]))
            try await world.expect(Column("int") < 2, ids: ["1"])
            try await world.expect(Column("int") >= 1, ids: ["1", "2"])
            for comparison: QueryComparison in [.less, .lessOrEqual, .greater, .greaterOrEqual] {
                try await world.expect(.comparison(.column("int"), comparison, .value(.null)), ids: [])
                try await world.expect(.comparison(.value(.null), comparison, .value(.null)), ids: [])
            }
        },
        rule(
            "query.two-valued-logic",
            "Logic has two values.",
            in: "Query",
            "Negates comparisons that are false because of a null: the rows with nulls must appear."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [.null, 1, 2]))
            try await world.expect(!(Column("int") < 2), ids: ["0", "2"])
            try await world.expect(!(Column("int") == 1), ids: ["0", "2"])
            try await world.expect(!Column("text").contains("a"), ids: ["0", "1", "2"])
            try await world.expect(!(Column("int") < 2) && !(Column("int") > 1), ids: ["0"])
            try await world.expect(!(!(Column("int") < 2)), ids: ["1"])
            try await world.expect(!Column("int").isAny(of: [1]), ids: ["0", "2"])
        },
        rule(
            "query.null-columns-are-equal",
            "A comparison with a null is false, except that null equals null and differs from anything else.",
            in: "Query",
            "Compares two columns of one row of which one or both are null."
        ) { trial in
            let rows = [
                Record(id: "0"), Record(id: "1", ["int": 1]), Record(id: "2", ["int": 1, "double": 1.0]),
                Record(id: "3", ["double": 1.0]),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(.comparison(.column("int"), .equal, .column("double")), ids: ["0", "2"])
            try await world.expect(.comparison(.column("int"), .notEqual, .column("double")), ids: ["1", "3"])
            try await world.expect(.comparison(.column("int"), .lessOrEqual, .column("double")), ids: ["2"])
        },
    ]

    private static let kinds: [StoreRule] = [
        rule(
            "query.kinds-differ",
            "Values of different kinds are not equal and neither is less.",
            in: "Query",
            "Compares texts with numbers, truth values with numbers, dates with numbers, bytes with text, JSON"
                + " with text."
        ) { trial in
            let row = Record(
                id: "0",
                ["bool": true, "int": 1, "text": "1", "date": .date(1), "bytes": .bytes([49]), "json": .json("1")]
            )
            let world = try await QueryWorld(trial, [row])
            let values: [(String, [FieldValue])] = [
                ("bool", [1, "true", "1", 1.0]), ("int", [true, "1", .date(1), .bytes([49]), .json("1")]),
                ("text", [1, 1.0, .decimal("1"), .bytes([49]), .json("1"), true]), ("date", [1, 1.0, "1"]),
                ("bytes", ["1", 49, .json("1")]), ("json", ["1", 1, .bytes([49])]),
            ]
            for (column, others) in values {
                for other in others {
                    for comparison in QueryComparison.allCases {
                        try await world.expect(
                            .comparison(.column(column), comparison, .value(other)),
                            ids: comparison == .notEqual ? ["0"] : []
                        )
                    }
                }
            }
        },
        rule(
            "query.numbers-across-types",
            "Numbers of all three types compare numerically.",
            in: "Query",
            "Compares whole numbers, doubles and decimals with each other, as columns and as values."
        ) { trial in
            let row = Record(id: "0", ["int": 10, "double": 10.0, "decimal": .decimal("10.0")])
            let world = try await QueryWorld(trial, [row])
            for column in ["int", "double", "decimal"] {
                for ten: FieldValue in [10, 10.0, .decimal("1e1"), .decimal("10.00")] {
                    try await world.expect(Column(column) == ten, ids: ["0"])
                    try await world.expect(Column(column) < ten, ids: [])
                }
                for nine: FieldValue in [9, 9.5, .decimal("9.99")] {
                    try await world.expect(Column(column) > nine, ids: ["0"])
                }
            }
            try await world.expect(.comparison(.column("int"), .equal, .column("decimal")), ids: ["0"])
        },
        rule(
            "query.numbers-exact",
            "Numbers of all three types compare numerically.",
            in: "Query",
            "Compares numbers beyond 2⁵³ with each other: none may be rounded to a double first."
        ) { trial in
            let big = QueryWorld.rows("int", [.int64(1 << 53), .int64(1 << 53 + 1), .int64(.max), .int64(.max - 1)])
            let world = try await QueryWorld(trial, big)
            try await world.expect(Column("int") == .int64(1 << 53 + 1), ids: ["1"])
            try await world.expect(Column("int") == .double(9_007_199_254_740_992), ids: ["0"])
            try await world.expect(Column("int") > .double(9_007_199_254_740_992), ids: ["1", "2", "3"])
            try await world.expect(Column("int") == .decimal("9007199254740993.0"), ids: ["1"])
            try await world.expect(Column("int") == .int64(.max), ids: ["2"])
            try await world.expect(Column("int") < .double(9.223372036854775807e18), ids: ["0", "1", "2", "3"])
        },
        rule(
            "query.numbers-infinite",
            "An infinity lies beyond every other number, and a NaN compares with nothing.",
            in: "Query",
            "Compares infinities with the largest numbers of every type, and everything with a NaN."
        ) { trial in
            let rows = [
                Record(id: "0", ["double": .double(.infinity), "decimal": .decimal("1e400")]),
                Record(id: "1", ["double": .double(-.infinity), "decimal": .decimal("-1e400")]),
                Record(id: "2", ["double": 0.0]),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Column("double") > .decimal("1e400"), ids: ["0"])
            try await world.expect(Column("double") < .int64(.min), ids: ["1"])
            try await world.expect(Column("decimal") < .double(.infinity), ids: ["0", "1"])
            try await world.expect(Column("double") == .double(.nan), ids: [])
            try await world.expect(Column("double") != .double(.nan), ids: ["0", "1", "2"])
        },
        rule(
            "query.decimals",
            "`1.10` and `1.1` are different texts of the same number: `==` compares texts, queries compare numbers.",
            in: "DecimalText",
            "Looks for decimals by other texts of the same number, with exponents and with 40 digits."
        ) { trial in
            let texts = ["1.10", "1.1", "11e-1", "1.1000000000000000000000000000000000000001", "-0", "0", "2", "10"]
            let world = try await QueryWorld(trial, QueryWorld.rows("decimal", texts.map { .decimal($0) }))
            try await world.expect(Column("decimal") == .decimal("1.100"), ids: ["0", "1", "2"])
            try await world.expect(Column("decimal") > .decimal("1.1"), ids: ["3", "6", "7"])
            try await world.expect(Column("decimal") == .decimal("0.0"), ids: ["4", "5"])
            try await world.expect(Column("decimal") > .decimal("3"), ids: ["7"])
        },
        rule(
            "query.sign-of-zero",
            "Zero has no sign.",
            in: "Query",
            "Compares and orders 0.0 and -0.0, and the decimals 0 and -0.0: they are equal, so rows come by id."
        ) { trial in
            let rows = [(0.0, "-0.0"), (-0.0, "0"), (0.0, "0.00"), (-0.0, "-0")].enumerated()
                .map {
                    Record(
                        id: .string("\($0.offset)"),
                        ["double": .double($0.element.0), "decimal": .decimal($0.element.1)]
                    )
                }
            let world = try await QueryWorld(trial, rows)
            for column in ["double", "decimal"] {
                for zero: FieldValue in [0.0, -0.0, 0, .decimal("-0")] {
                    try await world.expect(Column(column) == zero, ids: ["0", "1", "2", "3"])
                    try await world.expect(Column(column).isAny(of: [zero]), ids: ["0", "1", "2", "3"])
                    try await world.expect(Column(column) < zero || Column(column) > zero, ids: [])
                }
                try await world.expect(Query("items").ordered(by: column), ids: ["0", "1", "2", "3"])
                try await world.expect(Query("items").ordered(by: column, .descending), ids: ["0", "1", "2", "3"])
            }
        },
        rule(
            "query.doubles-and-decimals",
            "A double counts as the shortest decimal text that reads back as it: 0.1 equals the decimal 0.1.",
            in: "Query",
            "Compares doubles that no binary fraction holds exactly with decimals, as columns and as values."
        ) { trial in
            let rows = [
                Record(id: "0", ["double": 0.1, "decimal": .decimal("0.1")]),
                Record(id: "1", ["double": 0.1, "decimal": .decimal("0.1000000000000000055511151231257827")]),
                Record(id: "2", ["double": 1e23, "decimal": .decimal("1e23")]),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Column("double") == .decimal("0.1"), ids: ["0", "1"])
            try await world.expect(Column("double") == .decimal("0.1000000000000000055511151231257827"), ids: [])
            try await world.expect(Column("decimal") == 0.1, ids: ["0"])
            try await world.expect(Column("decimal") == 1e23, ids: ["2"])
            try await world.expect(.comparison(.column("double"), .equal, .column("decimal")), ids: ["0", "2"])
            try await world.expect(.comparison(.column("double"), .less, .column("decimal")), ids: ["1"])
        },
        rule(
            "query.dates",
            "Dates compare by their milliseconds, bytes byte for byte, and JSON by the bytes of its text.",
            in: "Query",
            "Compares dates of the years 1, 1969, 1970 and 9999, and before and beyond: as instants, not as text, and in"
                + " no time zone but UTC."
        ) { trial in
            let dates: [FieldValue] = [
                .date(.min), .date(-62_135_596_800_001), .date(-62_135_596_800_000), .date(-1), .date(0), .date(999),
                .date(253_402_300_799_999), .date(253_402_300_800_000), .date(.max),
            ]
            let world = try await QueryWorld(trial, QueryWorld.rows("date", dates))
            for (index, date) in dates.enumerated() {
                try await world.expect(Column("date") < date, ids: (0..<index).map { .string("\($0)") })
                try await world.expect(Column("date") == date, ids: [.string("\(index)")])
                try await world.expect(Column("date") >= date, ids: (index..<dates.count).map { .string("\($0)") })
            }
            try await world.expect(Column("date") == .date(text: "1970-01-01T02:00:00.999+02:00"), ids: ["5"])
        },
        rule(
            "query.bytes-and-json",
            "Dates compare by their milliseconds, bytes byte for byte, and JSON by the bytes of its text.",
            in: "Query",
            "Compares bytes above and below 128 and of differing lengths, and JSON that differs in its text only."
        ) { trial in
            let bytes: [FieldValue] = [
                .bytes([]), .bytes([0]), .bytes([0, 0]), .bytes([1]), .bytes([127]), .bytes([128]),
            ]
            let world = try await QueryWorld(trial, QueryWorld.rows("bytes", bytes))
            for (index, value) in bytes.enumerated() {
                try await world.expect(Column("bytes") < value, ids: (0..<index).map { .string("\($0)") })
                try await world.expect(Column("bytes") == value, ids: [.string("\(index)")])
            }
            let texts = ["1", "1.0", "[1]", "[1 ]", "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1}"]
            let other = try await QueryWorld(trial, QueryWorld.rows("json", texts.map { .json($0) }))
            for (index, text) in texts.enumerated() {
                try await other.expect(Column("json") == .json(text), ids: [.string("\(index)")])
            }
            try await other.expect(Column("json") < .json("[1]"), ids: ["0", "1", "3"])
        },
        rule(
            "query.text-bytes",
            "Strings compare by their UTF-8 bytes, false comes before true",
            in: "Query",
            "Looks for texts that differ in case, in accents and in their form of one accent."
        ) { trial in
            let world = try await QueryWorld(
                trial,
                QueryWorld.rows("text", ["a", "A", "\u{E9}", "e\u{301}", "z", "\u{10000}", "\u{FFFF}"])
            )
            try await world.expect(Column("text") == "A", ids: ["1"])
            try await world.expect(Column("text") == "\u{E9}", ids: ["2"])
            try await world.expect(Column("text") < "a", ids: ["1"])
            try await world.expect(Column("text") > "z", ids: ["2", "5", "6"])
            // In UTF-16, U+10000 would come before U+FFFF.
            try await world.expect(Column("text") > "\u{FFFF}", ids: ["5"])
        },
        rule(
            "query.text-nul",
            "Text. Any Unicode scalar is allowed, U+0000 included.",
            in: "FieldValue",
            "Compares texts that differ only after a U+0000."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("text", ["a", "a\0", "a\0b", "a\0c"]))
            try await world.expect(Column("text") == "a", ids: ["0"])
            try await world.expect(Column("text") == "a\0b", ids: ["2"])
            try await world.expect(Column("text") > "a\0b", ids: ["3"])
            try await world.expect(Column("text").isAny(of: ["a\0c", "a"]), ids: ["0", "3"])
        },
        rule(
            "query.dates-milliseconds",
            "Queries compare milliseconds only.",
            in: "Timestamp",
            "Looks for a date that was written with more digits by its whole milliseconds, and the other way round."
        ) { trial in
            let finer = FieldValue.date(text: "2024-02-29T12:34:56.7891234Z")
            let whole = FieldValue.date(finer.dateValue?.milliseconds ?? 0)
            let world = try await QueryWorld(trial, QueryWorld.rows("date", [finer, whole]))
            try await world.expect(Column("date") == whole, ids: ["0", "1"])
            try await world.expect(Column("date") == finer, ids: ["0", "1"])
            try await world.expect(Column("date") > whole, ids: [])
        },
    ]

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
            "`invalidQuery` as `check(_:)` does.",
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
            "`tableNotFound`, and `invalidQuery` as `check(_:)` does.",
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
            in: "QueryEvaluator/check(_:)",
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
