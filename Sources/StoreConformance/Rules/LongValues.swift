internal import ConformanceRunner
internal import SyncContract

// Values that agree for longer than a store may look at them.
extension StoreRules {
    static let longValues: [StoreRule] = [
        rule(
            "query.long-values",
            "Dates compare by their milliseconds, bytes byte for byte, and JSON by the bytes of its text.",
            in: "Query",
            "Writes texts, bytes, JSON and decimals of 6,000 bytes and digits that differ in the last alone, and compares, looks"
                + " up and orders them, and asks for the smallest, the largest and their groups, with indexes and without."
        ) { trial in
            for isIndexed in [true, false] {
                let table = TableDefinition(
                    "items",
                    columns: TableDefinition.items.columns,
                    systemProperties: .all,
                    indexes: isIndexed ? longColumns.map { [$0] } : []
                )
                let world = try await QueryWorld(trial, longRows, in: table)
                for column in longColumns { try await expectLongValues(world, column, isIndexed ? "indexed" : "plain") }
            }
        }
    ]

    private static let longColumns = ["text", "bytes", "json", "decimal"]

    /// Rows whose values get smaller from one to the next.
    private static let longRows = (0..<3)
        .map { number in
            let text = String(repeating: "1", count: 5_999) + "\(9 - number)"
            return Record(
                id: .string("\(number)"),
                [
                    "text": .string(text), "bytes": .bytes(Array(text.utf8)), "json": .json("[\(text)]"),
                    "decimal": .decimal(text),
                ]
            )
        }

    private static func expectLongValues(_ world: QueryWorld, _ column: String, _ kind: String) async throws {
        let (trial, query) = (world.trial, Query("items"))
        let values = longRows.map { $0[column] ?? .null }
        let ids: [RecordID] = ["2", "1", "0"]
        var conditions: [(QueryPredicate, [RecordID])] = [
            (Column(column).isAny(of: [values[0], values[2]]), ["0", "2"]), (Column(column) < values[1], ["2"]),
            (Column(column) >= values[1], ["0", "1"]),
        ]
        for (value, id) in zip(values, ids.reversed()) { conditions.append((Column(column) == value, [id])) }
        for (condition, expected) in conditions {
            let got = try await world.store.read(query.filtered(by: condition)).records
            trial.expectIDs(got, expected, "long values, \(kind): query \(shown(query.filtered(by: condition)))")
        }
        for (order, expected) in [(QueryOrder.Direction.ascending, ids), (.descending, ids.reversed())] {
            let got = try await world.store.read(query.ordered(by: column, order)).records
            trial.expectIDs(got, expected, "long values, \(kind): by \(column), \(order)")
        }
        let ends = try await world.store.aggregate(query.aggregating(.minimum(of: column), .maximum(of: column)))
        trial.expect(
            ends == [AggregateGroup(values: [values[2], values[0]])],
            "long values, \(kind): the smallest and the largest of \(column)",
            expected: "the last and the first, whole",
            got: "\(ends.flatMap { $0.values.map { shown($0) } })"
        )
        let groups = try await world.store.aggregate(query.aggregating(.count, by: column))
        trial.expect(
            groups == values.reversed().map { AggregateGroup(group: $0, values: [1]) },
            "long values, \(kind): the groups of \(column)",
            expected: "three groups of one row",
            got: "\(groups.map { "\(shown($0.group)): \($0.values)" })"
        )
    }
}
