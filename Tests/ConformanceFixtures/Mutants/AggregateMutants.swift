import ReferenceStore
import SyncContract

extension Mutant {
    static let aggregates: [Mutant] = [
        Mutant("aggregate.count", "counts the rows that have a value in every column") {
            $0.asking { query in
                query.rows = query.rows.filtered(by: Column("int") != .null)
            }
        },
        Mutant("aggregate.value-count", "counts nulls as values") {
            $0.aggregate = { query, inner in
                var all = query
                all.aggregates = query.aggregates.map { if case .valueCount = $0 { .count } else { $0 } }
                return try inner.aggregate(all)
            }
        },
        Mutant("aggregate.sum-of-nulls", "gives null for a sum of nothing, as SQL does") {
            $0.aggregate = { query, inner in
                let groups = try inner.aggregate(query)
                return groups.map { group in
                    AggregateGroup(
                        group: group.group,
                        values: zip(query.aggregates, group.values)
                            .map { aggregate, value in
                                if case .sum = aggregate, [0, 0.0, .decimal(DecimalText(0))].contains(value) {
                                    return .null
                                }
                                return value
                            }
                    )
                }
            }
        },
        Mutant("aggregate.decimals-are-exact", "adds decimals as doubles") {
            $0.adding("decimal") { values in
                let sum = values.compactMap { $0.decimalValue.flatMap { Double($0.text) } }.reduce(0, +)
                return DecimalText(shortestOf: sum).map(FieldValue.decimal) ?? .null
            }
        },
        Mutant("aggregate.whole-numbers-are-exact", "refuses a sum that leaves 64 bits on the way") {
            $0.adding("int") { values in
                var sum: Int64 = 0
                for value in values.compactMap(\.int64Value) {
                    let (next, overflows) = sum.addingReportingOverflow(value)
                    if overflows { throw StoreError(.outOfRange, "too large on the way") }
                    sum = next
                }
                return .int64(sum)
            }
        },
        Mutant("aggregate.sum-beyond-64-bits", "lets a sum begin again at the other end") {
            $0.adding("int") { .int64($0.compactMap(\.int64Value).reduce(0, &+)) }
        },
        Mutant("aggregate.doubles-rounded-once", "adds doubles one by one") {
            $0.adding("double") { .double($0.compactMap(\.doubleValue).reduce(0, +)) }
        },
        Mutant("aggregate.infinities", "gives what is no number for infinities of both signs") {
            $0.adding("double") { values in
                let sum = values.compactMap(\.doubleValue).reduce(0, +)
                return sum.isNaN ? .null : .double(sum)
            }
        },
        Mutant("aggregate.sum-of-other-kinds", "adds texts up to 0") {
            $0.aggregate = { query, inner in
                do {
                    return try inner.aggregate(query)
                } catch let error as StoreError where error.code == .invalidQuery {
                    return [AggregateGroup(values: [0])]
                }
            }
        },
        Mutant("aggregate.smallest-and-largest", "compares decimals by their text") {
            $0.choosing("decimal") { values, isMaximum in
                let texts = values.compactMap(\.decimalValue).sorted { $0.text < $1.text }
                return (isMaximum ? texts.last : texts.first).map(FieldValue.decimal) ?? .null
            }
        },
        Mutant("aggregate.decimals-of-one-number", "gives whichever of equal decimals comes first") {
            $0.choosing("decimal") { values, isMaximum in
                let numbers = values.compactMap(\.decimalValue)
                let best = numbers.dropFirst()
                    .reduce(numbers.first) { best, next in
                        guard let best else { return next }
                        return (isMaximum ? best.isNumericallyLess(than: next) : next.isNumericallyLess(than: best))
                            ? next : best
                    }
                return best.map(FieldValue.decimal) ?? .null
            }
        },
        Mutant("aggregate.whole-milliseconds", "gives the finer text of a date out") {
            $0.choosing("date") { values, isMaximum in
                let dates = values.compactMap(\.dateValue).sorted { $0.milliseconds < $1.milliseconds }
                return (isMaximum ? dates.last : dates.first).map(FieldValue.date) ?? .null
            }
        },
        Mutant("aggregate.rows-of-the-query", "leaves limit and offset out") {
            $0.asking { query in
                query.rows.limit = query.rows.limit.map { max($0, 1_000) }
                query.rows.offset = 0
            }
        },
        Mutant("aggregate.random", "takes a limit for one of the groups") {
            $0.aggregate = { query, inner in
                guard query.group != nil, let limit = query.rows.limit else { return try inner.aggregate(query) }
                var whole = query
                (whole.rows.limit, whole.rows.offset) = (nil, 0)
                return Array(try inner.aggregate(whole).prefix(limit))
            }
        },
        Mutant("aggregate.random-folding", "orders groups of ids with case") {
            $0.aggregate = { query, inner in
                let groups = try inner.aggregate(query)
                guard query.group == "id" else { return groups }
                return groups.sorted { ($0.group.stringValue ?? "") < ($1.group.stringValue ?? "") }
            }
        },
        Mutant("aggregate.groups-in-order", "gives groups with null last") {
            $0.aggregate = { query, inner in
                let groups = try inner.aggregate(query)
                return groups.filter { !$0.group.isNull } + groups.filter { $0.group.isNull }
            }
        },
        Mutant("aggregate.equal-values-are-one-group", "groups decimals by their text") {
            $0.aggregate = { query, inner in
                guard query.group == "decimal" else { return try inner.aggregate(query) }
                let rows = try inner.all(query)
                return Dictionary(grouping: rows) { $0["decimal"] ?? .null }
                    .map { AggregateGroup(group: $0.key, values: [.int64(Int64($0.value.count))]) }
                    .sorted { ($0.group.decimalValue?.text ?? "") < ($1.group.decimalValue?.text ?? "") }
            }
        },
        Mutant("aggregate.groups-by-state", "takes every row for synced in groups") {
            $0.answersSyncStates = true
            $0.aggregate = { query, inner in
                guard query.group == Column.syncState.name else { return try inner.aggregate(query) }
                var whole = query
                whole.group = nil
                return try inner.aggregate(whole).map { AggregateGroup(group: "synced", values: $0.values) }
            }
        },
    ]
}

extension Faults {
    /// Asks for something else.
    fileprivate mutating func asking(_ change: @escaping @Sendable (inout AggregateQuery) -> Void) {
        aggregate = { query, inner in
            var query = query
            change(&query)
            return try inner.aggregate(query)
        }
    }

    /// Adds a column up in another way, where it is the only thing that is asked for.
    fileprivate mutating func adding(
        _ column: String,
        _ sum: @escaping @Sendable ([FieldValue]) throws -> FieldValue
    ) {
        aggregate = { query, inner in
            guard query.aggregates == [.sum(of: column)], query.group == nil else { return try inner.aggregate(query) }
            return [AggregateGroup(values: [try sum(inner.all(query).map { $0[column] ?? .null })])]
        }
    }

    /// Finds the smallest and largest value of a column in another way, where they are all that is asked for.
    fileprivate mutating func choosing(
        _ column: String,
        _ best: @escaping @Sendable ([FieldValue], _ isMaximum: Bool) -> FieldValue
    ) {
        aggregate = { query, inner in
            guard query.aggregates == [.minimum(of: column), .maximum(of: column)], query.group == nil else {
                return try inner.aggregate(query)
            }
            let values = try inner.all(query).map { $0[column] ?? .null }
            return [AggregateGroup(values: [best(values, false), best(values, true)])]
        }
    }
}

extension MemoryTransaction {
    fileprivate func all(_ query: AggregateQuery) throws -> [Record] {
        var rows: [Record] = []
        try forEach(query.rows) { rows.append($0) }
        return rows
    }
}
