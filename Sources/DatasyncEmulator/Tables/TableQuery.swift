/// What a list request asks of a table, in either dialect.
struct TableQuery {
    var filter: ODataExpression?
    var orders: [ODataOrder] = []
    var includesDeleted = false
    var skip = 0
    var take: Int?
    /// Whether the number of all matching rows is wanted; without it the search may stop early.
    var needsTotal = false
    /// Whether a condition over null is unknown, as in SQL, instead of false.
    var hasUnknown = false

    struct Result {
        var rows: [EmulatedRow] = []
        /// How many rows match, at least: exact when a total was wanted or `hasMore` is false.
        var matching = 0
        var hasMore = false
    }

    typealias Entries = ArraySlice<RowIndexes.Entry>

    func run(on table: EmulatedTable) -> Result {
        let range = filter.map { IndexRange($0, ignoresCase: table.store.ignoresCase) }
        let byID = range.map(table.indexes.entriesByID) ?? table.indexes.byID[...]
        let byStamp = range.map(table.indexes.entriesByStamp) ?? table.indexes.byStamp[...]
        switch naturalOrder {
        // An index is read in its order unless the other one leaves so few rows that these are sorted sooner.
        case .id(let isDescending) where byStamp.count >= byID.count / 16:
            return page(byID, isDescending, filter, table)
        case .stamp(let isDescending) where byID.count >= byStamp.count / 16:
            return page(byStamp, isDescending, filter?.withoutStampRange, table)
        default: break
        }
        let isFewerByStamp = byStamp.count < byID.count
        let rest = isFewerByStamp ? filter?.withoutStampRange : filter
        let matching = (isFewerByStamp ? byStamp : byID).filter { isVisible($0.row, rest, in: table) }
        return page(sorted(matching, in: table)[...], false, nil, table, areVisible: true)
    }

    /// The page of rows that are in order already.
    private func page(
        _ entries: Entries,
        _ isDescending: Bool,
        _ filter: ODataExpression?,
        _ table: EmulatedTable,
        areVisible: Bool = false
    ) -> Result {
        let end = take.map { skip.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue } ?? .max
        let hidesSome = !includesDeleted && table.definition.softDelete && table.indexes.deletedCount > 0
        if areVisible || filter == nil && !hidesSome { return page(entries, isDescending, end: end) }
        var result = Result()
        var position = isDescending ? entries.endIndex : entries.startIndex
        while isDescending ? position > entries.startIndex : position < entries.endIndex {
            if isDescending { position -= 1 }
            let row = entries[position].row
            if !isDescending { position += 1 }
            guard isVisible(row, filter, in: table) else { continue }
            if result.matching >= skip, result.matching < end { result.rows.append(row) }
            result.hasMore = result.matching >= end
            result.matching += 1
            if result.hasMore, !needsTotal { break }
        }
        return result
    }

    /// The page where all rows match: nothing is read but the page.
    private func page(_ entries: Entries, _ isDescending: Bool, end: Int) -> Result {
        let positions = min(skip, entries.count)..<min(end, entries.count)
        let rows = positions.map { position in
            entries[isDescending ? entries.endIndex - 1 - position : entries.startIndex + position].row
        }
        return Result(rows: rows, matching: entries.count, hasMore: end < entries.count)
    }

    private func isVisible(_ row: EmulatedRow, _ filter: ODataExpression?, in table: EmulatedTable) -> Bool {
        if row.deleted, table.definition.softDelete, !includesDeleted { return false }
        return filter.map { evaluator(row, table).matches($0) } ?? true
    }

    private func evaluator(_ row: EmulatedRow, _ table: EmulatedTable) -> ODataEvaluator {
        var evaluator = ODataEvaluator(row: row, columns: table.columns)
        evaluator.hasUnknown = hasUnknown
        evaluator.ignoresCase = table.store.ignoresCase
        return evaluator
    }

    // MARK: Order

    private enum NaturalOrder {
        case id(isDescending: Bool)
        case stamp(isDescending: Bool)
    }

    /// The order asked for, if the table keeps its rows in it anyway. Every order ends in the id.
    private var naturalOrder: NaturalOrder? {
        func order(_ name: String, isDescending: Bool = false) -> ODataOrder {
            ODataOrder(expression: .property(name), isDescending: isDescending)
        }
        guard let first = orders.first else { return .id(isDescending: false) }
        if first.expression == .property("id") { return .id(isDescending: first.isDescending) }
        switch orders {
        case [order("updatedAt")], [order("updatedAt"), order("id")]: return .stamp(isDescending: false)
        case [order("updatedAt", isDescending: true), order("id", isDescending: true)]:
            return .stamp(isDescending: true)
        default: return nil
        }
    }

    private func sorted(_ entries: [RowIndexes.Entry], in table: EmulatedTable) -> [RowIndexes.Entry] {
        let keyed = entries.map { entry in
            (entry: entry, keys: orders.map { evaluator(entry.row, table).comparable($0.expression) })
        }
        // The sort is stable in fact but not by contract, so the id is compared as well.
        return
            keyed.sorted { first, second in
                for (order, (left, right)) in zip(orders, zip(first.keys, second.keys)) {
                    switch left.sortOrder(to: right, nullsLast: table.store.sortsNullsLast) {
                    case .same: continue
                    case .ascending: return !order.isDescending
                    case .descending: return order.isDescending
                    }
                }
                return first.entry.key < second.entry.key
            }
            .map(\.entry)
    }
}
