internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

extension StoreRules {
    static let randomAggregates: [StoreRule] = [
        rule(
            "aggregate.random",
            "The rows are those that the query gives, its order, offset and limit included;",
            in: "AggregateQuery",
            "Computes random aggregates, of all rows and by groups, over 100 random queries, and compares with what comes out for"
                + " the rows of QueryEvaluator, errors as well."
        ) { trial in
            try await trial.expectAggregates(100, of: .items) { "\($0)" }
        },
        rule(
            "aggregate.random-folding",
            "Values that compare equal are one group, and so are nulls.",
            in: "AggregateQuery",
            "The same over 60 random queries of a table whose ids ignore case, which are in the one case and in the other."
        ) { trial in
            try await trial.expectAggregates(60, of: .folding) { $0 % 2 == 0 ? "A\($0)" : "a\($0)" }
        },
    ]
}

extension StoreTrial {
    fileprivate func expectAggregates(
        _ count: Int,
        of table: TableDefinition,
        _ id: (Int) -> String
    ) async throws {
        var random = RandomRows(self.random(), table)
        let world = try await StateWorld(self, (0..<40).map { random.record(.string(id($0))) }, in: table)
        let columns = table.allColumns.map(\.name)
        var queries = [
            Query(table.name).aggregating(.count, .maximum(of: "id"), by: "id"),
            Query(table.name).limited(to: 30).aggregating(.count, by: "bool"),
        ]
        for _ in 0..<count { queries.append(random.aggregates(over: world.rows, columns)) }
        for query in queries {
            let expected = AggregateOutcome { try world.evaluate(query) }
            let read = try await world.store.read { reader in AggregateOutcome { try reader.aggregate(query) } }
            let written = try await world.store.write { transaction in
                AggregateOutcome { try transaction.aggregate(query) }
            }
            let input = shown(query)
            expect(read, equals: expected, input)
            expect(written, equals: expected, input + " in a write transaction")
            // One wrong result says enough.
            guard read == expected, written == expected else { return }
        }
    }
}

extension RandomRows {
    fileprivate mutating func aggregates(over rows: [Record], _ columns: [String]) -> AggregateQuery {
        var query = query(over: rows)
        if query.offset > rows.count { query.offset = 0 }
        if random.chance(20) { query.predicate = Column.syncState != .synced }
        return AggregateQuery(
            query,
            [
                .count, .valueCount(of: random.pick(columns)), .sum(of: random.pick(["int", "double", "decimal"])),
                .minimum(of: random.pick(["id"] + columns)), .maximum(of: random.pick(["id"] + columns)),
            ],
            by: group(columns)
        )
    }

    /// What to group by: nothing, the id or the state in every fourth case each, and otherwise any column.
    private mutating func group(_ columns: [String]) -> String? {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: nil
        case 1: "id"
        case 2: Column.syncState.name
        default: random.pick(columns)
        }
    }
}

extension StateWorld {
    /// What comes out for the rows that the query gives.
    fileprivate func evaluate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        var given = query.rows
        given.selection = nil
        given.includesSyncStates = true
        var aggregation = try Aggregation(query, table)
        for row in try QueryEvaluator(table).evaluate(given, over: rows, answersSyncStates: true) {
            try aggregation.add(row)
        }
        return try aggregation.results()
    }
}

/// Results, or the code of the error instead.
private enum AggregateOutcome: Sendable, Equatable, CustomStringConvertible {
    case groups([AggregateGroup])
    case error(String)

    init(_ body: () throws -> [AggregateGroup]) {
        do {
            self = .groups(try body())
        } catch {
            self = .error((error as? StoreError).map { "the error .\($0.code)" } ?? brief(error))
        }
    }

    var description: String {
        switch self {
        case .groups(let groups) where groups.isEmpty: "no groups"
        case .groups(let groups):
            groups.map { "\(shown($0.group)): \($0.values.map { shown($0) }.joined(separator: ", "))" }
                .joined(separator: "; ")
        case .error(let text): text
        }
    }
}
