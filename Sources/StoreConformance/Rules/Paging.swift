internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let paging: [StoreRule] = [
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

    static let selecting: [StoreRule] = [
        rule(
            "order.selection",
            "The columns to return besides the id; nil for all, undeclared ones included.",
            in: "Query",
            "Selects two columns, the id, nothing, and one column twice; a null that is selected is there as null."
        ) { trial in
            let world = try await QueryWorld(trial, [Record(id: "a", ["int": 1, "text": "x"]), Record(id: "b")])
            for selection in [["int", "version"], ["id"], [], ["text", "text"], ["deleted", "updatedAt"]] {
                try await world.expect(Query("items").selecting(selection), ids: ["a", "b"])
            }
            let row = try await world.store.read(Query("items").selecting(["int", "bool"]).limited(to: 1)).records.first
            let expected = Record(id: "a", ["int": 1, "bool": .null])
            trial.expectRow(row, expected, "select int and bool of row 'a'")
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

    static let counting: [StoreRule] = [
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
            "Reads pages with a limit, an offset, both and neither, within a closure and without, and asks for the total count:"
                + " skipped rows and those beyond the limit count. Reads without asking."
        ) { trial in
            let world = try await QueryWorld(trial, QueryWorld.rows("int", (0..<7).map { .int64($0) }))
            let query = Query("items").filtered(by: Column("int") >= 2).skipping(1).limited(to: 2)
            let asked = try await world.store.read(query.countingAll())
            trial.expect(asked.totalCount, equals: 5, "total count of \(shown(query))")
            trial.expectIDs(asked.records, ["3", "4"], "rows of \(shown(query)) with its total count")
            for (limit, offset) in [(nil, 0), (nil, 2), (nil, 9), (0, 0), (1, 0), (2, 9), (9, 1)] as [(Int?, Int)] {
                var page = query.countingAll()
                (page.limit, page.offset) = (limit, offset)
                let pages = [
                    try await world.store.read(page), try await world.store.read { [page] in try $0.read(page) },
                ]
                for (result, way) in zip(pages, ["", ", within a closure"]) {
                    trial.expect(result.totalCount, equals: 5, "total count of \(shown(page))\(way)")
                    let count = max(0, min(limit ?? 5, 5 - offset))
                    trial.expect(result.records.count, equals: count, "rows of \(shown(page))\(way)")
                }
            }
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
