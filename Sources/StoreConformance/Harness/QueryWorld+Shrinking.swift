internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

/// Random queries that fail, told with as few rows and conditions as show the fault.
extension QueryWorld {
    /// Reports when a query does not give what it means, as ``expect(_:ids:alsoCounts:)`` does, of the fewest rows
    /// and the shortest query that were found.
    ///
    /// - Returns: Whether it was right.
    func expectShrinking(_ query: Query) async throws -> Bool {
        guard try await !isRight(query) else { return true }
        let least = try await shrunk(rows, tries: 60) { rows in
            try await !QueryWorld(trial, rows, in: table).isRight(query)
        }
        let world = try await QueryWorld(trial, least, in: table)
        var shortest = query
        var tries = 60
        search: while tries > 0 {
            for candidate in shortest.shorter {
                tries -= 1
                guard try await !world.isRight(candidate) else { continue }
                shortest = candidate
                continue search
            }
            break
        }
        let before = trial.violationCount
        try await world.expect(shortest, alsoCounts: true)
        // What depends on more than rows and query is told as it was met.
        if trial.violationCount == before { try await expect(query, alsoCounts: true) }
        if trial.violationCount == before {
            trial.report(
                "query \(shown(query)) over \(rows.count) rows, again and again",
                expected: "the same rows each time",
                got: "others once"
            )
        }
        return false
    }

    private func isRight(_ query: Query) async throws -> Bool {
        let evaluator = QueryEvaluator(table)
        let expected = try evaluator.evaluate(query, over: rows)
        let count = try rows.count { try evaluator.matches($0, query.predicate) }
        func looksRight(_ got: ([Record], Int)) -> Bool { got.0 == expected && got.1 == count }
        let read = try await store.read { (try $0.records(query), try $0.count(query)) }
        let written = try await store.write { (try $0.records(query), try $0.count(query)) }
        return looksRight(read) && looksRight(written)
    }
}

extension Query {
    /// This query with one thing less, in every way.
    fileprivate var shorter: [Query] {
        var shorter: [Query] = []
        func add(_ change: (inout Query) -> Void) {
            var query = self
            change(&query)
            shorter.append(query)
        }
        if predicate != nil { add { $0.predicate = nil } }
        if limit != nil { add { $0.limit = nil } }
        if offset != 0 { add { $0.offset = 0 } }
        if selection != nil { add { $0.selection = nil } }
        for index in order.indices { add { $0.order.remove(at: index) } }
        for part in predicate?.shorter ?? [] { add { $0.predicate = part } }
        return shorter
    }
}

extension QueryPredicate {
    /// This condition with one part less, in every way.
    fileprivate var shorter: [QueryPredicate] {
        switch self {
        case .all(let parts): Self.shorter(parts) { .all($0) }
        case .any(let parts): Self.shorter(parts) { .any($0) }
        case .not(let part): [part] + part.shorter.map { .not($0) }
        case .isAnyOf(let expression, let values) where values.count > 1:
            values.indices.map { index in
                var rest = values
                rest.remove(at: index)
                return .isAnyOf(expression, rest)
            }
        default: []
        }
    }

    private static func shorter(
        _ parts: [QueryPredicate],
        _ join: ([QueryPredicate]) -> QueryPredicate
    ) -> [QueryPredicate] {
        var shorter = parts
        for index in parts.indices {
            var rest = parts
            rest.remove(at: index)
            if rest.count > 1 { shorter.append(join(rest)) }
            for part in parts[index].shorter {
                rest = parts
                rest[index] = part
                shorter.append(join(rest))
            }
        }
        return shorter
    }
}
