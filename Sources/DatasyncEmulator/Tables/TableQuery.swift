/// What a list request asks of a table, in either dialect.
struct TableQuery {
    var filter: ODataExpression?
    var orders: [ODataOrder] = []
    var includesDeleted = false
    var skip = 0
    var take: Int?
    /// Whether the number of all matching rows is wanted; without it the search may stop early.
    var needsTotal = false

    struct Result {
        var rows: [EmulatedRow] = []
        /// How many rows match, at least: exact when a total was wanted or `hasMore` is false.
        var matching = 0
        var hasMore = false
    }

    func run(on table: EmulatedTable) -> Result {
        var result = Result()
        let end = take.map { skip.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue } ?? .max
        for row in candidates(in: table) {
            if result.matching >= skip, result.matching < end { result.rows.append(row) }
            result.hasMore = result.matching >= end
            result.matching += 1
            if result.hasMore, !needsTotal { break }
        }
        return result
    }

    /// The matching rows in order.
    private func candidates(in table: EmulatedTable) -> any Sequence<EmulatedRow> {
        switch naturalOrder {
        case .id: return table.rowsByID.lazy.filter { isVisible($0, in: table) }
        case .updatedAt:
            let start = filter?.earliestUpdatedAt ?? .min
            return table.rowsByStamp(from: start).lazy.filter { isVisible($0, in: table) }
        case nil: return sorted(table.rowsByID.filter { isVisible($0, in: table) }, by: table.columns)
        }
    }

    private func isVisible(_ row: EmulatedRow, in table: EmulatedTable) -> Bool {
        if row.deleted, table.definition.softDelete, !includesDeleted { return false }
        return filter.map { ODataEvaluator(row: row, columns: table.columns).matches($0) } ?? true
    }

    private enum NaturalOrder {
        case id
        case updatedAt
    }

    /// The order asked for, if the table keeps its rows in it anyway. Every order ends in the id.
    private var naturalOrder: NaturalOrder? {
        let id = ODataOrder(expression: .property("id"), isDescending: false)
        let updatedAt = ODataOrder(expression: .property("updatedAt"), isDescending: false)
        if orders.isEmpty || orders.first == id { return .id }
        return orders == [updatedAt] || orders == [updatedAt, id] ? .updatedAt : nil
    }

    /// Sorts rows that are in order of their ids.
    private func sorted(
        _ rows: [EmulatedRow],
        by columns: [String: EmulatedTableDefinition.ColumnType]
    ) -> [EmulatedRow] {
        let keyed = rows.map { row in
            (row: row, keys: orders.map { ODataEvaluator(row: row, columns: columns).value($0.expression) })
        }
        // The sort is stable in fact but not by contract, so the id is compared as well.
        return
            keyed.sorted { first, second in
                for (order, (left, right)) in zip(orders, zip(first.keys, second.keys)) {
                    switch left.sortOrder(to: right) {
                    case .same: continue
                    case .ascending: return !order.isDescending
                    case .descending: return order.isDescending
                    }
                }
                return first.row.id < second.row.id
            }
            .map(\.row)
    }
}
