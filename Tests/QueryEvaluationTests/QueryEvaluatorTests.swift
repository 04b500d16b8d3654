import QueryEvaluation
import SyncContract
import Testing

@Suite("Queries evaluated in memory")
struct QueryEvaluatorTests {
    private static let table = TableDefinition(
        "things",
        columns: [
            .init("text", .string), .init("flag", .bool), .init("whole", .int64), .init("number", .double),
            .init("price", .decimal), .init("due", .date), .init("blob", .bytes),
        ]
    )

    private static let row = Record(
        id: "Id1",
        [
            "text": "Caf\u{E9} au lait", "flag": true, "whole": 3, "number": 0.1,
            "price": .decimal(DecimalText("1.10")!),
            "due": .date(Timestamp("2024-01-01T00:00:00.1234Z")!), "blob": .bytes([1, 2]),
        ]
    )

    private func matches(
        _ predicate: QueryPredicate,
        _ record: Record = row,
        in table: TableDefinition = table
    ) throws -> Bool {
        try QueryEvaluator(table).matches(record, predicate)
    }

    @Test(
        "comparisons hold that should",
        arguments: [
            Column("text") == "Caf\u{E9} au lait", Column("text") != "Cafe\u{301} au lait", Column("text") < "caf",
            Column("flag") == true, Column("flag") > false, Column("whole") == 3, Column("whole") >= 3,
            Column("whole") <= 3.0, Column("whole") < 3.5, Column("number") == 0.1,
            Column("number") == .decimal(DecimalText("0.10")!), Column("price") == 1.1,
            Column("price") == .decimal(DecimalText("11e-1")!), Column("price") > 1, Column("price") < 2,
            Column("due") == .date(Timestamp("2024-01-01T00:00:00.1239Z")!),
            Column("due") < .date(Timestamp("2024-01-01T00:00:00.124Z")!), Column("blob") < .bytes([1, 2, 0]),
            Column("blob") > .bytes([1]), Column("whole") != "3", Column("text") != 3, Column("whole") != .null,
            Column("missing") == .null, Column("missing") != 1, Column("id") == "Id1", Column("id") != "id1",
            Column("whole") < .double(.infinity), Column("price") > .double(-.infinity),
            .comparison(.value(1), .less, .value(2)), .comparison(.value(.null), .equal, .value(.null)),
        ]
    )
    func holds(_ predicate: QueryPredicate) throws {
        #expect(try matches(predicate))
        #expect(try !matches(!predicate))
    }

    @Test(
        "comparisons with a null, and of different kinds, do not hold",
        arguments: [
            Column("missing") == 1, Column("missing") < 1, Column("missing") > 1, Column("missing") <= .null,
            Column("missing") >= .null, Column("missing") < .null, Column("whole") == .null, Column("whole") < .null,
            Column("whole") == "3", Column("text") < 3, Column("text") > 3, Column("flag") == 1, Column("flag") < 2,
            Column("due") == "2024-01-01T00:00:00.123Z", Column("blob") == "\u{1}\u{2}",
            Column("missing").contains(""), Column("whole").contains("3"),
        ]
    )
    func doesNotHold(_ predicate: QueryPredicate) throws {
        #expect(try !matches(predicate))
        #expect(try matches(!predicate))
    }

    @Test("logic has two values, and empty lists are true for all and false for any")
    func logic() throws {
        let yes = QueryPredicate.constant(true)
        let no = QueryPredicate.constant(false)
        #expect(try matches(.all([])) && !matches(.any([])))
        #expect(try matches(yes && yes) && !matches(yes && no) && !matches(no && no))
        #expect(try matches(yes || no) && !matches(no || no))
        #expect(try matches(!no) && !matches(!yes))
        #expect(try QueryEvaluator(Self.table).matches(Self.row, nil))
    }

    @Test("text is matched by bytes, and folded by ASCII letters only")
    func text() throws {
        #expect(try matches(Column("text").contains("au")))
        #expect(try matches(Column("text").contains("")))
        #expect(try matches(Column("text").starts(with: "Caf")))
        #expect(try matches(Column("text").ends(with: "lait")))
        #expect(try !matches(Column("text").contains("AU")))
        #expect(try !matches(Column("text").contains("e\u{301}")))
        #expect(try !matches(Column("text").starts(with: "Caf\u{E9} au lait and more")))
        #expect(try matches(Column("text").containsIgnoringASCIICase("CAF\u{E9}")))
        #expect(try !matches(Column("text").containsIgnoringASCIICase("CAF\u{C9}")))
        #expect(
            try matches(.comparison(.uppercased(.column("text")), .equal, .value("CAF\u{E9} AU LAIT")))
        )
        #expect(try matches(.comparison(.lowercased(.column("whole")), .equal, .value(.null))))
    }

    @Test("any of some values: by equality, null included")
    func isAnyOf() throws {
        #expect(try matches(Column("whole").isAny(of: [1, 3.0])))
        #expect(try !matches(Column("whole").isAny(of: [1, "3", .null])))
        #expect(try !matches(Column("whole").isAny(of: [])))
        #expect(try matches(Column("missing").isAny(of: [1, .null])))
        #expect(try matches(Column("text").folded.isAny(of: ["x", "CAFÉ AU LAIT"])), "values are folded as well")
        #expect(try !matches(Column("text").isAny(of: ["CAFÉ AU LAIT"])))
    }

    @Test("ids compare as the table declares")
    func ids() throws {
        let folding = TableDefinition("things", columns: [], idComparison: .asciiCaseInsensitive)
        #expect(try matches(Column("id") == "ID1", in: folding))
        #expect(try matches(Column("id").isAny(of: ["x", "iD1"]), in: folding))
        #expect(try !matches(Column("id") == "ID1"))
        let rows = ["b", "A", "C"].map { Record(id: .string($0)) }
        #expect(try! ids(Query("things"), rows, in: folding) == ["A", "b", "C"])
        #expect(try! ids(Query("things"), rows) == ["A", "C", "b"])
    }

    private func ids(_ query: Query, _ rows: [Record], in table: TableDefinition = table) throws -> [String] {
        try QueryEvaluator(table).evaluate(query, over: rows).compactMap(\.id.stringValue)
    }

    @Test("rows are ordered with nulls first, ties by id, and cut last")
    func order() throws {
        let rows = [
            Record(id: "e", ["whole": 2]), Record(id: "d", ["whole": .null]), Record(id: "c", ["whole": 1]),
            Record(id: "b", ["whole": 2]), Record(id: "a"),
        ]
        let ascending = Query("things").ordered(by: "whole")
        let descending = Query("things").ordered(by: "whole", .descending)
        #expect(try ids(Query("things"), rows) == ["a", "b", "c", "d", "e"])
        #expect(try ids(ascending, rows) == ["a", "d", "c", "b", "e"])
        #expect(try ids(descending, rows) == ["b", "e", "c", "a", "d"])
        #expect(try ids(descending.ordered(by: "id", .descending), rows) == ["e", "b", "c", "d", "a"])
        #expect(try ids(ascending.skipping(1).limited(to: 2), rows) == ["d", "c"])
        #expect(try ids(ascending.limited(to: 0), rows) == [])
        #expect(try ids(ascending.skipping(9), rows) == [])
        #expect(
            try ids(ascending.filtered(by: Column("whole") > 0).filtered(by: Column("id") > "b"), rows) == ["c", "e"]
        )
    }

    @Test("a selection keeps the named columns and the id")
    func selection() throws {
        let rows = try QueryEvaluator(Self.table).evaluate(Query("things").selecting(["flag"]), over: [Self.row])
        #expect(rows == [Record(id: "Id1", ["flag": true])])
    }

    @Test(
        "queries that name undeclared columns or negative numbers are refused",
        arguments: [
            Query("things").filtered(by: Column("nope") == 1), Query("things").ordered(by: "nope"),
            Query("things").selecting(["nope"]), Query("things").limited(to: -1), Query("things").skipping(-1),
            Query("things").filtered(by: !(Column("whole") == 1 || Column("nope").contains("x"))),
            Query("things").filtered(by: .comparison(.value(1), .equal, .lowercased(.column("nope")))),
            Query("things").filtered(by: Column("nope").isAny(of: [])),
        ]
    )
    func refused(_ query: Query) {
        let error = #expect(throws: StoreError.self) { try QueryEvaluator(Self.table).evaluate(query, over: []) }
        #expect(error?.code == .invalidQuery)
    }
}
