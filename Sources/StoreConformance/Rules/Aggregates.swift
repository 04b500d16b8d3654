internal import ConformanceRunner
internal import SyncContract

extension StoreRules {
    static let aggregates: [StoreRule] = sums + extremes + groups + randomAggregates

    private static let source = "Aggregate"

    /// Rows, and what must come out for them.
    private static func computed(
        _ id: String,
        _ sentence: String,
        in source: String,
        _ procedure: String,
        rows: [Record],
        in table: TableDefinition = .items,
        _ cases: @escaping @Sendable () -> [(AggregateQuery, [AggregateGroup])]
    ) -> StoreRule {
        rule(id, sentence, in: source, procedure) { trial in
            let world = try await QueryWorld(trial, rows, in: table)
            for (query, expected) in cases() {
                let read = try await world.store.read { try $0.aggregate(query) }
                let written = try await world.store.write { try $0.aggregate(query) }
                trial.expect(read, equals: expected, shown(query))
                trial.expect(written, equals: expected, shown(query) + " in a write transaction")
            }
        }
    }

    private static func all(_ values: FieldValue...) -> [AggregateGroup] { [AggregateGroup(values: values)] }

    private static func rows(_ column: String, _ values: FieldValue...) -> [Record] { QueryWorld.rows(column, values) }

    private static var items: Query { Query("items") }

    private static let sums: [StoreRule] = [
        computed(
            "aggregate.count",
            "A count is that of the rows, nulls included",
            in: source,
            "Counts rows with and without values, under a condition, and none.",
            rows: rows("int", 1, .null, 3)
        ) {
            [
                (items.aggregating(.count), all(3)),
                (items.filtered(by: Column("int") == .null).aggregating(.count), all(1)),
                (items.filtered(by: .constant(false)).aggregating(.count), all(0)),
            ]
        },
        computed(
            "aggregate.value-count",
            "a count of values is that of the rows with a value in a column.",
            in: source,
            "Counts the values of a column with nulls, under a limit, by groups, of ids, and of no rows.",
            rows: rows("int", 1, .null, 3)
        ) {
            let values = Aggregate.valueCount(of: "int")
            return [
                (items.aggregating(values, .valueCount(of: "text"), .valueCount(of: "id")), all(2, 0, 3)),
                (items.ordered(by: "int").limited(to: 2).aggregating(values), all(1)),
                (items.filtered(by: .constant(false)).aggregating(values), all(0)),
                (
                    items.aggregating(values, by: "int"),
                    [(FieldValue.null, FieldValue.int64(0)), (1, 1), (3, 1)]
                        .map { AggregateGroup(group: $0, values: [$1]) }
                ),
            ]
        },
        computed(
            "aggregate.sum-of-nulls",
            "nulls left out, and has the column's type; without a value it is 0.",
            in: source,
            "Adds values with nulls between them, nulls alone, and no rows, in a column of each type of number.",
            rows: rows("int", 5, .null, -7) + [
                Record(id: "d", ["double": 1.5]), Record(id: "e", ["decimal": .decimal("1.5")]),
            ]
        ) {
            let none = items.filtered(by: Column("id") == "1")
            let sums: [Aggregate] = [.sum(of: "int"), .sum(of: "double"), .sum(of: "decimal")]
            return [
                (AggregateQuery(items, sums), all(-2, 1.5, .decimal("1.5"))),
                (AggregateQuery(none, sums), all(0, 0.0, .decimal("0"))),
                (AggregateQuery(items.filtered(by: .constant(false)), sums), all(0, 0.0, .decimal("0"))),
            ]
        },
        computed(
            "aggregate.decimals-are-exact",
            "Sums of whole numbers and of decimals are exact, and do not depend on the order of the rows.",
            in: source,
            "Adds decimals of other lengths, signs and exponents: tenths, thirty digits, and thousandths beside thousands.",
            rows: rows(
                "decimal",
                .decimal("0.1"),
                .decimal("0.20"),
                .decimal("123456789012345678901234567890.1"),
                .decimal("-1e3"),
                .decimal("1E-3")
            )
        ) {
            [
                (items.limited(to: 2).aggregating(.sum(of: "decimal")), all(.decimal("0.3"))),
                (items.aggregating(.sum(of: "decimal")), all(.decimal("123456789012345678901234566890.401"))),
                (items.skipping(3).aggregating(.sum(of: "decimal")), all(.decimal("-999.999"))),
            ]
        },
        computed(
            "aggregate.whole-numbers-are-exact",
            "Sums of whole numbers and of decimals are exact, and do not depend on the order of the rows.",
            in: source,
            "Adds whole numbers that leave 64 bits on the way and come back, and such that no double holds.",
            rows: rows("int", .int64(.max), 1, -2)
        ) {
            [
                (items.aggregating(.sum(of: "int")), all(.int64(.max - 1))),
                (items.skipping(1).aggregating(.sum(of: "int")), all(-1)),
                (items.limited(to: 1).aggregating(.sum(of: "int")), all(.int64(.max))),
            ]
        },
        rule(
            "aggregate.sum-beyond-64-bits",
            "A sum of whole numbers that does not fit 64 bits is an error",
            in: source,
            "Adds one to the largest whole number, in a read and in a write, and goes on reading."
        ) { trial in
            let world = try await QueryWorld(trial, rows("int", .int64(.max), 1))
            let query = items.aggregating(.sum(of: "int"))
            try await trial.expectError(.outOfRange, from: shown(query)) { _ = try await world.store.aggregate(query) }
            try await trial.expectError(.outOfRange, from: shown(query) + " in a write transaction") {
                _ = try await world.store.write { try $0.aggregate(query) }
            }
            trial.expect(try await world.store.aggregate(items.aggregating(.count)), equals: all(2), "count afterwards")
        },
        computed(
            "aggregate.doubles-rounded-once",
            "A sum of doubles is the exact sum, rounded once: it does not depend on the order of the rows either.",
            in: source,
            "Adds doubles whose small parts are lost when they are added one by one, in two orders.",
            rows: rows("double", 1e300, 1.0, -1e300, 0.1, 0.2)
        ) {
            [
                (items.limited(to: 3).aggregating(.sum(of: "double")), all(1.0)),
                (items.skipping(3).aggregating(.sum(of: "double")), all(0.30000000000000004)),
                (items.aggregating(.sum(of: "double")), all(1.3)),
            ]
        },
        rule(
            "aggregate.infinities",
            "An infinity makes the sum infinite; infinities of both signs are an error.",
            in: source,
            "Adds an infinity to numbers, and one of the other sign to that."
        ) { trial in
            let world = try await QueryWorld(trial, rows("double", 1.0, .double(.infinity), .double(-.infinity)))
            let one = items.limited(to: 2).aggregating(.sum(of: "double"))
            let both = items.aggregating(.sum(of: "double"))
            trial.expect(try await world.store.aggregate(one), equals: all(.double(.infinity)), shown(one))
            try await trial.expectError(.outOfRange, from: shown(both)) { _ = try await world.store.aggregate(both) }
        },
        rule(
            "aggregate.sum-of-other-kinds",
            "for a column that is not declared, and for a sum of a column that holds no numbers.",
            in: "AggregateQuery/validate(for:)",
            "Asks for sums of columns that hold no numbers, of no column, and for groups by no column, of an empty table."
        ) { trial in
            let store = try await trial.makeStore()
            for column in ["bool", "text", "date", "bytes", "json", "id", "none"] {
                try await trial.expectError(.invalidQuery, from: "sum of \(column)") {
                    _ = try await store.aggregate(items.aggregating(.sum(of: column)))
                }
            }
            for query in [
                items.aggregating(.minimum(of: "none")), items.aggregating(.maximum(of: "none")),
                items.aggregating(.count, by: "none"), items.filtered(by: Column("none") == 1).aggregating(.count),
                items.limited(to: -1).aggregating(.count),
            ] {
                try await trial.expectError(.invalidQuery, from: shown(query)) { _ = try await store.aggregate(query) }
            }
            try await trial.expectError(.tableNotFound, from: "aggregate over an undeclared table") {
                _ = try await store.aggregate(Query("none").aggregating(.count))
            }
        },
    ]

    private static let extremes: [StoreRule] = [
        computed(
            "aggregate.smallest-and-largest",
            "The smallest and the largest value are those by the comparison that `Query` describes, nulls left out;"
                + " without a value they are null.",
            in: source,
            "Asks for the smallest and largest values of columns of every type, with nulls, and of a column of nulls.",
            rows: [
                Record(id: "a", ["int": -3, "text": "b", "date": .date(5), "bytes": .bytes([2])]),
                Record(id: "b", ["int": 10, "text": "Z", "date": .date(-5), "bytes": .bytes([1, 9]), "bool": true]),
                Record(id: "c", ["text": "é", "double": 2.5, "decimal": .decimal("9"), "bool": false]),
                Record(id: "d", ["double": -10.0, "decimal": .decimal("10"), "bytes": .bytes([])]),
            ]
        ) {
            func both(_ column: String, _ smallest: FieldValue, _ largest: FieldValue) -> (
                AggregateQuery, [AggregateGroup]
            ) {
                (items.aggregating(.minimum(of: column), .maximum(of: column)), all(smallest, largest))
            }
            return [
                both("int", -3, 10), both("text", "Z", "é"), both("date", .date(-5), .date(5)),
                both("bytes", .bytes([]), .bytes([2])), both("bool", false, true), both("double", -10.0, 2.5),
                both("decimal", .decimal("9"), .decimal("10")), both("json", .null, .null), both("id", "a", "d"),
            ]
        },
        computed(
            "aggregate.decimals-of-one-number",
            "Of decimals that are the same number, the smallest has the text that comes first by its bytes,",
            in: source,
            "Asks for the smallest and largest of decimals that are one number in three texts.",
            rows: rows("decimal", .decimal("1.10"), .decimal("11e-1"), .decimal("1.1"))
        ) {
            [
                (
                    items.aggregating(.minimum(of: "decimal"), .maximum(of: "decimal")),
                    all(.decimal("1.1"), .decimal("11e-1"))
                )
            ]
        },
        computed(
            "aggregate.whole-milliseconds",
            "Dates come in whole milliseconds.",
            in: source,
            "Asks for the smallest and largest of dates that a server sent finer, and for their groups.",
            rows: rows("date", .date(text: "2026-01-01T00:00:00.0001234Z"), .date(text: "2026-01-01T00:00:00.0009Z"))
        ) {
            let instant = FieldValue.date(text: "2026-01-01T00:00:00Z")
            return [
                (items.aggregating(.minimum(of: "date"), .maximum(of: "date")), all(instant, instant)),
                (items.aggregating(.count, by: "date"), [AggregateGroup(group: instant, values: [2])]),
            ]
        },
        computed(
            "aggregate.rows-of-the-query",
            "The rows are those that the query gives, its order, offset and limit included; its selection does not"
                + " matter.",
            in: "AggregateQuery",
            "Adds the two largest of five numbers, and all but the first; with a selection of other columns.",
            rows: rows("int", 3, 9, 1, 7, 5)
        ) {
            [
                (items.ordered(by: "int", .descending).limited(to: 2).aggregating(.count, .sum(of: "int")), all(2, 16)),
                (items.ordered(by: "int").skipping(1).aggregating(.count, .minimum(of: "int")), all(4, 3)),
                (items.selecting(["text"]).aggregating(.sum(of: "int")), all(25)),
                (items.limited(to: 0).aggregating(.count, .maximum(of: "int")), all(0, .null)),
            ]
        },
    ]

    private static let groups: [StoreRule] = [
        computed(
            "aggregate.groups-in-order",
            "one result without a group, and otherwise one for each value that occurs, ordered by it, null first.",
            in: "StoreReadBackend/aggregate(_:)",
            "Groups rows by text, by whole numbers, by bytes and by their truth; groups none; and asks for groups alone.",
            rows: [
                Record(id: "1", ["text": "b", "int": 1, "bool": true, "bytes": .bytes([2])]),
                Record(id: "2", ["text": "B", "int": 10, "bytes": .bytes([])]),
                Record(id: "3", ["text": "b", "int": 2, "bool": false, "bytes": .bytes([1, 200])]),
                Record(id: "4", ["int": 5, "bool": true, "bytes": .bytes([2, 0])]),
            ]
        ) {
            func group(_ group: FieldValue, _ values: FieldValue...) -> AggregateGroup {
                AggregateGroup(group: group, values: values)
            }
            return [
                (
                    items.aggregating(.sum(of: "int"), .count, by: "text"),
                    [group(.null, 5, 1), group("B", 10, 1), group("b", 3, 2)]
                ),
                (
                    items.aggregating(.maximum(of: "int"), by: "bool"),
                    [group(.null, 10), group(false, 2), group(true, 5)]
                ),
                (
                    items.aggregating(.sum(of: "int"), by: "bytes"),
                    [
                        group(.bytes([]), 10), group(.bytes([1, 200]), 2), group(.bytes([2]), 1),
                        group(.bytes([2, 0]), 5),
                    ]
                ),
                (items.filtered(by: .constant(false)).aggregating(.count, by: "text"), []),
                (AggregateQuery(items, [], by: "int"), [group(1), group(2), group(5), group(10)]),
            ]
        },
        computed(
            "aggregate.equal-values-are-one-group",
            "Values that compare equal are one group, and so are nulls.",
            in: "AggregateQuery",
            "Groups decimals that are one number in several texts, of which the one that comes first by its bytes is the group's,"
                + " and nulls.",
            rows: rows(
                "decimal",
                .decimal("10"),
                .decimal("1e1"),
                .null,
                .decimal("9"),
                .null,
                .decimal("1.10"),
                .decimal("1.1"),
                .decimal("1.100")
            )
        ) {
            [
                (
                    items.aggregating(.count, by: "decimal"),
                    [
                        AggregateGroup(group: .null, values: [2]), AggregateGroup(group: .decimal("1.1"), values: [3]),
                        AggregateGroup(group: .decimal("9"), values: [1]),
                        AggregateGroup(group: .decimal("10"), values: [2]),
                    ]
                )
            ]
        },
        rule(
            "aggregate.groups-by-state",
            "Any declared column, `id`, and the name of `syncState`.",
            in: "AggregateQuery",
            "Groups rows by their states: two have an operation that waits, one has one that was refused."
        ) { trial in
            let store = try await trial.makeStore()
            let operations = [("0", 0), ("1", 3), ("2", 0)].enumerated()
                .map { index, operation in
                    let (key, state) = operation
                    return Record(
                        id: .int64(Int64(index + 1)),
                        [
                            "table": "items", "itemId": .string(key), "itemKey": .string(key),
                            "state": .int64(Int64(state)),
                        ]
                    )
                }
            try await store.write { transaction in
                try transaction.upsert(rows("int", 1, 2, 3, 4), into: "items")
                try transaction.upsert(operations, into: SystemTables.operations.name)
            }
            let query = items.aggregating(.sum(of: "int"), by: Column.syncState.name)
            let expected: [AggregateGroup] = [
                AggregateGroup(group: "failed", values: [2]), AggregateGroup(group: "pending", values: [4]),
                AggregateGroup(group: "synced", values: [4]),
            ]
            trial.expect(try await store.aggregate(query), equals: expected, shown(query))
        },
    ]
}

/// A query as text.
func shown(_ query: AggregateQuery) -> String {
    let aggregates = query.aggregates.map { aggregate in
        switch aggregate {
        case .count: "count"
        case .valueCount(let column): "count of \(column)"
        case .sum(let column): "sum of \(column)"
        case .minimum(let column): "minimum of \(column)"
        case .maximum(let column): "maximum of \(column)"
        }
    }
    return "\(aggregates.joined(separator: ", "))\(query.group.map { " by \($0)" } ?? "") over \(shown(query.rows))"
}
