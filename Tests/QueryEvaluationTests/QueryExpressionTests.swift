import QueryEvaluation
import SyncContract
import Testing

@Suite("What expressions compute")
struct QueryExpressionTests {
    private static func decimal(_ text: String) -> FieldValue { .decimal(DecimalText(text)!) }

    private static func date(_ text: String) -> FieldValue { .date(Timestamp(text)!) }

    /// Compares as queries do: null with null, numbers by what they are, and the type as well.
    private func expect(_ expression: QueryExpression, _ expected: FieldValue) {
        let value = expression.value { _ in .null }
        let isSame = value.isNull ? expected.isNull : value.compare(with: expected) == 0
        #expect(isSame && Self.type(value) == Self.type(expected), "\(expression) is \(value), not \(expected)")
    }

    private static func type(_ value: FieldValue) -> String { String("\(value)".prefix { $0 != "(" }) }

    @Test(
        "operators",
        arguments: [
            // Whole numbers: exact, or null.
            (7, .add, 2, 9), (7, .subtract, 9, -2), (7, .multiply, -3, -21), (7, .divide, 2, 3), (-7, .divide, 2, -3),
            (7, .remainder, 3, 1), (-7, .remainder, 3, -1), (7, .remainder, -3, 1), (.int64(.max), .add, 1, .null),
            (.int64(.min), .subtract, 1, .null), (.int64(.max), .multiply, 2, .null),
            (.int64(.min), .divide, -1, .null), (.int64(.min), .remainder, -1, 0), (1, .divide, 0, .null),
            (1, .remainder, 0, .null), (.int64(.max), .add, .int64(.min), -1),
            // Doubles: as IEEE 754 rounds, or null.
            (0.1, .add, 0.2, 0.30000000000000004), (7, .divide, 2.0, 3.5), (7.5, .remainder, 2, 1.5),
            (-7.5, .remainder, 2, -1.5), (1e308, .multiply, 10.0, .null), (1.0, .divide, 0.0, .null),
            (0.0, .divide, 0, .null), (1.0, .remainder, 0.0, .null), (.double(.infinity), .add, 1, .null),
            (1.0, .divide, .double(.infinity), 0.0), (5.0, .remainder, .double(.infinity), 5.0),
            (.double(.nan), .add, 1, .null), (.int64(.max), .add, 0.0, 9.223372036854775807e18),
            (0.5, .add, decimal("0.1"), 0.6), (decimal("1e400"), .add, 0.5, .null),
            (decimal("1e-400"), .add, 0.5, 0.5),
            // Decimals: exact, quotients to 34 digits.
            (decimal("0.1"), .add, decimal("0.2"), decimal("0.3")), (1, .add, decimal("0.50"), decimal("1.5")),
            (decimal("-1.5"), .subtract, decimal("-1.5"), decimal("0")),
            (decimal("1"), .subtract, decimal("1.25"), decimal("-0.25")),
            (decimal("999"), .add, decimal("0.001"), decimal("999.001")),
            (.int64(.max), .add, decimal("1"), decimal("9223372036854775808")),
            (decimal("1.1"), .multiply, decimal("-1.1"), decimal("-1.21")),
            (decimal("0"), .multiply, decimal("-5"), decimal("0")),
            (decimal("1e50"), .multiply, decimal("1e49"), decimal("1e99")),
            (decimal("1"), .divide, decimal("8"), decimal("0.125")),
            (decimal("1"), .divide, 3, decimal("0.3333333333333333333333333333333333")),
            (decimal("2"), .divide, 3, decimal("0.6666666666666666666666666666666667")),
            (decimal("-200"), .divide, decimal("0.3"), decimal("-666.6666666666666666666666666666667")),
            // 35 digits and nothing behind them: half to even, in both directions, and with a carry.
            (decimal("10000000000000000000000000000000005"), .divide, 1, decimal("1e34")),
            (
                decimal("10000000000000000000000000000000015"), .divide, 1,
                decimal("10000000000000000000000000000000020")
            ),
            (
                decimal("10000000000000000000000000000000005.1"), .divide, 1,
                decimal("10000000000000000000000000000000010")
            ),
            (decimal("99999999999999999999999999999999996"), .divide, 1, decimal("1e35")),
            (decimal("0"), .divide, 7, decimal("0")), (decimal("1"), .divide, 0, .null),
            (decimal("7.5"), .remainder, 2, decimal("1.5")), (decimal("-7.5"), .remainder, 2, decimal("-1.5")),
            (decimal("1e99"), .remainder, 7, decimal("6")), (decimal("1"), .remainder, decimal("0.0"), .null),
            (decimal("0.3"), .remainder, decimal("0.1"), decimal("0")),
            // The bound: 100 places on either side.
            (
                decimal("1e99"), .add, decimal("1e-100"),
                decimal("1" + String(repeating: "0", count: 99) + "." + String(repeating: "0", count: 99) + "1")
            ),
            (decimal("1e100"), .add, 1, .null), (decimal("1e-101"), .add, 1, .null),
            (decimal("9e99"), .add, decimal("9e99"), .null),
            (decimal("1e60"), .multiply, decimal("1e40"), .null),
            (decimal("1e-60"), .multiply, decimal("1e-41"), .null),
            (decimal("1e-90"), .divide, decimal("1e20"), .null), (decimal("1e-90"), .divide, 3, .null),
            (decimal("1e99999999999999999999"), .multiply, 0, .null),
            (decimal("0e99999999999999999999"), .add, 1, decimal("1")),
            // Other kinds, and nulls.
            (1, .add, .null, .null), (.null, .multiply, 0, .null), (.null, .add, 1.5, .null), ("1", .add, 1, .null),
            (true, .add, 1, .null), (date("2024-01-01T00:00:00Z"), .subtract, 1, .null), ("a", .add, "b", .null),
            // Text.
            ("a", .concatenate, "b", "ab"), ("", .concatenate, "", ""), ("e", .concatenate, "\u{301}", "e\u{301}"),
            ("a", .concatenate, .null, .null), ("a", .concatenate, 1, .null), ("abcbc", .position, "bc", 1),
            ("abc", .position, "x", -1), ("abc", .position, "", 0), ("", .position, "", 0), ("", .position, "a", -1),
            ("😀é😀b", .position, "b", 3), ("e\u{301}x", .position, "\u{301}", 1), ("é", .position, "e", -1),
            ("a\0b", .position, "\0", 1), ("a", .position, .null, .null), (1, .position, "1", .null),
        ] as [(FieldValue, QueryOperator, FieldValue, FieldValue)]
    )
    func operators(_ left: FieldValue, _ symbol: QueryOperator, _ right: FieldValue, _ expected: FieldValue) {
        expect(.operation(.value(left), symbol, .value(right)), expected)
    }

    @Test(
        "functions",
        arguments: [
            (.lowercased, "AbÉß\u{130}", "abÉß\u{130}"), (.uppercased, "aBé", "ABé"), (.lowercased, 1, .null),
            (.trimmed, "  a b  ", "a b"), (.trimmed, "    ", ""), (.trimmed, "\t a\u{A0}", "\t a\u{A0}"),
            (.trimmed, " \u{301}", "\u{301}"), (.trimmed, 5, .null), (.length, "", 0), (.length, "a\0b", 3),
            (.length, "e\u{301}😀", 3), (.length, "👩‍👩‍👧", 5), (.length, .bytes([1]), .null), (.length, .null, .null),
            (.rounded, 2.5, 3.0), (.rounded, -2.5, -3.0), (.rounded, 0.49999999999999994, 0.0), (.floor, -0.5, -1.0),
            (.ceiling, -0.5, 0.0), (.floor, 7, 7), (.rounded, .int64(.min), .int64(.min)),
            (.floor, .double(.infinity), .double(.infinity)), (.floor, .double(.nan), .null),
            (.rounded, decimal("2.5"), decimal("3")), (.rounded, decimal("-2.5"), decimal("-3")),
            (.rounded, decimal("2.4999"), decimal("2")), (.rounded, decimal("0.5"), decimal("1")),
            (.rounded, decimal("0.05"), decimal("0")), (.floor, decimal("-0.001"), decimal("-1")),
            (.ceiling, decimal("-0.001"), decimal("0")), (.ceiling, decimal("99.1"), decimal("100")),
            (.floor, decimal("1e50"), decimal("1e50")), (.floor, decimal("1e400"), .null),
            (.ceiling, decimal("1e-400"), .null), (.rounded, "1.5", .null), (.rounded, true, .null),
            (.year, date("2024-02-29T23:59:59.999Z"), 2024), (.month, date("2024-02-29T23:59:59.999Z"), 2),
            (.day, date("2024-02-29T23:59:59.999Z"), 29), (.hour, date("2024-02-29T23:58:57.999Z"), 23),
            (.minute, date("2024-02-29T23:58:57.999Z"), 58), (.second, date("2024-02-29T23:58:57.999Z"), 57),
            (.hour, date("2024-01-01T00:30:00+02:00"), 22), (.year, date("2024-01-01T00:30:00+02:00"), 2023),
            (.second, date("1969-12-31T23:59:59.001Z"), 59), (.day, date("1900-03-01T00:00:00Z"), 1),
            (.year, date("0001-01-01T00:00:00Z"), 1), (.year, .date(Timestamp(milliseconds: -62_135_596_800_001)), 0),
            (.year, .date(Timestamp(milliseconds: .min)), -292_275_055),
            (.year, .date(Timestamp(milliseconds: .max)), 292_278_994), (.year, "2024-02-29T23:59:59Z", .null),
            (.year, 2024, .null), (.day, .null, .null),
        ] as [(QueryFunction, FieldValue, FieldValue)]
    )
    func functions(_ function: QueryFunction, _ operand: FieldValue, _ expected: FieldValue) {
        expect(.function(function, .value(operand)), expected)
    }

    @Test(
        "parts of texts",
        arguments: [
            ("abc", 1, nil, "bc"), ("abc", 0, nil, "abc"), ("abc", 3, nil, ""), ("abc", 99, nil, ""),
            ("abc", -1, nil, .null), ("abc", 1, 1, "b"), ("abc", 1, 99, "bc"), ("abc", 1, 0, ""), ("abc", 1, -1, .null),
            ("abc", .int64(.max), .int64(.max), ""), ("abc", .int64(.min), nil, .null), ("😀é😀", 1, 1, "é"),
            ("e\u{301}x", 1, nil, "\u{301}x"), ("abc", 1.0, nil, .null), ("abc", .null, nil, .null),
            ("abc", 1, .some(.null), .null), ("abc", 1, .some("1"), .null), (.null, 1, nil, .null), (5, 0, nil, .null),
            ("", 0, 1, ""),
        ] as [(FieldValue, FieldValue, FieldValue?, FieldValue)]
    )
    func substrings(_ text: FieldValue, _ start: FieldValue, _ count: FieldValue?, _ expected: FieldValue) {
        expect(.substring(.value(text), from: .value(start), count: count.map { .value($0) }), expected)
    }

    @Test("a text that would be too long is null, so that doubling it again and again ends")
    func longTexts() {
        let half = String(repeating: "x", count: 8_388_608)
        expect(.function(.length, .operation(.value(.string(half)), .concatenate, .value(.string(half)))), 16_777_216)
        expect(.operation(.value(.string(half + "y")), .concatenate, .value(.string(half))), .null)
    }

    @Test("predicates are written with operators, and read as they are written")
    func surface() throws {
        let table = TableDefinition(
            "t",
            columns: [
                .init("price", .decimal), .init("count", .int64), .init("text", .string), .init("note", .string),
                .init("due", .date),
            ]
        )
        let row = Record(
            id: "1",
            [
                "price": Self.decimal("9.95"), "count": 3, "text": "  Milk ", "note": "buy milk",
                "due": Self.date("2026-03-01T10:20:30Z"),
            ]
        )
        let predicates: [QueryPredicate] = [
            Column("price") * 2 > 10, Column("price") * Column("count") == .decimal(DecimalText("29.85")!),
            2 * Column("count") + 1 == 7, 10 - Column("count") == 7, 7 / Column("count") == 2, 7 % Column("count") == 1,
            -Column("count") == -3, -(Column("count") + 1) == -4, Column("count") + Column("count") <= 6,
            Column("count") - 3 == 0, Column("count") / 2 == 1, Column("count") % 2 == 1, Column("price").rounded == 10,
            Column("price").floor == 9, Column("price").ceiling == 10, Column("text").trimmed.length == 4,
            Column("text").length == Column("text").trimmed.length + 3, Column("text").lowercased.trimmed == "milk",
            Column("text").uppercased == "  MILK ", Column("text").trimmed.appending("!") == "Milk!",
            Column("text").appending(Column("note")).contains("buy"), Column("note").position(of: "milk") == 4,
            Column("note").position(of: Column("text").trimmed.lowercased) == 4,
            Column("note").substring(from: 4) == "milk", Column("note").substring(from: 0, count: 3) == "buy",
            Column("note").substring(from: 4).starts(with: "mi"), Column("text").trimmed.ends(with: "lk"),
            Column("due").year == 2026, Column("due").month == 3 && Column("due").day == 1,
            Column("due").hour == 10 && Column("due").minute == 20 && Column("due").second == 30,
            Column("due").year.isAny(of: [2025, 2026]), Column("count") < Column("price"),
            Column("count") != Column("price"), Column("price") >= Column("count"), Column("price") > Column("count"),
            Column("text").lowercased.containsIgnoringASCIICase("ILK"), Column("count") / 0 == .null,
        ]
        for predicate in predicates {
            #expect(try QueryEvaluator(table).matches(row, predicate), "\(predicate)")
            #expect(try !QueryEvaluator(table).matches(row, !predicate), "\(predicate)")
        }
    }
}
