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
            "Divides numbers of all three types by zero, and takes the remainder; and the smallest number by -1.",
            row: ["int": 7, "double": 0.5, "decimal": .decimal("1.5")],
            true: {
                [
                    Column("int") / 0 == .null, Column("int") % 0 == .null, Column("double") / 0.0 == .null,
                    Column("decimal") / .decimal("0.0") == .null, (Column("int") - 7) / 0 == .null,
                    (Column("int") * 0 + .int64(.min)) / -1 == .null,
                ]
            }
        ),
        computed(
            "compute.doubles",
            "With a double on either side both count as doubles, rounded to the nearest, and the result is"
                + " rounded as IEEE 754"
                + " says; null when it is not finite.",
            in: "QueryExpression",
            "Computes with doubles, with doubles and whole numbers, and beyond the largest double.",
            row: ["int": 3, "double": 0.1],
            true: {
                let double = Column("double")
                return [
                    double + 0.2 == 0.30000000000000004, double * 3 == 0.30000000000000004, double / 2 == 0.05,
                    Column("int") / 2.0 == 1.5, double * 1e308 * 100.0 == .null, Column("int") + 0.5 == 3.5,
                    double - double == 0.0,
                ]
            }
        ),
        computed(
            "compute.decimals",
            "Otherwise, with a decimal on either side, sum, difference, product and remainder are exact, and a"
                + " quotient is"
                + " rounded to 34 significant digits, half to even.",
            in: "QueryExpression",
            "Computes with decimals: 0.1 and 0.2 are 0.3, and a third has 34 digits.",
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
                    decimal % .decimal("0.03") == .decimal("0.01"),
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
            "Nests conditions 50 levels deep, which works, and 200, which is refused; a chain of 2,000 is one level."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2]))
            func nested(_ levels: Int) -> QueryPredicate {
                (0..<levels)
                    .reduce(Column("int") == 1) { inner, level in
                        level % 2 == 0 ? .any([inner, .constant(false)]) : .all([inner, .constant(true)])
                    }
            }
            try await world.expect(nested(50), ids: ["0"])
            let deep = Query("items").filtered(by: nested(200))
            try await trial.expectError(.invalidQuery, from: "a query nested 200 levels deep") {
                _ = try await world.store.read(deep)
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
            "Compares an expression with 40 operators, which works, and one with 200, which is refused."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", [1, 2]))
            func sum(_ terms: Int) -> QueryPredicate {
                let sum = (0..<terms)
                    .reduce(QueryExpression.column("int")) { inner, _ in
                        .operation(inner, .add, .value(1))
                    }
                return .comparison(sum, .equal, .value(.int64(Int64(terms) + 1)))
            }
            try await world.expect(sum(40), ids: ["0"])
            let large = Query("items").filtered(by: sum(200))
            try await trial.expectError(.invalidQuery, from: "a comparison with 200 operators") {
                _ = try await world.store.read(large)
            }
        },
    ]

    static let searching: [StoreRule] = [
        rule(
            "search.folded-comparison",
            "Text without differences of case, accents and the like",
            in: "QueryFunction",
            "Compares folded text: case, accents, widths and ligatures do not count."
        ) { trial in
            let texts: [FieldValue] = ["Łódź", "lodz", "STRASSE", "straße", "ﬁn", "e\u{301}", "\u{C9}", .null, "ＡＢＣ"]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            try await world.expect(Column("text").folded == "LODZ", ids: ["0", "1"])
            try await world.expect(Column("text").folded == "Straße", ids: ["2", "3"])
            try await world.expect(Column("text").folded == "fin", ids: ["4"])
            try await world.expect(Column("text").folded == "e", ids: ["5", "6"])
            try await world.expect(Column("text").folded == "abc", ids: ["8"])
            try await world.expect(Column("text").folded == .null, ids: ["7"])
            try await world.expect(Column("int").folded == .null, ids: (0..<9).map { .string("\($0)") })
        },
        rule(
            "search.folded-match",
            "Values it is compared with and texts looked for in it are folded as well",
            in: "QueryTerm",
            "Looks for folded text at the start, at the end and anywhere in folded text."
        ) { trial in
            let world = try await QueryWorld(
                trial,
                QueryWorld.rows("text", ["Hauptstraße", "hauptSTRASSE", "Straßen", "Haupt"])
            )
            try await world.expect(Column("text").folded.contains("STRASSE"), ids: ["0", "1", "2"])
            try await world.expect(Column("text").folded.starts(with: "háupt"), ids: ["0", "1", "3"])
            try await world.expect(Column("text").folded.ends(with: "straße"), ids: ["0", "1"])
        },
        rule(
            "search.words",
            "Whether all words of a text are found in one or several columns, in any order.",
            in: "QueryPredicate",
            "Looks for words in one column and in two, as beginnings and as whole words, and for a text without words."
        ) { trial in
            let rows = [
                Record(id: "0", ["text": "Fresh milk and bread", "version": "Monday"]),
                Record(id: "1", ["text": "MÍLKSHAKE", "version": "fresh"]),
                Record(id: "2", ["text": "bread-and-butter"]),
                Record(id: "3"),
            ]
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Column("text").matches(words: "milk"), ids: ["0", "1"])
            try await world.expect(Column("text").matches(words: "milk", .wholeWords), ids: ["0"])
            try await world.expect(Column("text").matches(words: "bread, fresh!"), ids: ["0"])
            try await world.expect(Column("text").matches(words: "ilk"), ids: [])
            try await world.expect(.matches(words: "milk fresh", in: ["text", "version"]), ids: ["0", "1"])
            try await world.expect(Column("text").matches(words: " - "), ids: ["0", "1", "2", "3"])
            try await world.expect(!Column("text").matches(words: "bread"), ids: ["1", "3"])
        },
        rule(
            "search.folded-order",
            "Texts that fold to the same are equal for this entry.",
            in: "Query",
            "Orders text folded, both ways, with equal texts and nulls in it; ties come by id."
        ) { trial in
            let texts: [FieldValue] = ["b", "B", "á", "A", "z", "Ä", .null, "ab"]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            let query = Query("items")
            try await world.expect(
                query.ordered(by: "text", folded: true),
                ids: ["6", "2", "3", "5", "7", "0", "1", "4"]
            )
            try await world.expect(
                query.ordered(by: "text", .descending, folded: true),
                ids: ["4", "0", "1", "7", "2", "3", "5", "6"]
            )
            try await trial.expectError(.invalidQuery, from: "order the column 'int' folded") {
                _ = try await world.store.read(query.ordered(by: "int", folded: true))
            }
        },
        rule(
            "search.index-changes-nothing",
            "without it all this means the same and goes through all rows.",
            in: "ColumnDefinition",
            "Merges and deletes random texts in a searchable column, and after each round searches it in every way."
        ) { trial in
            let table = TableDefinition(
                "notes",
                columns: [.init("text", .string, isSearchable: true), .init("other", .string, isSearchable: true)]
            )
            let store = try await trial.makeStore([table])
            var random = trial.random()
            let words = [
                "milk", "MILK", "Straße", "strasse", "Łódź", "日本語", "日本", "a", "ab", "fin", "ﬁn", "", "-", "é",
            ]
            var model: [RecordID: Record] = [:]
            for round in 0..<8 {
                for _ in 0..<15 {
                    let id = RecordID.string("\(Int.random(in: 0..<30, using: &random))")
                    if random.chance(20) {
                        model[id] = nil
                        try await store.deleteItems(withIDs: [id], table: "notes")
                        continue
                    }
                    let text = (0..<Int.random(in: 0...4, using: &random)).map { _ in random.pick(words) }
                        .joined(separator: " ")
                    let value: FieldValue = random.chance(10) ? .null : .string(text)
                    let record = Record(id: id, [random.chance(50) ? "text" : "other": value])
                    model[id, default: table.filled(Record(id: id))].merge(record)
                    try await store.upsert([record], table: "notes")
                }
                for word in words {
                    let query = Query("notes")
                    for query in [
                        query.filtered(by: Column("text").matches(words: word)),
                        query.filtered(by: .matches(words: word + " a", in: ["text", "other"], .wholeWords)),
                        query.filtered(by: Column("text").folded == .string(word)).ordered(by: "other", folded: true),
                        query.filtered(by: Column("other").folded.starts(with: word))
                            .ordered(by: "text", .descending, folded: true),
                    ] {
                        let expected = try QueryEvaluator(table).evaluate(query, over: model.values)
                        let got = try await store.read(query).records
                        trial.expectRows(got, expected, "round \(round): query \(shown(query)) of searchable columns")
                    }
                }
            }
        },
    ]
}
