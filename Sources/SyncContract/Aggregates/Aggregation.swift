/// Computes aggregates from rows that come one after the other; its memory grows with the number of groups only.
package struct Aggregation {
    private let query: AggregateQuery
    private let table: TableDefinition
    private let initial: [Accumulator]
    private var groups: [GroupKey: Group] = [:]

    private struct Group {
        var value: FieldValue
        var accumulators: [Accumulator]
    }

    /// Begins without a row.
    ///
    /// - Throws: As ``AggregateQuery/validate(for:)``.
    package init(_ query: AggregateQuery, _ table: TableDefinition) throws(StoreError) {
        try query.validate(for: table)
        self.query = query
        self.table = table
        initial = query.aggregates.map { Accumulator($0, table) }
        // Without groups there is a result for no row as well.
        if query.group == nil { groups[.null] = Group(value: .null, accumulators: initial) }
    }

    /// Takes a row in.
    package mutating func add(_ row: Record) throws(StoreError) {
        let value = query.group.map { row[$0] ?? .null }?.inWholeMilliseconds ?? .null
        let key = GroupKey(value, foldsText: query.group == "id" && table.idComparison == .asciiCaseInsensitive)
        var group = groups.removeValue(forKey: key) ?? Group(value: value, accumulators: initial)
        if value.isTextBefore(group.value) { group.value = value }
        for index in group.accumulators.indices {
            try group.accumulators[index].add(query.aggregates[index].column.map { row[$0] ?? .null } ?? .null)
        }
        groups[key] = group
    }

    /// The results, in the order of the groups' values, null first.
    package func results() throws(StoreError) -> [AggregateGroup] {
        let sorted = groups.values.sorted { left, right in
            if left.value.isNull || right.value.isNull { return left.value.isNull && !right.value.isNull }
            return (left.value.compare(with: right.value, foldingText: foldsGroups) ?? 0) < 0
        }
        var results: [AggregateGroup] = []
        for group in sorted {
            var values: [FieldValue] = []
            for accumulator in group.accumulators { values.append(try accumulator.result(table)) }
            results.append(AggregateGroup(group: group.value, values: values))
        }
        return results
    }

    private var foldsGroups: Bool { query.group == "id" && table.idComparison == .asciiCaseInsensitive }
}

/// What two values of a column have in common when they compare equal.
private enum GroupKey: Hashable {
    case null
    case decimal(DecimalDigits)
    case value(FieldValue)

    init(_ value: FieldValue, foldsText: Bool) {
        switch value {
        case .null: self = .null
        case .decimal(let decimal): self = .decimal(DecimalDigits(decimal.text))
        case .string(let text) where foldsText: self = .value(.string(text.asciiLowercased()))
        default: self = .value(value)
        }
    }
}

/// One aggregate under way.
private enum Accumulator {
    case count(Int)
    case valueCount(Int)
    case whole(WholeSum, column: String)
    case double(DoubleSum, column: String)
    case decimal(DecimalSum, column: String)
    case extreme(FieldValue, isMaximum: Bool, foldsText: Bool)

    init(_ aggregate: Aggregate, _ table: TableDefinition) {
        switch aggregate {
        case .count: self = .count(0)
        case .valueCount: self = .valueCount(0)
        case .sum(let column):
            switch table.kind(of: column) {
            case .double: self = .double(DoubleSum(), column: column)
            case .decimal: self = .decimal(DecimalSum(), column: column)
            default: self = .whole(WholeSum(), column: column)
            }
        case .minimum(let column): self = .extreme(.null, isMaximum: false, foldsText: Self.folds(column, table))
        case .maximum(let column): self = .extreme(.null, isMaximum: true, foldsText: Self.folds(column, table))
        }
    }

    private static func folds(_ column: String, _ table: TableDefinition) -> Bool {
        column == "id" && table.idComparison == .asciiCaseInsensitive
    }

    mutating func add(_ value: FieldValue) throws(StoreError) {
        switch (self, value) {
        case (.count(let count), _): self = .count(count + 1)
        case (.valueCount(let count), _): if !value.isNull { self = .valueCount(count + 1) }
        case (.whole(var sum, let column), .int64(let number)):
            sum.add(number)
            self = .whole(sum, column: column)
        case (.double(var sum, let column), .double(let number)):
            // One holder at a time: what two hold is copied when one of them changes it.
            self = .count(0)
            sum.add(number)
            self = .double(sum, column: column)
        case (.decimal(var sum, let column), .decimal(let number)):
            self = .count(0)
            defer { self = .decimal(sum, column: column) }
            guard sum.add(number.text.utf8) else { throw .outOfRange(column, "is too large, or too fine, to be added") }
        case (.extreme(let best, let isMaximum, let foldsText), _):
            let value = value.inWholeMilliseconds
            guard !value.isNull, best.isNull || value.isBeyond(best, isMaximum, foldsText) else { return }
            self = .extreme(value, isMaximum: isMaximum, foldsText: foldsText)
        // Nulls.
        case (.whole, _), (.double, _), (.decimal, _): break
        }
    }

    func result(_ table: TableDefinition) throws(StoreError) -> FieldValue {
        switch self {
        case .count(let count), .valueCount(let count): return .int64(Int64(count))
        case .whole(let sum, let column):
            guard let value = sum.value else { throw .sumOutOfRange(column, table) }
            return .int64(value)
        case .double(let sum, let column):
            let value = sum.value
            guard !value.isNaN else { throw .sumOutOfRange(column, table) }
            return .double(value)
        case .decimal(let sum, _): return .decimal(sum.value)
        case .extreme(let value, _, _): return value
        }
    }
}

extension StoreError {
    /// The error for a sum that the column's type cannot hold.
    package static func sumOutOfRange(_ column: String, _ table: TableDefinition) -> StoreError {
        switch table.kind(of: column) {
        case .double: outOfRange(column, "is infinite in both directions: such values have no sum")
        case .decimal: outOfRange(column, "is too large, or too fine, to be added")
        default: outOfRange(column, "adds up to more than 64 bits hold; add it in parts, or declare it as decimal")
        }
    }

    fileprivate static func outOfRange(_ column: String, _ what: String) -> StoreError {
        StoreError(.outOfRange, "Column '\(column)' \(what).")
    }
}

extension FieldValue {
    /// The value without what comparisons do not look at in a date.
    fileprivate var inWholeMilliseconds: FieldValue {
        guard case .date(let date) = self, date.finerText != nil else { return self }
        return .date(Timestamp(milliseconds: date.milliseconds))
    }

    /// Whether this is a decimal whose text comes before that of another.
    fileprivate func isTextBefore(_ other: FieldValue) -> Bool {
        guard case .decimal(let text) = self, case .decimal(let otherText) = other else { return false }
        return (FieldValue.string(text.text).compare(with: .string(otherText.text)) ?? 0) < 0
    }

    fileprivate func isBeyond(_ best: FieldValue, _ isMaximum: Bool, _ foldsText: Bool) -> Bool {
        let sign = compare(with: best, foldingText: foldsText) ?? 0
        guard sign == 0 else { return isMaximum ? sign > 0 : sign < 0 }
        return isMaximum ? best.isTextBefore(self) : isTextBefore(best)
    }

    fileprivate func compare(with other: FieldValue, foldingText: Bool) -> Int? {
        guard foldingText, case .string(let text) = self, case .string(let otherText) = other else {
            return compare(with: other)
        }
        return FieldValue.string(text.asciiLowercased()).compare(with: .string(otherText.asciiLowercased()))
    }
}

extension StoreReadBackend {
    /// Goes through the rows.
    public func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        var aggregation = try Aggregation(query, definition(of: query.rows.table))
        try forEachAnswered(query.neededRows) { try aggregation.add($0) }
        return try aggregation.results()
    }

    /// The results, also when the backend knows nothing of the states that are asked for.
    func aggregateAnswered(_ query: AggregateQuery) throws -> [AggregateGroup] {
        guard !answersSyncStates, query.asksForSyncStates else { return try aggregate(query) }
        var aggregation = try Aggregation(query, definition(of: query.rows.table))
        try forEachAnswered(query.neededRows) { try aggregation.add($0) }
        return try aggregation.results()
    }
}
