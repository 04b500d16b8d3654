internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    private static let milliseconds =
        "Queries compare milliseconds only, in conditions and in orders, with an index and without."

    /// Texts whose order by UTF-8 is another than by UTF-16, by letters, or with accents composed.
    private static let texts = ["\u{FFFF}", "\u{10000}", "e\u{301}", "\u{E9}", "f", "Z", "a"]
    private static let textsInOrder = ["Z", "a", "e\u{301}", "f", "\u{E9}", "\u{FFFF}", "\u{10000}"]

    /// Orders of values that several forms have, and of text where nothing but its bytes decides.
    static let mixedOrders: [StoreRule] = [
        rule(
            "order.dates-finer-text",
            milliseconds,
            in: "Timestamp",
            "Orders rows whose dates are whole milliseconds in some and finer texts, of other zones too, in others: by the"
                + " instant, and by id where the millisecond is the same; alone, before another column, and cut."
        ) { trial in
            let world = try await QueryWorld(trial, mixedDates)
            try await expectMixedDates(world)
        },
        rule(
            "order.indexed-dates-finer-text",
            milliseconds,
            in: "Timestamp",
            "Does the same, and compares and looks up dates, in a table with an index of the dates, before and after rows"
                + " have got another form of their date."
        ) { trial in
            let table = TableDefinition(
                "items",
                columns: TableDefinition.items.columns,
                systemProperties: .all,
                indexes: [["date"], ["date", "int"]]
            )
            let world = try await QueryWorld(trial, mixedDates, in: table)
            try await expectMixedDates(world)
            for row in mixedDates {
                guard let date = row["date"] else { continue }
                for comparison in QueryComparison.allCases {
                    try await world.expect(.comparison(.column("date"), comparison, .value(date)))
                }
                try await world.expect(Column("date").isAny(of: [date, .null]))
            }
            // The whole become finer and the other way round, within their milliseconds: no order may change.
            let whole = FieldValue.date(mixedDates[0]["date"]?.dateValue?.milliseconds ?? 0)
            let finer = FieldValue.date(text: "2024-02-29T12:34:56.7899999Z")
            try await world.store.upsert(
                [Record(id: "a", ["date": whole]), Record(id: "b", ["date": finer])],
                table: "items"
            )
            let ids = try await world.store.read(Query("items").ordered(by: "date")).records
            trial.expectIDs(ids, datesInOrder, "rows by date after 'a' and 'b' have got another form of their date")
            let equal = try await world.store.read(Query("items").filtered(by: Column("date") == whole)).records
            trial.expectIDs(equal, ["a", "b", "e"], "rows of one millisecond after that")
        },
        rule(
            "order.text-utf8",
            "Strings compare by their UTF-8 bytes,",
            in: "Query",
            "Orders texts that only their UTF-8 bytes put into this order: as the first column, as the second, descending,"
                + " and as ids, with and without case."
        ) { trial in
            let rows = texts.enumerated()
                .map { Record(id: .string("\($0.offset)"), ["text": .string($0.element), "int": 1]) }
            let world = try await QueryWorld(trial, rows)
            let ids: [RecordID] = textsInOrder.map { text in
                .string("\(texts.firstIndex { $0.utf8.elementsEqual(text.utf8) } ?? -1)")
            }
            try await world.expect(Query("items").ordered(by: "text"), ids: ids)
            try await world.expect(Query("items").ordered(by: "text", .descending), ids: ids.reversed())
            try await world.expect(Query("items").ordered(by: "int").ordered(by: "text"), ids: ids)
            let byID = try await QueryWorld(trial, texts.map { Record(id: .string($0)) })
            try await byID.expect(Query("items"), ids: textsInOrder.map { .string($0) })
            let folding = try await QueryWorld(trial, texts.map { Record(id: .string($0)) }, in: .folding)
            let folded = ["a", "e\u{301}", "f", "Z", "\u{E9}", "\u{FFFF}", "\u{10000}"]
            try await folding.expect(Query("folding"), ids: folded.map { .string($0) })
        },
    ]

    private static let mixedDates: [Record] = [
        ("a", FieldValue.date(text: "2024-02-29T12:34:56.7891234Z"), 3), ("b", .date(1_709_210_096_789), 2),
        ("c", .date(1_709_210_096_788), 1), ("d", .date(text: "2024-02-29T12:34:56.7889999Z"), 0),
        ("e", .date(text: "2024-02-29T14:34:56.7890001+02:00"), 1), ("f", .date(1_709_210_096_790), 0),
        ("g", .date(text: "1969-12-31T23:59:59.9999999Z"), 5), ("h", .date(-1), 4), ("i", .date(0), 4),
        ("j", .null, 0),
    ]
    .map { Record(id: .string($0.0), ["date": $0.1, "int": .int64($0.2)]) }

    private static let datesInOrder: [RecordID] = ["j", "g", "h", "i", "c", "d", "a", "b", "e", "f"]

    private static func expectMixedDates(_ world: QueryWorld) async throws {
        let query = Query("items")
        try await world.expect(query.ordered(by: "date"), ids: datesInOrder)
        try await world.expect(
            query.ordered(by: "date", .descending),
            ids: ["f", "a", "b", "e", "c", "d", "i", "g", "h", "j"]
        )
        try await world.expect(
            query.ordered(by: "date").ordered(by: "int"),
            ids: ["j", "h", "g", "i", "d", "c", "e", "b", "a", "f"]
        )
        try await world.expect(query.ordered(by: "date").skipping(5).limited(to: 3), ids: ["d", "a", "b"])
    }
}
