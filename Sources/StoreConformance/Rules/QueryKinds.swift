internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let kinds: [StoreRule] = [
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
            for column in ["double", "decimal", "int"] {
                for comparison: QueryComparison in [.less, .lessOrEqual, .greater, .greaterOrEqual] {
                    try await world.expect(.comparison(.column(column), comparison, .value(.double(.nan))), ids: [])
                    try await world.expect(.comparison(.value(.double(.nan)), comparison, .column(column)), ids: [])
                }
            }
            try await world.expect(Column("double").isAny(of: [.double(.nan), 0]), ids: ["2"])
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
            "Queries compare milliseconds only, in conditions and in orders, with an index and without.",
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
}
