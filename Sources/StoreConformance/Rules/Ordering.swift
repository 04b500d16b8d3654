internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let ordering: [StoreRule] = orders + paging + selecting + counting

    private static let orders: [StoreRule] = [
        rule(
            "order.default-is-id",
            "Without an order, rows come by id.",
            in: "Query",
            "Writes ids in a jumbled order and reads all rows."
        ) { trial in
            let ids: [RecordID] = ["b", "a", "B", "10", "9", "é", "z"]
            let world = try await QueryWorld(trial, ids.map { Record(id: $0) })
            try await world.expect(Query("items"), ids: ["10", "9", "B", "a", "b", "z", "é"])
        },
        rule(
            "order.ties-by-id",
            "rows that compare equal are ordered by id, ascending.",
            in: "Query",
            "Orders rows with equal values, ascending and descending: the ids run upwards in both."
        ) { trial in
            let rows = ["d", "b", "a", "c"].map { Record(id: .string($0), ["int": $0 == "c" ? 2 : 1]) }
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Query("items").ordered(by: "int"), ids: ["a", "b", "d", "c"])
            try await world.expect(Query("items").ordered(by: "int", .descending), ids: ["c", "a", "b", "d"])
        },
        rule(
            "order.nulls-first",
            "Nulls first, then from small to large.",
            in: "QueryOrder",
            "Orders a column of every type with nulls in it, ascending."
        ) { trial in
            let world = try await QueryWorld(trial, orderedRows)
            for column in TableDefinition.items.columns {
                try await world.expect(Query("items").ordered(by: column.name))
            }
            try await world.expect(Query("items").ordered(by: "int"), ids: ["2", "4", "1", "0", "3"])
        },
        rule(
            "order.descending",
            "From large to small, then nulls.",
            in: "QueryOrder",
            "Orders a column of every type with nulls in it, descending."
        ) { trial in
            let world = try await QueryWorld(trial, orderedRows)
            for column in TableDefinition.items.columns {
                try await world.expect(Query("items").ordered(by: column.name, .descending))
            }
            try await world.expect(Query("items").ordered(by: "int", .descending), ids: ["3", "0", "1", "2", "4"])
        },
        rule(
            "order.several-columns",
            "What rows are ordered by, the first entry first.",
            in: "Query",
            "Orders by two columns in opposite directions, and by one column twice."
        ) { trial in
            let rows = [("a", 1, "x"), ("b", 2, "x"), ("c", 1, "y"), ("d", 2, "y")]
                .map { Record(id: .string($0.0), ["int": .int64(Int64($0.1)), "text": .string($0.2)]) }
            let world = try await QueryWorld(trial, rows)
            let query = Query("items")
            try await world.expect(
                query.ordered(by: "int").ordered(by: "text", .descending),
                ids: ["c", "a", "d", "b"]
            )
            try await world.expect(
                query.ordered(by: "text", .descending).ordered(by: "int"),
                ids: ["c", "d", "a", "b"]
            )
            try await world.expect(query.ordered(by: "int").ordered(by: "int", .descending), ids: ["a", "c", "b", "d"])
        },
        rule(
            "order.by-id",
            "The column, `id` included.",
            in: "QueryOrder",
            "Orders by the id, descending, alone and after a column."
        ) { trial in
            let rows = ["a", "b", "c"].map { Record(id: .string($0), ["int": $0 == "a" ? 1 : 0]) }
            let world = try await QueryWorld(trial, rows)
            try await world.expect(Query("items").ordered(by: "id", .descending), ids: ["c", "b", "a"])
            try await world.expect(
                Query("items").ordered(by: "int").ordered(by: "id", .descending),
                ids: ["c", "b", "a"]
            )
        },
        rule(
            "order.text-by-bytes",
            "Strings compare by their UTF-8 bytes, false comes before true, nulls come first in every order",
            in: "Query",
            "Orders texts that a locale, a case-blind order, UTF-16 and numbers in texts would order otherwise."
        ) { trial in
            let texts: [FieldValue] = [
                "b", "B", "a", "é", "z", "10", "9", "", "\u{FFFF}", "\u{10000}", "a\0", "a b", "_",
            ]
            let world = try await QueryWorld(trial, QueryWorld.rows("text", texts))
            try await world.expect(
                Query("items").ordered(by: "text"),
                ids: ["7", "5", "6", "1", "12", "2", "10", "11", "0", "4", "3", "8", "9"]
            )
        },
        rule(
            "order.decimals-numerically",
            "`==` compares texts, queries compare numbers.",
            in: "DecimalText",
            "Orders decimals whose texts would come in another order, with exponents and many digits."
        ) { trial in
            let texts = ["10", "9", "1e1", "-5", "-10", "0.5", "1e400", "9.99999999999999999999999", "-0"]
            let world = try await QueryWorld(trial, QueryWorld.rows("decimal", texts.map { .decimal($0) }))
            try await world.expect(
                Query("items").ordered(by: "decimal"),
                ids: ["4", "3", "8", "5", "1", "7", "0", "2", "6"]
            )
        },
        rule(
            "order.dates-and-bytes",
            "Dates compare by their milliseconds, bytes byte for byte, and JSON by the bytes of its text.",
            in: "Query",
            "Orders dates from before the year 1 to beyond 9999, as instants and not as text, and bytes above and below"
                + " 128."
        ) { trial in
            let dates: [Int64] = [0, .max, -1, 253_402_300_800_000, .min, -62_135_596_800_001, 1]
            let bytes: [[UInt8]] = [[127], [128], [], [0, 255], [0], [255], [1]]
            let rows = dates.indices.map {
                Record(id: .string("\($0)"), ["date": .date(dates[$0]), "bytes": .bytes(bytes[$0])])
            }
            let world = try await QueryWorld(trial, rows)
            let query = Query("items")
            try await world.expect(query.ordered(by: "date"), ids: ["4", "5", "2", "0", "6", "3", "1"])
            try await world.expect(query.ordered(by: "date", .descending), ids: ["1", "3", "6", "0", "2", "5", "4"])
            try await world.expect(query.ordered(by: "bytes"), ids: ["2", "4", "3", "6", "0", "1", "5"])
        },
        rule(
            "order.many-rows",
            "What rows are ordered by, the first entry first.",
            in: "Query",
            "Orders 1,100 random rows by three columns and reads a page from the middle."
        ) { trial in
            var random = RandomRows(trial.random())
            let world = try await QueryWorld(trial, (0..<1_100).map { random.record(.string("\($0)"), columnsIn: 80) })
            let query = Query("items").ordered(by: "bool").ordered(by: "int", .descending).ordered(by: "text")
            try await world.expect(query)
            try await world.expect(query.skipping(500).limited(to: 100))
        },
        rule(
            "order.same-every-time",
            "rows that compare equal are ordered by id, ascending.",
            in: "Query",
            "Reads 200 rows of few values again and again, between writes: the order stays the same."
        ) { trial in
            var random = trial.random()
            let rows = (0..<200)
                .map { Record(id: .string("\($0)"), ["int": .int64(Int64.random(in: 0..<5, using: &random))]) }
            let world = try await QueryWorld(trial, rows.shuffled(using: &random))
            for _ in 0..<5 {
                try await world.expect(Query("items").ordered(by: "int", .descending))
                try await world.expect(Query("items").filtered(by: Column("int") == 3))
                try await world.store.upsert([rows[Int.random(in: 0..<200, using: &random)]], table: "items")
            }
        },
    ]

    private static let orderedRows: [Record] = [
        Record(
            id: "0",
            [
                "bool": true, "int": 5, "double": 0.5, "decimal": .decimal("5"), "text": "b", "date": .date(5),
                "bytes": .bytes([5]), "json": .json("5"),
            ]
        ),
        Record(
            id: "1",
            [
                "bool": false, "int": -5, "double": -0.5, "decimal": .decimal("-5"), "text": "a", "date": .date(-5),
                "bytes": .bytes([0, 9]), "json": .json("1"),
            ]
        ),
        Record(id: "2"),
        Record(
            id: "3",
            [
                "bool": true, "int": 10, "double": 10.0, "decimal": .decimal("10"), "text": "c", "date": .date(10),
                "bytes": .bytes([10]), "json": .json("[]"),
            ]
        ),
        Record(id: "4"),
    ]

    private static let paging: [StoreRule] = [
        rule(
            "order.limit",
            "The most rows to return, 0 or more; nil for all.",
            in: "Query",
            "Reads with several limits."
        ) {
            trial in
            let world = try await QueryWorld(trial, ["a", "b", "c"].map { Record(id: .string($0)) })
            try await world.expect(Query("items").limited(to: 2), ids: ["a", "b"])
            try await world.expect(Query("items").limited(to: 3), ids: ["a", "b", "c"])
            try await world.expect(Query("items").limited(to: .max), ids: ["a", "b", "c"])
        },
        rule(
            "order.no-limit",
            "The most rows to return, 0 or more; nil for all.",
            in: "Query",
            "Writes 2,500 rows and reads, walks and counts them without a limit: all come, none is left out."
        ) { trial in
            let store = try await trial.makeStore()
            try await store.upsert((0..<2_500).map { Record(id: .string("\($0)")) }, table: "other")
            let (rows, walked, count) = try await store.read { reader in
                var walked = 0
                try reader.forEach(Query("other").ordered(by: "int")) { _ in walked += 1 }
                return (try reader.records(Query("other")).count, walked, try reader.count(Query("other")))
            }
            trial.expect(rows, equals: 2_500, "rows read without a limit, of 2,500")
            trial.expect(walked, equals: 2_500, "rows walked in an order without a limit, of 2,500")
            trial.expect(count, equals: 2_500, "count of 2,500 rows")
        },
        rule(
            "order.cut-comes-last",
            "How many rows to leave out at the start, 0 or more.",
            in: "Query",
            "Cuts by limit and offset what a condition and an order give: the first rows of these, not of the table."
        ) { trial in
            let rows = (0..<8)
                .map { Record(id: .string("\($0)"), ["int": .int64(Int64(7 - $0)), "bool": .bool($0 > 3)]) }
            let world = try await QueryWorld(trial, rows)
            let query = Query("items")
            try await world.expect(query.ordered(by: "int").limited(to: 2), ids: ["7", "6"])
            try await world.expect(query.ordered(by: "int").skipping(6), ids: ["1", "0"])
            try await world.expect(query.filtered(by: Column("bool") == true).limited(to: 2), ids: ["4", "5"])
            try await world.expect(query.filtered(by: Column("bool") == true).skipping(3), ids: ["7"])
            try await world.expect(
                query.filtered(by: Column("bool") == true).ordered(by: "int").skipping(1).limited(to: 2),
                ids: ["6", "5"]
            )
        },
        rule("order.limit-0", "A limit of 0 gives no rows.", in: "Query", "Reads with the limit 0.") { trial in
            let world = try await QueryWorld(trial, [Record(id: "a")])
            try await world.expect(Query("items").limited(to: 0), ids: [])
            try await world.expect(Query("items").limited(to: 0).skipping(1), ids: [])
        },
        rule(
            "order.offset",
            "How many rows to leave out at the start, 0 or more.",
            in: "Query",
            "Reads with offsets, without a limit, with one, and beyond the end."
        ) { trial in
            let world = try await QueryWorld(trial, ["a", "b", "c", "d"].map { Record(id: .string($0)) })
            try await world.expect(Query("items").skipping(1), ids: ["b", "c", "d"])
            try await world.expect(Query("items").skipping(1).limited(to: 2), ids: ["b", "c"])
            try await world.expect(Query("items").skipping(3).limited(to: 2), ids: ["d"])
            try await world.expect(Query("items").skipping(4), ids: [])
            try await world.expect(Query("items").skipping(.max), ids: [])
            try await world.expect(Query("items").skipping(.max).limited(to: .max), ids: [])
            try await world.expect(Query("items").skipping(2).limited(to: .max), ids: ["c", "d"])
            try await world.expect(Query("items").skipping(1).ordered(by: "id", .descending), ids: ["c", "b", "a"])
        },
        rule(
            "order.pages",
            "How many rows to leave out at the start, 0 or more.",
            in: "Query",
            "Reads 103 rows with few values in pages of 10: every row comes once, in order."
        ) { trial in
            var random = trial.random()
            let rows = (0..<103)
                .map { Record(id: .string("\($0)"), ["int": .int64(Int64.random(in: 0..<4, using: &random))]) }
            let world = try await QueryWorld(trial, rows)
            let all = Query("items").ordered(by: "int", .descending)
            let pages = try await world.store.read { reader in
                try stride(from: 0, to: 110, by: 10).flatMap { try reader.records(all.skipping($0).limited(to: 10)) }
            }
            let expected = try QueryEvaluator(.items).evaluate(all, over: world.rows)
            trial.expectRows(pages, expected, "pages of 10 of \(shown(all)) joined")
        },
        rule(
            "order.batches",
            "The rows of a query in batches of at most the given size, in the query's order, for results larger"
                + " than memory.",
            in: "SyncContextDataSource/batches(of:size:)",
            "Reads 57 rows with few values, nulls among them, in batches of 5, by two columns in opposite directions."
        ) { trial in
            var random = RandomRows(trial.random())
            let world = try await QueryWorld(trial, (0..<57).map { random.record(.string("\($0)"), columnsIn: 70) })
            for query in [
                Query("items"), Query("items").ordered(by: "bool").ordered(by: "text", .descending),
                Query("items").ordered(by: "int", .descending).skipping(3).limited(to: 40),
            ] {
                var rows: [Record] = []
                for try await batch in world.store.batches(of: query, size: 5) {
                    trial.expect(batch.count <= 5, "batches of 5", expected: "5 rows at most", got: "\(batch.count)")
                    rows += batch
                }
                let expected = try QueryEvaluator(.items).evaluate(query, over: world.rows)
                trial.expectRows(rows, expected, "batches of 5 of \(shown(query)) joined")
            }
        },
        rule(
            "order.first",
            "The first row of a query, nil when there is none.",
            in: "StoreReading",
            "Takes the first row of an ordered query, of one with an offset, and of one without rows."
        ) { trial in
            let world = try await QueryWorld(trial, ["a", "b", "c"].map { Record(id: .string($0)) })
            let (first, second, none, zero) = try await world.store.read { reader in
                let query = Query("items")
                return (
                    try reader.first(query.ordered(by: "id", .descending)), try reader.first(query.skipping(1)),
                    try reader.first(query.filtered(by: .constant(false))), try reader.first(query.limited(to: 0))
                )
            }
            trial.expect(first?.id, equals: "c", "the first row, ids descending")
            trial.expect(second?.id, equals: "b", "the first row after one")
            trial.expect(none?.id, equals: nil, "the first of no rows")
            trial.expect(zero?.id, equals: nil, "the first row with the limit 0")
        },
    ]

    private static let selecting: [StoreRule] = [
        rule(
            "order.selection",
            "The columns to return besides the id; nil for all, undeclared ones included.",
            in: "Query",
            "Selects two columns, the id, nothing, and one column twice; a null that is selected is there as null."
        ) { trial in
            let world = try await QueryWorld(trial, [Record(id: "a", ["int": 1, "text": "x"]), Record(id: "b")])
            for selection in [["int", "version"], ["id"], [], ["text", "text"], ["deleted", "updatedAt"]] {
                try await world.expect(Query("items").selecting(selection), ids: ["a", "b"], exactNulls: true)
            }
            let row = try await world.store.read(Query("items").selecting(["int", "bool"]).limited(to: 1)).records.first
            let expected = Record(id: "a", ["int": 1, "bool": .null])
            trial.expectRow(row, expected, exactNulls: true, "select int and bool of row 'a'")
        },
        rule(
            "order.selection-filters-by-others",
            "The columns to return besides the id; nil for all, undeclared ones included.",
            in: "Query",
            "Selects one column while another is in the condition and a third in the order."
        ) { trial in
            let rows = (0..<6)
                .map {
                    Record(
                        id: .string("\($0)"),
                        ["int": .int64(Int64($0)), "text": "t", "double": .double(Double(-$0))]
                    )
                }
            let world = try await QueryWorld(trial, rows)
            try await world.expect(
                Query("items").filtered(by: Column("int") > 1).ordered(by: "double").selecting(["text"]).limited(to: 3),
                ids: ["5", "4", "3"]
            )
        },
        rule(
            "order.selection-without-undeclared",
            "Values under undeclared keys are kept and come back in reads without a selection",
            in: "StoreCapabilities",
            "Reads a row with an undeclared key without a selection, and with one.",
            needs: "unknownColumns"
        ) { trial in
            let world = try await QueryWorld(trial, [Record(id: "a", ["int": 1, "extra": "x"])])
            try await world.expect(Query("items"), ids: ["a"])
            try await world.expect(Query("items").selecting(["int"]), ids: ["a"])
            try await world.expect(Query("items").selecting([]), ids: ["a"])
        },
    ]

    private static let counting: [StoreRule] = [
        rule(
            "order.count-of-conditions",
            "The number of rows that satisfy the query's predicate, whatever its limit and offset.",
            in: "StoreReadBackend/count(_:)",
            "Counts with conditions of every kind, in reads and in writes: as many as there are rows."
        ) { trial in
            let texts: [FieldValue] = ["milk", "Milk", "a milk", .null, ""]
            let rows = texts.enumerated()
                .map { Record(id: .string("\($0.offset)"), ["text": $0.element, "int": .int64(Int64($0.offset))]) }
            let world = try await QueryWorld(trial, rows)
            let text = Column("text")
            for predicate in [
                Column("int") > 2, text == .null, text != "milk", text.contains("milk"), text.starts(with: "M"),
                !text.ends(with: "milk"), text.folded == "MILK", text.matches(words: "milk"), text.length == 4,
                Column("int").isAny(of: [0, 4, 9]), Column("id") == "1", .constant(false), .all([]), .any([]),
                text == "milk" || Column("int") * 2 == 8, text != .null && Column("int") < 2,
            ] {
                try await world.expect(Query("items").filtered(by: predicate), alsoCounts: true)
            }
            try await world.expect(Query("items"), alsoCounts: true)
        },
        rule(
            "order.count-without-limit",
            "The number of rows that satisfy the query's predicate, whatever its limit and offset.",
            in: "StoreReadBackend/count(_:)",
            "Counts with limits, offsets, orders and selections: only the condition matters."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", (0..<7).map { .int64($0) }))
            let query = Query("items").filtered(by: Column("int") >= 2)
            for query in [
                query, query.limited(to: 2), query.limited(to: 0), query.skipping(3), query.skipping(99),
                query.ordered(by: "text").selecting(["text"]).limited(to: 1),
            ] {
                let count = try await world.store.read { try $0.count(query) }
                trial.expect(count, equals: 5, "count \(shown(query))")
            }
            let all = try await world.store.read { try $0.count(Query("items").skipping(2)) }
            trial.expect(all, equals: 7, "count of all rows")
        },
        rule(
            "order.total-count",
            "How many rows satisfy the predicate, whatever limit and offset; nil when the query did not ask.",
            in: "QueryResult",
            "Reads a page and asks for the total count: skipped rows and those beyond the limit count. Reads without"
                + " asking."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", (0..<7).map { .int64($0) }))
            let query = Query("items").filtered(by: Column("int") >= 2).skipping(1).limited(to: 2)
            let asked = try await world.store.read(query.countingAll())
            trial.expect(asked.totalCount, equals: 5, "total count of \(shown(query))")
            trial.expectIDs(asked.records, ["3", "4"], "rows of \(shown(query)) with its total count")
            trial.expect(
                try await world.store.read(query).totalCount,
                equals: nil,
                "total count that was not asked for"
            )
        },
        rule(
            "order.walk-stops-on-error",
            "An error thrown by the closure ends the walk and is rethrown as it is.",
            in: "StoreReadBackend/forEach(_:_:)",
            "Throws from the closure of forEach at the third row, in a read and in a write, and goes on reading."
        ) { trial in
            let world = try await QueryWorld(trial, (0..<9).map { Record(id: .string("\($0)")) })
            let inRead = try await world.store.read { try walk(&$0) }
            let inWrite = try await world.store.write { try walk(&$0) }
            for (name, walk) in [("read", inRead), ("write", inWrite)] {
                trial.expect(walk.rows, equals: 3, "rows handed out when the third throws, in a \(name)")
                trial.expect(walk.error, equals: "Own(number: 3)", "the error of the walk in a \(name)")
                trial.expect(walk.count, equals: 9, "count in the same \(name) afterwards")
            }
        },
    ]

    private static func walk(
        _ reader: inout some StoreReading & ~Copyable
    ) throws -> (rows: Int, error: String, count: Int) {
        var rows = 0
        var error = "none"
        do {
            try reader.forEach(Query("items")) { _ in
                rows += 1
                if rows == 3 { throw OwnError(number: 3) }
            }
        } catch let caught {
            error = caught is OwnError ? "Own(number: 3)" : "\(caught)"
        }
        return (rows, error, try reader.count(Query("items")))
    }
}

/// An error that no store knows.
struct OwnError: Error, Equatable {
    var number: Int
}
