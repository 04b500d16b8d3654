import SyncContract

/// Computes aggregates in SQL: with SQLite's own functions where they mean what the contract says, and with
/// ``SQLFunctions/sum`` where not.
struct AggregatePlan {
    private let query: AggregateQuery
    private let layout: TableLayout
    private let compiled: CompiledQuery

    init(_ query: AggregateQuery, _ layout: TableLayout) throws(StoreError) {
        try query.validate(for: layout.definition)
        self.query = query
        self.layout = layout
        let group = query.group.map { Self.column($0, layout) }
        var results = query.aggregates.map { Self.sql($0, layout) }
        if let group { results.insert(group.result, at: 0) }
        let clause = group.map { " GROUP BY \($0.key) ORDER BY \($0.key)" } ?? ""
        compiled = try QueryCompiler.aggregate(
            query.neededRows,
            layout,
            results: results.isEmpty ? ["1"] : results,
            groupClause: query.aggregates.isEmpty && group == nil ? " LIMIT 0" : clause
        )
    }

    func results(in database: Database) throws -> [AggregateGroup] {
        guard !query.aggregates.isEmpty || query.group != nil else { return [AggregateGroup(values: [])] }
        return try database.withStatement(compiled) { row in
            var groups: [AggregateGroup] = []
            while try step(row) { groups.append(try group(in: row)) }
            return groups
        }
    }

    private func step(_ row: Statement) throws -> Bool {
        do throws(SQLiteFailure) {
            return try row.step()
        } catch {
            guard error.isOutOfRange, let column = summedColumn else { throw error }
            throw StoreError.sumOutOfRange(column, layout.definition)
        }
    }

    /// Which sum is out of range is not known when there are several: the first is named.
    private var summedColumn: String? {
        query.aggregates.lazy.compactMap { if case .sum(let column) = $0 { column } else { nil } }.first
    }

    private func group(in row: Statement) throws -> AggregateGroup {
        var result = AggregateGroup(values: [])
        var index = 0
        if let group = query.group {
            result.group = try value(row, 0, group, layout.kind(of: group) ?? .string)
            index = 1
        }
        for aggregate in query.aggregates {
            result.values.append(try value(row, index, aggregate))
            index += 1
        }
        return result
    }

    private func value(_ row: Statement, _ index: Int, _ aggregate: Aggregate) throws -> FieldValue {
        if case .valueCount = aggregate { return .int64(row.int64(index)) }
        guard let column = aggregate.column, let kind = layout.kind(of: column) else { return .int64(row.int64(index)) }
        guard case .sum = aggregate, row.isNull(index) else { return try value(row, index, column, kind) }
        switch kind {
        case .double: return .double(0)
        case .decimal: return .decimal(DecimalText(0))
        default: return .int64(0)
        }
    }

    private func value(_ row: Statement, _ index: Int, _ name: String, _ kind: ColumnType) throws -> FieldValue {
        row.isNull(index) ? .null : try row.value(index, kind, name, layout.definition.name)
    }

    private static func sql(_ aggregate: Aggregate, _ layout: TableLayout) -> String {
        switch aggregate {
        case .count: "COUNT(*)"
        case .valueCount(let column): "COUNT(\(column.sqlIdentifier))"
        case .sum(let column): "\(SQLFunctions.sum)(\(column.sqlIdentifier))"
        case .minimum(let column): "MIN(\(comparable(column, layout)))"
        case .maximum(let column): "MAX(\(comparable(column, layout)))"
        }
    }

    /// What rows are grouped by, and what is shown of a group.
    private static func column(_ name: String, _ layout: TableLayout) -> (key: String, result: String) {
        guard layout.kind(of: name) == .decimal else { return (name.sqlIdentifier, name.sqlIdentifier) }
        // Of texts of the same number the first.
        return ("\(name.sqlIdentifier) COLLATE \(SQLFunctions.decimalCollation)", "MIN(\(name.sqlIdentifier))")
    }

    private static func comparable(_ column: String, _ layout: TableLayout) -> String {
        let name = column.sqlIdentifier
        return layout.kind(of: column) == .decimal ? "\(name) COLLATE \(SQLFunctions.decimalTextCollation)" : name
    }
}

extension QueryCompiler {
    /// What is computed over the rows of a query: they are read as a table of their own, with the state of each row under
    /// its name, which SQLite dissolves again where the query has no limit.
    fileprivate static func aggregate(
        _ query: Query,
        _ layout: TableLayout,
        results: [String],
        groupClause: String
    ) throws(StoreError) -> CompiledQuery {
        var columns = Set(query.selection ?? []).sorted().map(\.sqlIdentifier)
        if query.includesSyncStates {
            columns.append("\(SyncStateSQL.state(layout)) AS \(SyncStateTerm.name.sqlIdentifier)")
        }
        let isWhole = query.limit == nil && query.offset == 0
        var rows = query
        rows.selection = (query.selection ?? []).filter { $0 != "id" }
        var compiled = try select(
            rows,
            layout,
            columns: columns.isEmpty ? "1" : columns.joined(separator: ", "),
            isOrdered: !isWhole
        )
        compiled.sql = "SELECT \(results.joined(separator: ", ")) FROM (\(compiled.sql))" + groupClause
        return compiled
    }
}
