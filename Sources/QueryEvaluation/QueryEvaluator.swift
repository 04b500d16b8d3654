public import SyncContract

/// Evaluates queries over records in memory: the meaning that every other form of a query is held against.
public struct QueryEvaluator: Sendable {
    private let table: TableDefinition

    /// An evaluator for rows of the given table. The table decides how ids compare.
    public init(_ table: TableDefinition) { self.table = table }

    /// The rows a query gives: filtered, ordered, cut, and reduced to the selected columns.
    ///
    /// The records are gone through once, and those that satisfy the predicate are held: what is in memory is bounded by
    /// them when the sequence is lazy, and not by the table.
    ///
    /// - Parameters:
    ///   - query: The query.
    ///   - records: The rows.
    ///   - answersSyncStates: Whether each row has its state in `Record.syncState`, for queries about it.
    /// - Returns: The rows, with their states if the query asks for them.
    /// - Throws: `StoreError` with code `StoreError.Code.invalidQuery`, as `Query.validate(for:)` does.
    public func evaluate(
        _ query: Query,
        over records: some Sequence<Record>,
        answersSyncStates: Bool = false
    ) throws(StoreError) -> [Record] {
        let query = try query.validated(for: table, answersSyncStates: answersSyncStates)
        let rows = records.filter { record in
            query.predicate.map { holds($0) { record[$0] ?? .null } } ?? true
        }
        var cut = Array(sorted(rows, by: query.order).dropFirst(query.offset).prefix(query.limit ?? Int.max))
        if answersSyncStates, !query.includesSyncStates {
            for index in cut.indices { cut[index].syncState = nil }
        }
        guard let selection = query.selection else { return cut }
        return cut.map { $0.selecting(selection) }
    }

    /// Whether a row satisfies a predicate; every row satisfies none. A column the row lacks is null.
    ///
    /// - Throws: `StoreError` with code `StoreError.Code.invalidQuery` for a predicate beyond the bounds said at
    ///   `QueryPredicate`.
    public func matches(_ record: Record, _ predicate: QueryPredicate?) throws(StoreError) -> Bool {
        guard let predicate = try predicate?.normalized() else { return true }
        return holds(predicate) { record[$0] ?? .null }
    }

    /// Whether one row comes before another in an order that ends with the id.
    public func precedes(_ left: Record, _ right: Record, in order: [QueryOrder]) -> Bool {
        let entries = Self.complete(order)
        return Self.precedes(keys(of: left, entries), keys(of: right, entries), entries)
    }

    /// Rows in an order. What they are compared by is computed once for each row, not once for each comparison: folding
    /// a text costs more than comparing it.
    private func sorted(_ rows: [Record], by order: [QueryOrder]) -> [Record] {
        guard rows.count > 1 else { return rows }
        let entries = Self.complete(order)
        return rows.map { (keys: keys(of: $0, entries), row: $0) }
            .sorted { Self.precedes($0.keys, $1.keys, entries) }
            .map(\.row)
    }

    private func keys(of row: Record, _ entries: [QueryOrder]) -> [FieldValue] {
        entries.map { value(of: $0, row) }
    }

    private static func complete(_ order: [QueryOrder]) -> [QueryOrder] { order + [QueryOrder(column: "id")] }

    private static func precedes(_ left: [FieldValue], _ right: [FieldValue], _ entries: [QueryOrder]) -> Bool {
        for (index, entry) in entries.enumerated() {
            let (a, b) = (left[index], right[index])
            let sign = a.isNull || b.isNull ? (a.isNull ? 0 : 1) - (b.isNull ? 0 : 1) : a.compare(with: b) ?? 0
            if sign != 0 { return entry.direction == .ascending ? sign < 0 : sign > 0 }
        }
        return false
    }

    /// Whether a normalized predicate holds for the row whose values the closure knows.
    package func holds(_ predicate: QueryPredicate, _ row: (String) -> FieldValue) -> Bool {
        switch predicate {
        case .constant(let value): return value
        case .all(let parts): return parts.allSatisfy { holds($0, row) }
        case .any(let parts): return parts.contains { holds($0, row) }
        case .not(let part): return !holds(part, row)
        case .isAnyOf(let expression, let values):
            let foldsIDs = expression == .column("id")
            let value = expression.value(row)
            return expression.alike(values).contains { compare(value, .equal, $0, foldsIDs: foldsIDs) }
        case .match(let text, let match, let pattern):
            guard case .string(let text) = text.value(row), case .string(let pattern) = pattern.value(row) else {
                return false
            }
            return text.matchesBytes(match, pattern)
        case .words(let text, let match, let columns):
            let words = columns.flatMap { row($0).stringValue.map(TextWords.words) ?? [] }
            return TextWords.terms(of: text, match).allSatisfy { words.contains(where: $0.matches) }
        case .comparison(let left, let comparison, let right):
            let foldsIDs = left == .column("id") || right == .column("id")
            return compare(left.value(row), comparison, right.value(row), foldsIDs: foldsIDs)
        }
    }

    private func compare(
        _ left: FieldValue,
        _ comparison: QueryComparison,
        _ right: FieldValue,
        foldsIDs: Bool
    ) -> Bool {
        let left = foldsIDs ? folded(left) : left
        let right = foldsIDs ? folded(right) : right
        let sign = left.isNull && right.isNull ? nil : left.compare(with: right)
        return switch comparison {
        case .equal: left.isNull && right.isNull || sign == 0
        case .notEqual: !(left.isNull && right.isNull || sign == 0)
        case .less: sign.map { $0 < 0 } ?? false
        case .lessOrEqual: sign.map { $0 <= 0 } ?? false
        case .greater: sign.map { $0 > 0 } ?? false
        case .greaterOrEqual: sign.map { $0 >= 0 } ?? false
        }
    }

    private func value(of entry: QueryOrder, _ record: Record) -> FieldValue {
        if entry.isFolded { return QueryExpression.folded(.column(entry.column)).value { record[$0] ?? .null } }
        return entry.column == "id" ? folded(record.id.fieldValue) : record[entry.column] ?? .null
    }

    private func folded(_ value: FieldValue) -> FieldValue {
        guard case .string(let text) = value, table.idComparison == .asciiCaseInsensitive else { return value }
        return .string(text.asciiLowercased())
    }
}

extension String {
    fileprivate func matchesBytes(_ match: QueryMatch, _ pattern: String) -> Bool {
        switch match {
        case .startsWith: utf8.starts(with: pattern.utf8)
        case .endsWith: utf8.count >= pattern.utf8.count && utf8.suffix(pattern.utf8.count).elementsEqual(pattern.utf8)
        case .contains: firstPosition(of: pattern) != nil
        }
    }
}
