import RemoteContract
import SyncContract
import Testing

@testable import DatasyncHTTP

@Suite("Filters as OData")
struct ODataPrinterTests {
    private func text(_ predicate: QueryPredicate, _ dialect: DatasyncDialect) throws -> String? {
        try ODataPrinter(dialect).filter(Query("t").filtered(by: predicate))
    }

    @Test(
        "values have the literals of each dialect",
        arguments: [
            (.null, "null", "null"), (true, "true", "true"), (false, "false", "false"), (0, "0", "0"),
            (-25, "-25", "-25"),
            (2_147_483_647, "2147483647", "2147483647"), (2_147_483_648, "2147483648L", "2147483648l"),
            (-2_147_483_649, "-2147483649L", "-2147483649l"),
            (9_007_199_254_740_993, "9007199254740993L", "9007199254740993l"), (2.0, "2.0", "2.0d"),
            (0.1, "0.1", "0.1d"), (-1e-7, "-1e-07", "-1e-07d"), (1e22, "1e+22", "1e+22d"),
            (.decimal(DecimalText("1.10")!), "1.10M", "1.10m"), (.decimal(DecimalText("-5")!), "-5M", "-5m"),
            (.decimal(DecimalText("1.25e3")!), "1250M", "1250m"),
            (.decimal(DecimalText("-1.25E-3")!), "-0.00125M", "-0.00125m"),
            (.decimal(DecimalText("0.5e1")!), "5M", "5m"), (.decimal(DecimalText("12.5e0")!), "12.5M", "12.5m"),
            (.decimal(DecimalText("0e5")!), "0M", "0m"), ("", "''", "''"), ("it's", "'it''s'", "'it''s'"),
            ("''", "''''''", "''''''"), ("a'\u{301}b", "'a''\u{301}b'", "'a''\u{301}b'"),
            ("2024-01-01T00:00:00Z", "'2024-01-01T00:00:00Z'", "'2024-01-01T00:00:00Z'"),
            (
                .date(Timestamp("2024-08-23T22:22:54.2915+02:00")!),
                "cast(2024-08-23T20:22:54.291Z,Edm.DateTimeOffset)",
                "datetimeoffset'2024-08-23T20:22:54.291Z'"
            ),
        ] as [(FieldValue, String, String)]
    )
    func literals(_ value: FieldValue, _ three: String, _ two: String) throws {
        #expect(try text(Column("f") == value, .datasync) == "(f eq \(three))")
        #expect(try text(Column("f") == value, .azureMobileApps) == "(f eq \(two))")
    }

    @Test("days and times of day have literals of their own where the server has the types")
    func calendar() throws {
        let table = TableDefinition(
            "t",
            columns: [.init("day", .string, textForm: .day), .init("time", .string, textForm: .timeOfDay)]
        )
        func text(_ predicate: QueryPredicate, _ dialect: DatasyncDialect = .datasync) throws -> String? {
            try ODataPrinter(dialect, table).filter(Query("t").filtered(by: predicate))
        }
        #expect(try text(Column("day") < "2026-11-22") == "(day lt cast(2026-11-22,Edm.Date))")
        #expect(try text(Column("time") == "08:30") == "(time eq cast(08:30:00.000,Edm.TimeOfDay))")
        let dayInFront = QueryPredicate.comparison(.value("2026-11-22"), .less, .column("day"))
        #expect(try text(dayInFront) == "(cast(2026-11-22,Edm.Date) lt day)")
        let timeInFront = QueryPredicate.comparison(.value("08:30"), .equal, .column("time"))
        #expect(try text(timeInFront) == "(cast(08:30:00.000,Edm.TimeOfDay) eq time)")
        #expect(try text(Column("day") == .null) == "(day eq null)")
        let list = Column<FieldValue>("day").isAny(of: ["2026-11-22", "2026-11-23"])
        let chain = "((day eq cast(2026-11-22,Edm.Date)) or (day eq cast(2026-11-23,Edm.Date)))"
        #expect(try text(list) == chain)
        #expect(try text(Column("day") == "2026-11-22" || Column("day") == "2026-11-23") == chain)
        #expect(try text(Column("other") == "2026-11-22") == "(other eq '2026-11-22')")
        #expect(try text(Column("day") < "2026-11-22", .azureMobileApps) == "(day lt '2026-11-22')")
        for wrong in [Column("day") == "soon", Column("time") > "25:00", Column("day") == "'"] {
            #expect(throws: RemoteError.self) { try text(wrong) }
        }
    }

    @Test(
        "what has no literal is refused",
        arguments: [
            .double(.infinity), .double(.nan), .bytes([1]), .json(JSONText("{}")!), .decimal(DecimalText("1e65")!),
            .decimal(DecimalText("1e-99999999999999999999")!),
        ] as [FieldValue]
    )
    func noLiteral(_ value: FieldValue) {
        for dialect in DatasyncDialect.allCases {
            for predicate in [Column("f") == value, Column("f").isAny(of: [1, value])] {
                let error = #expect(throws: RemoteError.self) { try text(predicate, dialect) }
                #expect(error?.code == .invalidRequest)
            }
        }
    }

    @Test(
        "predicates are nested as they are built",
        arguments: [
            (Column("a") != 1, "(a ne 1)"), (Column("a") < 1, "(a lt 1)"), (Column("a") <= 1, "(a le 1)"),
            (Column("a") > 1, "(a gt 1)"), (Column("a") >= 1, "(a ge 1)"), (!(Column("a") == 1), "not((a eq 1))"),
            (Column("a") == 1 && Column("b") == 2, "((a eq 1) and (b eq 2))"),
            (
                Column("a") == 1 && (Column("b") == 2 || !(Column("c") == 3)),
                "((a eq 1) and ((b eq 2) or not((c eq 3))))"
            ),
            (.all([Column("a") == 1, Column("b") == 2, Column("c") == 3]), "((a eq 1) and (b eq 2) and (c eq 3))"),
            (.all([Column("a") == 1]), "(a eq 1)"), (.any([]), "(1 eq 0)"), (.all([]), "(1 eq 1)"),
            (.constant(true), "(1 eq 1)"), (.constant(false), "(1 eq 0)"), (Column("a").isAny(of: []), "(1 eq 0)"),
            (Column("a").isAny(of: [1]), "(a eq 1)"), (Column("a").isAny(of: [.null, 1]), "((a eq null) or (a eq 1))"),
            (Column("a").isAny(of: ["it's", "x"]), "((a eq 'it''s') or (a eq 'x'))"),
            (Column("a").starts(with: "x"), "startswith(a,'x')"), (Column("a").ends(with: "x'"), "endswith(a,'x''')"),
            (.comparison(.lowercased(.column("a")), .equal, .value("x")), "(tolower(a) eq 'x')"),
            (.comparison(.uppercased(.value("y")), .notEqual, .column("a")), "(toupper('y') ne a)"),
            // What the meaning of queries settles, and servers would refuse or settle otherwise.
            (Column("a") < .null, "(1 eq 0)"), (!(Column("a") >= .null), "not((1 eq 0))"),
            (Column("a") == .null, "(a eq null)"),
            (.match(.column("a"), .startsWith, .value(1)), "(1 eq 0)"),
            (.match(.lowercased(.value(true)), .endsWith, .column("a")), "(1 eq 0)"),
            (.comparison(.lowercased(.value(1)), .equal, .column("a")), "(null eq a)"),
        ]
    )
    func predicates(_ predicate: QueryPredicate, _ expected: String) throws {
        #expect(try text(predicate, .datasync) == expected)
        #expect(try text(predicate, .azureMobileApps) == Self.inThreeValuedLogic[expected] ?? expected)
    }

    /// What protocol 2 says otherwise, because of the nulls that its servers' databases would leave out.
    private static let inThreeValuedLogic = [
        "(a ne 1)": "((a ne 1) or (a eq null))", "not((a eq 1))": "((a ne 1) or (a eq null))",
        "((a eq 1) and ((b eq 2) or not((c eq 3))))":
            "((a eq 1) and ((b eq 2) or ((c ne 3) or (c eq null))))",
        "(toupper('y') ne a)": "((toupper('y') ne a) or (a eq null))", "not((1 eq 0))": "(1 eq 1)",
        "(null eq a)": "(a eq null)", "(null eq null)": "(1 eq 1)", "(null eq 1)": "(1 eq null)",
        "(null ne 1)": "(1 ne null)",
        "((a add (2 mul b)) ne 3)": "(((a add (2 mul b)) ne 3) or ((a add (2 mul b)) eq null))",
        "(round(a) eq floor(b))":
            "((round(a) eq floor(b)) or ((round(a) eq null) and (floor(b) eq null)))",
        "not((minute(a) eq second(a)))":
            "((minute(a) ne second(a)) or ((minute(a) eq null) and (second(a) ne null)) or ((minute(a) ne null) and"
            + " (second(a) eq null)))",
        "(((a add 1) eq 1) or ((a add 1) eq null))": "(((a add 1) eq 1) or ((a add 1) eq null))",
    ]

    private static let computedTerms: [(QueryPredicate, String)] = [
        (Column("a") + 1 == 2, "((a add 1) eq 2)"), (Column("a") - Column("b") > 0, "((a sub b) gt 0)"),
        ((Column("a") + 1) * 2 < 3, "(((a add 1) mul 2) lt 3)"),
        (Column("a") + 2 * Column("b") != 3, "((a add (2 mul b)) ne 3)"),
        (Column("a") / 2 >= 1, "((a div 2) ge 1)"), (Column("a") % 2 == 1, "((a mod 2) eq 1)"),
        (-Column("a") == -5, "((0 sub a) eq -5)"), (Column("a") - -5 == 0, "((a sub -5) eq 0)"),
        (Column("a").rounded == Column("b").floor, "(round(a) eq floor(b))"),
        (Column("a").ceiling <= 2, "(ceiling(a) le 2)"),
        (Column("a").lowercased.trimmed == "x", "(trim(tolower(a)) eq 'x')"),
        (Column("a").uppercased == "X", "(toupper(a) eq 'X')"),
        (Column("a").length > 3, "(length(a) gt 3)"),
        (Column("a").position(of: "it's") == -1, "(indexof(a,'it''s') eq -1)"),
        (Column("a").position(of: Column("b").trimmed) == 0, "(indexof(a,trim(b)) eq 0)"),
        (Column("a").appending("x").appending(Column("b")) == "y", "(concat(concat(a,'x'),b) eq 'y')"),
        (Column("a").substring(from: 1) == "x", "(substring(a,1) eq 'x')"),
        (Column("a").substring(from: 1, count: 2) == "x", "(substring(a,1,2) eq 'x')"),
        (
            .comparison(
                .substring(.column("a"), from: .operation(.column("b"), .add, .value(1)), count: .column("c")),
                .equal,
                .value("x")
            ), "(substring(a,(b add 1),c) eq 'x')"
        ),
        (Column("a").year == 2026 && Column("a").month == 1, "((year(a) eq 2026) and (month(a) eq 1))"),
        (Column("a").day == 1 || Column("a").hour == 2, "((day(a) eq 1) or (hour(a) eq 2))"),
        (!(Column("a").minute == Column("a").second), "not((minute(a) eq second(a)))"),
        (Column("a").trimmed.ends(with: "x"), "endswith(trim(a),'x')"),
        ((Column("a") + 1).isAny(of: [1, .null]), "(((a add 1) eq 1) or ((a add 1) eq null))"),
        // What has no value for any row is null, and never larger or smaller than anything.
        (Column("a") + "x" == 1, "(null eq 1)"), (Column("a").year.lowercased == .null, "(null eq null)"),
        (Column("a").length.length != 1, "(null ne 1)"), (Column("a") * .null > 1, "(1 eq 0)"),
        (Column("a").appending("x").rounded < 1, "(1 eq 0)"),
        (!(Column("a").substring(from: 0).year <= 1), "not((1 eq 0))"),
        (Column("a").length.contains("1"), "(1 eq 0)"), (Column("a") / true == 1, "(null eq 1)"),
    ]

    @Test(
        "computed terms are calls, or stand in parentheses, in the words both protocols share",
        arguments: computedTerms
    )
    func computed(_ predicate: QueryPredicate, _ expected: String) throws {
        #expect(try text(predicate, .datasync) == expected)
        #expect(try text(predicate, .azureMobileApps) == Self.inThreeValuedLogic[expected] ?? expected)
    }

    @Test("what has no literal is refused inside of computed terms as well, and so is what is nested too deep")
    func refusedComputed() {
        var deep = Column("a") == 1
        for _ in 0..<100_000 { deep = !deep }
        // Swift frees a tree level by level, on the stack: this one is never freed.
        _ = unsafe Unmanaged.passRetained(Holder(deep))
        for predicate in [
            Column("a") + .double(.infinity) == 1, Column("a") + 1 == .double(.nan), Column("a b").length == 1,
            Column("a") * .decimal(DecimalText("1e99")!) > 1, (Column("a") + 1).isAny(of: [.bytes([1])]), deep,
        ] {
            for dialect in DatasyncDialect.allCases {
                let error = #expect(throws: RemoteError.self) { try text(predicate, dialect) }
                #expect(error?.code == .invalidRequest)
            }
        }
    }

    private final class Holder {
        let predicate: QueryPredicate

        init(_ predicate: QueryPredicate) { self.predicate = predicate }
    }

    @Test("containing has its operands the other way round in protocol 2")
    func containing() throws {
        #expect(try text(Column("a").contains("x"), .datasync) == "contains(a,'x')")
        #expect(try text(Column("a").contains("x"), .azureMobileApps) == "substringof('x',a)")
        #expect(
            try text(Column("a").containsIgnoringASCIICase("X"), .azureMobileApps)
                == "substringof(tolower('X'),tolower(a))"
        )
        let printer = ODataPrinter(.azureMobileApps, knowsContains: true)
        let query = Query("t").filtered(by: Column("a").contains("x"))
        #expect(try printer.filter(query) == "contains(a,'x')", "servers for .NET know no other word")
    }

    @Test("a column that an order names twice is sent once")
    func repeatedOrder() throws {
        let query = Query("t").ordered(by: "a").ordered(by: "b", .descending).ordered(by: "a", .descending)
        for dialect in DatasyncDialect.allCases { #expect(try ODataPrinter(dialect).order(query) == "a,b desc") }
    }

    @Test("harmless lists stay lists in protocol 3")
    func lists() throws {
        let ids = Column("id").isAny(of: ["a-1", "b_2:x.y"])
        #expect(try text(ids, .datasync) == "(id in ('a-1','b_2:x.y'))")
        #expect(try text(ids, .azureMobileApps) == "((id eq 'a-1') or (id eq 'b_2:x.y'))")
        #expect(try text(Column("n").isAny(of: [1, -2]), .datasync) == "(n in (1,-2))")
        #expect(try text(Column("n").isAny(of: [1, 5_000_000_000]), .datasync) == "((n eq 1) or (n eq 5000000000L))")
        #expect(
            try text(Column("n").isAny(of: [1, 5_000_000_000, 2, .null]), .datasync)
                == "((n in (1,2)) or ((n eq 5000000000L) or (n eq null)))"
        )
        let chain = Column("n") == 1 || Column("m") == 1 || Column("n") == 2 || Column("n") > 7
        #expect(try text(chain, .datasync) == "((n in (1,2)) or (m eq 1) or (n gt 7))")
        #expect(try text(chain, .azureMobileApps) == "((n eq 1) or (m eq 1) or (n eq 2) or (n gt 7))")
        #expect(try text(Column("s").isAny(of: ["a,b", "c"]), .datasync) == "((s eq 'a,b') or (s eq 'c'))")
    }

    @Test(
        "a name that is not a column name cannot get into a query",
        arguments: ["", "a b", "a eq 1 or b", "a)", "a,b", "1a", "é", "a/b", "$top", "a'"]
    )
    func names(_ name: String) {
        let queries = [
            Query("t").filtered(by: Column(name) == 1), Query("t").ordered(by: name), Query("t").selecting([name]),
        ]
        for query in queries {
            for dialect in DatasyncDialect.allCases {
                let error = #expect(throws: RemoteError.self) {
                    try dialect.wireProtocol().page(query, of: TableDefinition("t", columns: []))
                }
                #expect(error?.code == .invalidRequest)
            }
        }
    }

    @Test("folded text, words and states are refused before anything is sent", arguments: DatasyncDialect.allCases)
    func localOnly(_ dialect: DatasyncDialect) {
        let queries = [
            Query("t").filtered(by: Column("a").folded == "x"),
            Query("t").filtered(by: Column("a").folded.contains("x")),
            Query("t").filtered(by: !Column("a").folded.isAny(of: ["x", "y"])),
            Query("t").filtered(by: Column("b") == 1 || Column("a").matches(words: "x")),
            Query("t").ordered(by: "a", folded: true),
            Query("t").filtered(by: Column("b") == 1 || Column.syncState == .pending),
            Query("t").ordered(by: Column.syncState.name), Query("t").includingSyncStates(),
        ]
        for query in queries {
            let error = #expect(throws: RemoteError.self) {
                try dialect.wireProtocol().page(query, of: TableDefinition("t", columns: []))
            }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains("local store only") == true)
        }
    }

    @Test("negative limits and offsets are refused", arguments: DatasyncDialect.allCases)
    func negative(_ dialect: DatasyncDialect) {
        let table = TableDefinition("t", columns: [])
        for query in [Query("t").limited(to: -1), Query("t").skipping(-1)] {
            #expect(throws: RemoteError.self) { try dialect.wireProtocol().page(query, of: table) }
        }
    }
}
