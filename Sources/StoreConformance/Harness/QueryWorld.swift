internal import ConformanceRunner
internal import QueryEvaluation
internal import SyncContract

/// A store with known rows: what a query gives is held against ``QueryEvaluator``.
struct QueryWorld {
    let trial: StoreTrial
    let store: any SyncContextDataSource
    let table: TableDefinition
    let rows: [Record]

    /// Writes the rows into a new store.
    init(_ trial: StoreTrial, _ records: [Record], in table: TableDefinition = .items) async throws {
        self.trial = trial
        self.table = table
        store = try await trial.makeStore(TableDefinition.standard.contains(table) ? TableDefinition.standard : [table])
        rows = records.map { table.filled($0) }
        try await store.upsert(records, table: table.name)
    }

    /// Rows with one column each, ids `0`, `1` and so on.
    static func rows(_ column: String, _ values: [FieldValue]) -> [Record] {
        values.enumerated().map { Record(id: .string("\($0.offset)"), [column: $0.element]) }
    }

    /// Reports when a query does not give what it means, in a read and in a write transaction.
    ///
    /// The ids are given where the contract's answer is written down by hand. Counts are looked at by rules of their own:
    /// a store that counts wrong is not to break all others.
    func expect(
        _ query: Query,
        ids: [RecordID]? = nil,
        alsoCounts: Bool = false
    ) async throws {
        let evaluator = QueryEvaluator(table)
        let expected = try evaluator.evaluate(query, over: rows)
        let read = try await store.read { try $0.records(query) }
        let written = try await store.write { try $0.records(query) }
        let over = rows.count > 3 ? "\(rows.count) rows" : rows.map { shown($0.withoutNulls) }.joined(separator: ", ")
        let input = "query \(shown(query)) over \(over)"
        if let ids { trial.expectIDs(read, ids, input) }
        trial.expectRows(read, expected, input)
        trial.expectRows(written, expected, input + " in a write transaction")
        guard alsoCounts else { return }
        let count = try rows.count { try evaluator.matches($0, query.predicate) }
        let readCount = try await store.read { try $0.count(query) }
        let writtenCount = try await store.write { try $0.count(query) }
        trial.expect(readCount, equals: count, "count of \(shown(query))")
        trial.expect(writtenCount, equals: count, "count of \(shown(query)) in a write transaction")
    }

    /// The same for a predicate alone.
    func expect(_ predicate: QueryPredicate, ids: [RecordID]? = nil) async throws {
        try await expect(Query(table.name).filtered(by: predicate), ids: ids)
    }
}

/// A query as text.
func shown(_ query: Query) -> String {
    var parts = [query.table]
    if let predicate = query.predicate { parts.append("where \(shown(predicate))") }
    let order = query.order.map { entry in
        (entry.isFolded ? "folded \(entry.column)" : entry.column)
            + (entry.direction == .ascending ? "" : " descending")
    }
    if !order.isEmpty { parts.append("by \(order.joined(separator: ", "))") }
    if query.offset != 0 { parts.append("skip \(query.offset)") }
    if let limit = query.limit { parts.append("limit \(limit)") }
    if let selection = query.selection { parts.append("select [\(selection.joined(separator: ", "))]") }
    if query.includesSyncStates { parts.append("with states") }
    return brief(parts.joined(separator: " "))
}

func shown(_ predicate: QueryPredicate) -> String {
    switch predicate {
    case .constant(let value): "\(value)"
    case .comparison(let left, let comparison, let right): "\(shown(left)) \(comparison) \(shown(right))"
    case .match(let text, let match, let pattern): "\(shown(text)) \(match) \(shown(pattern))"
    case .isAnyOf(let expression, let values):
        "\(shown(expression)) in [" + values.prefix(8).map { shown($0) }.joined(separator: ", ")
            + (values.count > 8 ? ", … \(values.count) in all]" : "]")
    case .words(let text, let match, let columns): "words \(shown(.string(text))) as \(match) in \(columns)"
    case .all(let parts): "(\(shown(parts, joinedBy: " and ")))"
    case .any(let parts): "(\(shown(parts, joinedBy: " or ")))"
    case .not(let part): "not \(shown(part))"
    }
}

private func shown(_ parts: [QueryPredicate], joinedBy word: String) -> String {
    parts.prefix(8).map { shown($0) }.joined(separator: word)
        + (parts.count > 8 ? "\(word)… \(parts.count) in all" : "")
}

private func shown(_ expression: QueryExpression) -> String {
    switch expression {
    case .column(let name): name
    case .value(let value): shown(value)
    case .function(let function, let operand): "\(function)(\(shown(operand)))"
    case .operation(let left, let symbol, let right): "(\(shown(left)) \(symbol) \(shown(right)))"
    case .substring(let text, let start, let count):
        "substring(\(shown(text)), \(shown(start))\(count.map { ", " + shown($0) } ?? ""))"
    }
}
