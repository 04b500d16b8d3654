internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let ordering: [StoreRule] = orders + mixedOrders + paging + selecting + counting

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
            "Orders by two columns in opposite directions, by one column twice, and by four and five columns."
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
            // Each row has a value in one column more than the row before.
            let columns = ["bool", "double", "version", "int", "text"]
            let deep = try await QueryWorld(
                trial,
                (0...5)
                    .map { same in
                        var row = Record(
                            id: .string("\(same)"),
                            ["bool": true, "double": 0.5, "version": "b", "int": 7, "text": "b"]
                        )
                        for column in columns.dropFirst(same) { row[column] = .null }
                        return row
                    }
            )
            for count in 4...5 {
                let query = columns.prefix(count).reduce(query) { $0.ordered(by: $1, .descending) }
                let last: [RecordID] = count == 4 ? ["4", "5"] : ["5", "4"]
                try await deep.expect(query, ids: last + ["3", "2", "1", "0"])
            }
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
            "Orders dates from before the year 1 to beyond 9999, as instants and not as text, bytes above and below 128, and JSON"
                + " with white space and without."
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
            let json = [#"{"a":0}"#, #"{ "a":1}"#, #"{"a": 2}"#, "10", "9", #"{"A":3}"#].map { FieldValue.json($0) }
            let other = try await QueryWorld(trial, QueryWorld.rows("json", json))
            try await other.expect(query.ordered(by: "json"), ids: ["3", "4", "1", "5", "2", "0"])
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
}
