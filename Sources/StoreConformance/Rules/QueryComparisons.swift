internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let comparisons: [StoreRule] = [
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
        (
            "decimal",
            [.decimal("-0.5"), .decimal("1"), .decimal("10"), .decimal("9"), .decimal("1.00"), .decimal("1e+1")]
        ),
        ("text", ["", "a", "A", "b", "é"]), ("date", [.date(-1), .date(0), .date(1)]),
        ("bytes", [.bytes([]), .bytes([0]), .bytes([0, 1]), .bytes([255])]), ("json", [.json("1"), .json("[]")]),
        ("version", ["1", "10", "9"]), ("deleted", [false, true]),
    ]

    static let nulls: [StoreRule] = [
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
}
