/// Evaluates queries over records in memory: the meaning that every other form of a query is held against.
public struct QueryEvaluator: Sendable {
    private let table: TableDefinition

    /// An evaluator for rows of the given table. The table decides how ids compare.
    public init(_ table: TableDefinition) { self.table = table }

    /// The rows a query gives: filtered, ordered, cut, and reduced to the selected columns.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidQuery``, as ``check(_:)`` does.
    public func evaluate(_ query: Query, over records: some Sequence<Record>) throws(StoreError) -> [Record] {
        try check(query)
        var rows = records.filter { matches($0, query.predicate) }
        rows.sort { precedes($0, $1, in: query.order) }
        let cut = rows.dropFirst(query.offset).prefix(query.limit ?? Int.max)
        guard let selection = query.selection else { return Array(cut) }
        return cut.map { $0.selecting(selection) }
    }

    /// Whether a row satisfies a predicate; every row satisfies none.
    public func matches(_ record: Record, _ predicate: QueryPredicate?) -> Bool {
        predicate.map { holds($0, record) } ?? true
    }

    /// Whether one row comes before another in an order that ends with the id.
    public func precedes(_ left: Record, _ right: Record, in order: [QueryOrder]) -> Bool {
        for entry in order + [QueryOrder(column: "id")] {
            let a = value(of: entry.column, left)
            let b = value(of: entry.column, right)
            let sign = a.isNull || b.isNull ? (a.isNull ? 0 : 1) - (b.isNull ? 0 : 1) : a.compare(with: b) ?? 0
            if sign != 0 { return entry.direction == .ascending ? sign < 0 : sign > 0 }
        }
        return false
    }

    /// Refuses a query that names an undeclared column or has a negative limit or offset.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidQuery``; the message names what is wrong.
    public func check(_ query: Query) throws(StoreError) {
        guard query.offset >= 0, query.limit ?? 0 >= 0 else {
            throw .invalidQuery("a query of '\(table.name)' has a negative limit or offset; use 0 or more")
        }
        var columns = query.order.map(\.column) + (query.selection ?? [])
        query.predicate?.collectColumns(into: &columns)
        for column in columns where column != "id" && table.type(of: column) == nil {
            throw .invalidQuery("table '\(table.name)' has no declared column '\(column)'; declare it to query it")
        }
    }

    private func holds(_ predicate: QueryPredicate, _ record: Record) -> Bool {
        switch predicate {
        case .constant(let value): return value
        case .all(let parts): return parts.allSatisfy { holds($0, record) }
        case .any(let parts): return parts.contains { holds($0, record) }
        case .not(let part): return !holds(part, record)
        case .isAnyOf(let expression, let values):
            return values.contains { holds(.comparison(expression, .equal, .value($0)), record) }
        case .match(let text, let match, let pattern):
            guard case .string(let text) = evaluate(text, record), case .string(let pattern) = evaluate(pattern, record)
            else { return false }
            return text.matchesBytes(match, pattern)
        case .comparison(let left, let comparison, let right):
            let foldsIDs = left == .column("id") || right == .column("id")
            let a = evaluate(left, record)
            let b = evaluate(right, record)
            return foldsIDs ? compare(folded(a), comparison, folded(b)) : compare(a, comparison, b)
        }
    }

    private func compare(_ left: FieldValue, _ comparison: QueryComparison, _ right: FieldValue) -> Bool {
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

    private func evaluate(_ expression: QueryExpression, _ record: Record) -> FieldValue {
        switch expression {
        case .value(let value): return value
        case .column(let name): return record[name] ?? .null
        case .lowercased(let operand):
            return evaluate(operand, record).stringValue.map { .string($0.asciiLowercased()) } ?? .null
        case .uppercased(let operand):
            return evaluate(operand, record).stringValue.map { .string($0.asciiUppercased()) } ?? .null
        }
    }

    private func value(of column: String, _ record: Record) -> FieldValue {
        column == "id" ? folded(record.id.fieldValue) : record[column] ?? .null
    }

    private func folded(_ value: FieldValue) -> FieldValue {
        guard case .string(let text) = value, table.idComparison == .asciiCaseInsensitive else { return value }
        return .string(text.asciiLowercased())
    }
}

extension QueryPredicate {
    /// Adds the name of every column in the tree.
    package func collectColumns(into columns: inout [String]) {
        switch self {
        case .constant: break
        case .all(let parts), .any(let parts): for part in parts { part.collectColumns(into: &columns) }
        case .not(let part): part.collectColumns(into: &columns)
        case .isAnyOf(let expression, _): expression.collectColumns(into: &columns)
        case .comparison(let left, _, let right), .match(let left, _, let right):
            left.collectColumns(into: &columns)
            right.collectColumns(into: &columns)
        }
    }
}

extension QueryExpression {
    fileprivate func collectColumns(into columns: inout [String]) {
        switch self {
        case .column(let name): columns.append(name)
        case .value: break
        case .lowercased(let operand), .uppercased(let operand): operand.collectColumns(into: &columns)
        }
    }
}

extension String {
    fileprivate func matchesBytes(_ match: QueryMatch, _ pattern: String) -> Bool {
        let bytes = Array(utf8)
        let sought = Array(pattern.utf8)
        guard sought.count <= bytes.count else { return false }
        return switch match {
        case .startsWith: bytes.starts(with: sought)
        case .endsWith: bytes.suffix(sought.count).elementsEqual(sought)
        case .contains:
            (0...bytes.count - sought.count).contains { bytes[$0..<$0 + sought.count].elementsEqual(sought) }
        }
    }
}
