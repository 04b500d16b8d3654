internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let computing: [StoreRule] = arithmetic + textFunctions + dateFunctions + bounds

    /// One row, and what conditions on it must say.
    private static func computed(
        _ id: String,
        _ sentence: String,
        in source: String,
        _ procedure: String,
        row: [String: FieldValue],
        true right: @escaping @Sendable () -> [QueryPredicate],
        false wrong: @escaping @Sendable () -> [QueryPredicate] = { [] }
    ) -> StoreRule {
        rule(id, sentence, in: source, procedure) { trial in
            let world = try await QueryWorld(trial, [Record(id: "row", row)])
            for predicate in right() { try await world.expect(predicate, ids: ["row"]) }
            for predicate in wrong() { try await world.expect(predicate, ids: []) }
        }
    }

    private static let arithmetic: [StoreRule] = [
        computed(
            "compute.whole-numbers",
            "Two whole numbers give a whole number; null when it does not fit 64 bits.",
            in: "QueryExpression",
            "Adds, subtracts, multiplies and divides whole numbers, up to the largest and beyond.",
            row: ["int": 7],
            true: {
                let int = Column("int")
                return [
                    int + 3 == 10, int - 10 == -3, int * 6 == 42, int / 2 == 3, (0 - int) / 2 == -3, int % 4 == 3,
                    (0 - int) % 4 == -3, int + .int64(.max - 7) == .int64(.max), int + .int64(.max) == .null,
                    int * .int64(.max) == .null, 3 - int == -4, 22 / int == 3, -int == -7,
                ]
            },
            false: { [Column("int") / 2 == 3.5, Column("int") + .int64(.max) < 0] }
        ),
        computed(
            "compute.division-by-zero",
            "The quotient of two numbers: of whole numbers without its fraction. Null for a division by zero.",
            in: "QueryOperator",
            "Divides numbers of all three types by zero, and the smallest number by -1, and takes the remainders.",
            row: ["int": 7, "double": 0.5, "decimal": .decimal("1.5")],
            true: {
                [
                    Column("int") / 0 == .null, Column("int") % 0 == .null, Column("double") / 0.0 == .null,
                    Column("decimal") / .decimal("0.0") == .null, (Column("int") - 7) / 0 == .null,
                    (Column("int") * 0 + .int64(.min)) / -1 == .null, (Column("int") * 0 + .int64(.min)) % -1 == 0,
                    Column("double") % 0.0 == .null, Column("decimal") % .decimal("0.0") == .null,
                ]
            }
        ),
        computed(
            "compute.doubles",
            "With a double on either side both count as doubles, rounded to the nearest, and the result is"
                + " rounded as IEEE 754"
                + " says; null when it is not finite.",
            in: "QueryExpression",
            "Computes with doubles, with doubles and whole numbers, and beyond the largest double; remainders have the sign of the"
                + " first number.",
            row: ["int": 3, "double": 0.1],
            true: {
                let double = Column("double")
                return [
                    double + 0.2 == 0.30000000000000004, double * 3 == 0.30000000000000004, double / 2 == 0.05,
                    Column("int") / 2.0 == 1.5, double * 1e308 * 100.0 == .null, Column("int") + 0.5 == 3.5,
                    double - double == 0.0, (Column("int") - 10) % 2.0 == -1.0, (Column("int") + 4) % -2.0 == 1.0,
                    (double - 5.1) % 1.5 == -0.5, (Column("int") - 4) % .double(.infinity) == -1.0,
                ]
            }
        ),
        computed(
            "compute.decimals",
            "Otherwise, with a decimal on either side, sum, difference, product and remainder are exact, and a"
                + " quotient is"
                + " rounded to 34 significant digits, half to even.",
            in: "QueryExpression",
            "Computes with decimals: 0.1 and 0.2 are 0.3, a third has 34 digits, and a half after them goes to the even one.",
            row: ["int": 3, "decimal": .decimal("0.1")],
            true: {
                let decimal = Column("decimal")
                return [
                    decimal + .decimal("0.2") == .decimal("0.3"), decimal * 3 == .decimal("0.3"),
                    .comparison(
                        .operation(.value(.decimal("1")), .divide, .column("int")),
                        .equal,
                        .value(.decimal("0.3333333333333333333333333333333333"))
                    ),
                    decimal - .decimal("0.0000000000000000000000000000000000000001")
                        == .decimal("0.0999999999999999999999999999999999999999"),
                    decimal % .decimal("0.03") == .decimal("0.01"), (-decimal) % .decimal("0.03") == .decimal("-0.01"),
                    decimal % .decimal("-0.03") == .decimal("0.01"),
                    .comparison(
                        .operation(.value(.decimal("1.0000000000000000000000000000000005")), .divide, .value(1)),
                        .equal,
                        .value(.decimal("1"))
                    ),
                    .comparison(
                        .operation(.value(.decimal("1.0000000000000000000000000000000015")), .divide, .value(1)),
                        .equal,
                        .value(.decimal("1.000000000000000000000000000000002"))
                    ),
                ]
            }
        ),
        computed(
            "compute.no-result",
            "What has no result is null: a null or a value of another kind as operand, a division by zero, a"
                + " number out of"
                + " range, a negative position.",
            in: "QueryExpression",
            "Computes with nulls, texts as numbers and numbers as texts.",
            row: ["int": 3, "text": "3", "date": .date(0)],
            true: {
                [
                    Column("double") + 1 == .null, Column("text") + 1 == .null, Column("int") + "1" == .null,
                    Column("int").length == .null, Column("text").year == .null, Column("date").floor == .null,
                    Column("text").appending(Column("int")) == .null, Column("int").position(of: "3") == .null,
                    Column("text").substring(from: -1) == .null, Column("text").substring(from: 0, count: -1) == .null,
                ]
            },
            false: { [Column("double") + 1 < 5, Column("text") + 1 > 0] }
        ),
        computed(
            "compute.rounding",
            "The nearest number without fraction, of the same type; a half goes away from zero.",
            in: "QueryFunction",
            "Rounds, floors and ceils numbers of all three types, halves and negative ones among them.",
            row: ["int": 3, "double": -2.5, "decimal": .decimal("2.5")],
            true: {
                [
                    Column("double").rounded == -3, Column("decimal").rounded == 3, Column("int").rounded == 3,
                    Column("double").floor == -3, Column("double").ceiling == -2, Column("decimal").floor == 2,
                    Column("decimal").ceiling == 3, (Column("decimal") - 1).rounded == 2,
                    (Column("double") * 0.0 + 0.49999999999999994).rounded == 0,
                ]
            }
        ),
    ]

    private static let textFunctions: [StoreRule] = [
        computed(
            "compute.length",
            "The number of Unicode scalars of a text.",
            in: "QueryFunction",
            "Takes the length of text with emoji, combining marks and U+0000.",
            row: ["text": "a😀e\u{301}\0b", "version": ""],
            true: { [Column("text").length == 6, Column("version").length == 0] }
        ),
        computed(
            "compute.trimmed",
            "Text without the spaces (U+0020) at its start and end. Other white space stays.",
            in: "QueryFunction",
            "Trims text with spaces, tabs and no-break spaces around it.",
            row: ["text": "  a b ", "version": "\t a\u{A0} "],
            true: { [Column("text").trimmed == "a b", Column("version").trimmed == "\t a\u{A0}"] }
        ),
        computed(
            "compute.substring",
            "The scalars of a text from a position on, as many as there are or as given.",
            in: "QueryExpression",
            "Takes parts of a text with an emoji and a combining mark, up to its end and beyond.",
            row: ["text": "a😀e\u{301}b"],
            true: {
                let text = Column("text")
                return [
                    text.substring(from: 1, count: 1) == "😀", text.substring(from: 2) == "e\u{301}b",
                    text.substring(from: 3, count: 99) == "\u{301}b", text.substring(from: 5) == "",
                    text.substring(from: 99, count: 1) == "", text.substring(from: 0, count: 0) == "",
                ]
            }
        ),
        computed(
            "compute.position",
            "The position in the first text where the second begins for the first time; -1 when it does not occur.",
            in: "QueryOperator",
            "Looks for the position of text behind an emoji, of the empty text, and of text that is not there.",
            row: ["text": "a😀ba\0b"],
            true: {
                let text = Column("text")
                return [
                    text.position(of: "b") == 2, text.position(of: "") == 0, text.position(of: "x") == -1,
                    text.position(of: "\0b") == 4, text.position(of: "A") == -1,
                ]
            }
        ),
        computed(
            "compute.concatenation",
            "The first text followed by the second; null when that has more than 16,777,216 bytes.",
            in: "QueryOperator",
            "Joins text with text, with the empty text, with a null, and one form of an accent from two parts.",
            row: ["text": "e", "version": "\u{301}"],
            true: {
                [
                    Column("text").appending("x") == "ex", Column("text").appending("") == "e",
                    Column("text").appending(Column("version")) == "e\u{301}",
                    Column("text").appending(Column("decimal")) == .null,
                ]
            },
            false: { [Column("text").appending(Column("version")) == "\u{E9}"] }
        ),
    ]

    private static let dateFunctions: [StoreRule] = [
        computed(
            "compute.date-parts",
            "Dates are taken apart in UTC and the Gregorian calendar, also before its introduction.",
            in: "QueryExpression",
            "Takes a leap day, an instant before 1970 and one before the Gregorian calendar apart.",
            row: [
                "date": .date(text: "2024-02-29T23:59:58.999Z"), "createdAt": .date(-1),
                "updatedAt": .date(-62_135_596_800_000),
            ],
            true: {
                let (date, before, first) = (Column("date"), Column("createdAt"), Column("updatedAt"))
                return [
                    date.year == 2024, date.month == 2, date.day == 29, date.hour == 23, date.minute == 59,
                    date.second == 58, before.year == 1969, before.month == 12, before.day == 31, before.hour == 23,
                    before.second == 59, first.year == 1, first.month == 1, first.day == 1, first.hour == 0,
                ]
            }
        )
    ]

    private static let bounds: [StoreRule] = [
        rule(
            "compute.depth",
            "It is nested at most 64 levels deep.",
            in: "QueryPredicate",
            "Nests conditions 64 levels deep, which works, and 65, which is refused; a chain of 2,000 is one level."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2]))
            func nested(_ levels: Int) -> QueryPredicate {
                (1..<levels)
                    .reduce(Column("int") == 1) { inner, level in
                        level % 2 == 0 ? .any([inner, .constant(false)]) : .all([inner, .constant(true)])
                    }
            }
            try await world.expect(nested(64), ids: ["0"])
            for levels in [65, 200] {
                let deep = Query("items").filtered(by: nested(levels))
                try await trial.expectError(.invalidQuery, from: "a query nested \(levels) levels deep") {
                    _ = try await world.store.read(deep)
                }
            }
            let chain = (0..<2_000).reduce(Column("int") == 1) { $0 || Column("int") == .int64(Int64($1 + 100)) }
            try await world.expect(chain, ids: ["0"])
        },
        rule(
            "compute.size",
            "It has at most 100,000 parts.",
            in: "QueryPredicate",
            "Asks with 20,000 conditions side by side, which works, and with 100,001, which is refused."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 30_000]))
            try await world.expect(.any((0..<20_000).map { Column("int") == .int64(Int64($0)) }), ids: ["0"])
            let large = Query("items").filtered(by: .any((0...100_000).map { Column("int") == .int64(Int64($0)) }))
            try await trial.expectError(.invalidQuery, from: "a query with 100,001 conditions") {
                _ = try await world.store.read(large)
            }
        },
        rule(
            "compute.expression-size",
            "The expressions of one comparison, match or list have at most 100 columns, values, functions and"
                + " operators together.",
            in: "QueryPredicate",
            "Compares expressions that have 100 parts together, which works, and 101 and more, which is refused."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2]))
            // The column, an operator and a value for each term, and what the sum is compared with.
            func sum(_ terms: Int, _ right: QueryExpression? = nil) -> QueryPredicate {
                let sum = (0..<terms)
                    .reduce(QueryExpression.column("int")) { inner, _ in
                        .operation(inner, .add, .value(1))
                    }
                return .comparison(sum, .equal, right ?? .value(.int64(Int64(terms) + 1)))
            }
            try await world.expect(sum(49), ids: ["0"])
            for predicate in [sum(49, .function(.floor, .value(50))), sum(200)] {
                let large = Query("items").filtered(by: predicate)
                try await trial.expectError(.invalidQuery, from: "a comparison with more than 100 parts") {
                    _ = try await world.store.read(large)
                }
            }
        },
    ]
}
