import Foundation
import SeededNumbers
import Testing

@testable import DatasyncEmulator

struct ODataTests {
    private static let row = EmulatedRow(
        id: RowID("id-1"),
        values: [
            "title": "It's a Wonderful Life", "year": 1946, "rating": 8.6, "big": 9_007_199_254_740_993,
            "done": true, "note": nil, "released": "1946-12-20", "start": "07:14:00.000",
            "guid": "5F9A1C00-0000-4000-8000-00000000ABCD", "due": "2016-11-21T01:02:03.004+02:00",
            "text": "e\u{301} é 日本 😀",
        ],
        createdAt: 1_471_000_000_000,
        stamp: 17_244_445_742_910_000,
        version: "AQ==",
        deleted: false
    )

    private static func resolve(_ name: String) -> ODataParser.Property {
        let system = ["id", "updatedAt", "createdAt", "version", "deleted"]
        return row.values[name] != nil || system.contains(name) ? .column(name) : .unknown
    }

    private static func matches(
        _ filter: String,
        _ dialect: EmulatorConfiguration.Dialect = .datasync
    ) throws -> Bool {
        ODataEvaluator(row: row).matches(try ODataParser.filter(filter, dialect, resolve: resolve))
    }

    @Test(
        "a filter that holds",
        arguments: [
            "year eq 1946", "year eq 1946L", "year eq 1946.0", "rating gt 8.5f", "rating eq 8.6M", "rating lt 9d",
            "big eq 9007199254740993", "big gt 9007199254740992", "year gt -1",
            "title eq 'It''s a Wonderful Life'", "title gt 'It'", "id gt 'id-0'", "done", "done eq true", "not deleted",
            "note eq null", "not(note ne null)", "title ne null", "year ne null", "null eq null", "not(note gt 1)",
            "not(note le null)", "note ne 1", "1 in (year, 1)", "year in (1, 1946)",
            "title in ('a', 'It''s a Wonderful Life')",
            // Precedence.
            "true or false and false", "not false and true", "1 add 2 mul 3 eq 7", "(1 add 2) mul 3 eq 9",
            "7 div 2 eq 3", "7 mod 4 eq 3", "7.0 div 2 eq 3.5", "10 sub 3 sub 2 eq 5", "-(year) eq -1946",
            "false and false or true", "not(year eq 1) and not(year eq 2)",
            // Functions.
            "contains(title,'Wonder')", "startswith(title,'It')",
            "endswith(title,'Life')",
            "tolower(title) eq 'it''s a wonderful life'", "toupper('aä') eq 'Aä'",
            "tolower('AÄ') eq 'aÄ'", "trim('  x ') eq 'x'", "trim(' \u{A0}\tx\t ') eq '\u{A0}\tx\t'",
            "length(title) eq 21",
            "length('e\u{301}😀') eq 3", "substring('a😀b',1,1) eq '😀'", "indexof('😀b','b') eq 1",
            "indexof(title,'') eq 0",
            "substring(title,99) eq ''", "indexof(title,'a') eq 5", "indexof(title,'zz') eq -1",
            "substring(title,5) eq 'a Wonderful Life'",
            "substring(title,5,1) eq 'a'", "concat(concat(id,'/'),'x') eq 'id-1/x'",
            "year(updatedAt) eq 2024 and month(updatedAt) eq 8 and day(updatedAt) eq 23",
            "hour(updatedAt) eq 20 and minute(updatedAt) eq 22 and second(updatedAt) eq 54", "hour(start) eq 7",
            "year(released) eq 1946", "ceiling(rating) eq 9", "floor(rating) eq 8", "round(8.5) eq 9",
            "round(-2.5) eq -3", "round(-0.5) eq -1", "floor(-0.5) eq -1", "ceiling(-0.5M) eq 0", "round(2.5M) eq 3",
            "floor(7) eq 7",
            // Whole, binary and decimal numbers.
            "0.1 add 0.2 ne 0.3", "0.1M add 0.2M eq 0.3M", "0.1M add 0.2M eq 0.3", "1 add 0.5M eq 1.5",
            "1M div 3M eq 0.3333333333333333333333333333333333M", "2M div 3M eq 0.6666666666666666666666666666666667M",
            "7.5M mod 2M eq 1.5M", "-7.5M mod 2M eq -1.5M", "-7 mod 3 eq -1", "-7 div 2 eq -3", "1M div 8M eq 0.125M",
            "10000000000000000000000000000000005M div 1M eq 10000000000000000000000000000000000M",
            "10000000000000000000000000000000015M div 1M eq 10000000000000000000000000000000020M",
            "10000000000000000000000000000000005.1M div 1M eq 10000000000000000000000000000000010M",
            "99999999999999999999999999999999996M div 1 eq 1e35M", "1e60M mul 1e40M eq null", "1e-90M div 3 eq null",
            "1e99M add 1e-100M gt 1e99M", "1e100M add 1 eq null", "0M div 7 eq 0", "-0.1M mul 3 eq -0.3M",
            "1M sub 1.25M eq -0.25M", "1e99M mod 7 eq 6",
            "9223372036854775807 add 1 eq null", "9223372036854775807 add 1M eq 9223372036854775808M",
            "-9223372036854775808 div -1 eq null", "-9223372036854775808 mod -1 eq 0", "1 div 0 eq null",
            "1M mod 0M eq null", "1e308 mul 10.0 eq null", "1.0 div 0 eq null",
            "9007199254740993 ne 9007199254740992.0",
            "9007199254740993M gt 9007199254740992.0", "big sub 9007199254740992M eq 1",
            // Dates; beside a day, days are compared.
            "updatedAt eq cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)",
            "updatedAt eq 2024-08-23T20:22:54.2910000Z", "updatedAt eq cast(2024-08-23,Edm.Date)",
            "updatedAt gt 2024-08-22", "updatedAt lt 2024-08-23T20:22:54.2910001Z",
            "updatedAt eq '2024-08-23T20:22:54.291Z'", "date(updatedAt) eq 2024-08-23",
            "updatedAt gt 2024-08-23T20:22Z",
            "released eq cast(1946-12-20,Edm.Date)", "released lt 1946-12-21",
            "start eq cast(07:14:00.000,Edm.TimeOfDay)", "start gt 02:14:00",
            "guid eq cast(5f9a1c00-0000-4000-8000-00000000abcd,Edm.Guid)",
            "guid eq 5f9a1c00-0000-4000-8000-00000000abcd",
            // Words in any case, casts of numbers, numbers that are none.
            "year EQ 1946 AND NOT (done Eq false) OR false",
            "STARTSWITH(title,'It')", "$it/year eq 1946", "cast(rating,Edm.Int32) eq 8",
            "cast(year,Edm.String) eq '1946'", "rating lt INF", "rating gt -INF", "not (rating eq NaN)",
            "not (year in ())",
            // Text is bytes: canonically equivalent strings are different strings.
            "'e\u{301}' ne 'é'", "contains(text,'日本')", "'😀' gt '日'", "indexof(text,'é') eq 3",
        ]
    )
    func holds(filter: String) throws {
        #expect(try Self.matches(filter))
    }

    @Test(
        "a filter of protocol 2 that holds",
        arguments: [
            "substringof('Wonder',title)", "replace('aXbX','X','--') eq 'a--b--'",
            "updatedAt eq datetimeoffset'2024-08-23T22:22:54.291+02:00'",
            "updatedAt eq datetime'2024-08-23T20:22:54.291Z'",
            "updatedAt eq datetimeoffset'2024-08-23T20:22:54.291999Z'",
            "due eq datetimeoffset'2016-11-20T23:02:03.004Z'", "start eq time'07:14'",
            "guid eq guid'5F9A1C00-0000-4000-8000-00000000ABCD'", "year eq 1946 and not(done ne true)",
        ]
    )
    func holdsInProtocol2(filter: String) throws {
        #expect(try Self.matches(filter, .azureMobileApps))
        #expect(filter.contains("year") || (try? Self.matches(filter, .datasync)) == nil, "protocol 3 refuses it")
    }

    @Test(
        "a filter of protocol 3 that protocol 2 refuses",
        arguments: ["year EQ 1946", "contains(title,'x') OR done", "year in ()", "STARTSWITH(title,'I')"]
    )
    func refusedInProtocol2(filter: String) {
        #expect(throws: ODataError.self) { try Self.matches(filter, .azureMobileApps) }
    }

    @Test(
        "a filter that does not hold",
        arguments: [
            "note gt 1", "note lt 1", "note ge null", "note eq 1", "title eq 5", "title lt 5", "not done", "note",
            "title",
            "contains(note,'x')", "length(note) eq 0", "1 div 0 eq 1", "1 mod 0 eq 0", "year in (1, 2)",
            "note in ('x')", "updatedAt gt 2024-08-23T20:22:54.291Z", "title gt 2024-08-23T20:22:54.291Z",
            "updatedAt gt 2024-08-23", "rating eq NaN", "rating gt NaN", "rating lt NaN", "year in ()",
            "9223372036854775807 add 1 lt 0", "substring(title,-1) eq 'x'", "'e\u{301}' eq 'é'",
        ]
    )
    func doesNotHold(filter: String) throws {
        #expect(try !Self.matches(filter))
    }

    @Test(
        "a filter that is refused",
        arguments: [
            "", " ", "(", ")", "year eq", "eq 1", "year eq 1 and", "(year eq 1", "year eq 1)", "year eq 1 1",
            "year - 1900 eq 1",
            "(year - 1900) ge 100", "year + 1 eq 2", "title eq 'open", "title eq \"x\"", "nope eq 1", "foo(title)",
            "contains(title)",
            "contains(title,'a','b')", "year in 1", "year in (1,", "cast(1,Edm.Guid) eq 1",
            "cast(x,Edm.Date) eq 1",
            "cast(2024-02-30,Edm.Date) eq released", "updatedAt gt 2024-08-23T20:22:54.291 00:00",
            "updatedAt gt datetimeoffset'xyz'",
            "updatedAt gt datetime'2026-11-21T01:35:19.385'", "year eq 1e999", "year eq 12abc", "year eq 1 && done",
            "not", "updatedAt gt 2024-08-23T20:22:54", "updatedAt gt 2024-08-23t20:22:54z",
            "updatedAt gt 2024-02-30T00:00:00Z", "updatedAt gt 10000-01-01T00:00:00Z", "title like 'a'",
        ]
    )
    func refused(filter: String) {
        #expect(throws: ODataError.self) { try Self.matches(filter) }
    }

    @Test(
        "nesting beyond the limit is refused, whatever it is made of",
        arguments: ["(", "not ", "not(", "-", "tolower(", "1 add "]
    )
    func depth(opening: String) throws {
        let closing = opening.hasSuffix("(") ? ")" : ""
        func filter(_ depth: Int) -> String {
            String(repeating: opening, count: depth) + "1" + String(repeating: closing, count: depth)
        }
        _ = try ODataParser.filter(filter(50), .datasync, resolve: Self.resolve)
        for depth in [200, 100_000] {
            #expect(throws: ODataError.self) { try ODataParser.filter(filter(depth), .datasync, resolve: Self.resolve) }
        }
    }

    @Test("a long list of conditions is not deep")
    func longList() throws {
        let conditions = (0..<20_000).map { "id eq 'x\($0)'" } + ["id eq 'id-1'"]
        #expect(try Self.matches(conditions.joined(separator: " or ")))
        #expect(try !Self.matches(conditions.joined(separator: " and ")))
        #expect(try Self.matches("id in (" + conditions.map { "'\($0.count)'" }.joined(separator: ",") + ",'id-1')"))
    }

    @Test("no soup of tokens crashes the parser or the evaluator")
    func soup() {
        let seed = SeededGenerator.seed()
        var generator = SeededGenerator(seed: seed)
        let words = [
            "(", ")", ",", "'", "''", "'x'", "and", "or", "not", "eq", "ne", "gt", "in", "add", "sub", "mul", "div",
            "mod", "-", "1", "-9",
            "9223372036854775807", "1e308", "2.5", "null", "true", "year", "title", "note", "nope", "updatedAt",
            "released", "start",
            "datetime'", "datetimeoffset'2020-01-01T00:00:00Z'", "guid'x'", "cast(", "Edm.Date", "2024-08-23",
            "9999-12-31T23:59:59Z",
            "contains(", "substring(", "length(", "date(", "cast(year,Edm.Int32)", "INF", "NaN", "$it/year", "NOT",
            "round(", "year(", "replace(", "é", "\u{0}", "%", "'\u{301}", "😀",
            "$", "\\", "07:00",
        ]
        var parsed = 0
        for _ in 0..<20_000 {
            let count = Int.random(in: 1...12, using: &generator)
            let text = (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined(separator: " ")
            // Most soup is refused; what is not must be evaluated without a trap.
            let dialect = EmulatorConfiguration.Dialect.allCases.randomElement(using: &generator) ?? .datasync
            guard let expression = try? ODataParser.filter(text, dialect, resolve: Self.resolve) else { continue }
            _ = ODataEvaluator(row: Self.row).matches(expression)
            try? ODataChecker(columns: [:], areDeclared: false).check(filter: expression, casts: 0)
            _ = IndexRange(expression)
            parsed += 1
        }
        #expect(parsed > 0, "seed \(seed): the soup never made sense, so it tested nothing")
    }
}
