import SyncContract

/// A statement and the values of its parameters.
struct CompiledQuery: Sendable, Hashable {
    var sql: String
    var bindings: [SQLValue]
}

/// Compiles queries to SQL with the meaning of `QueryEvaluator`. Values are always bound, names always quoted.
enum QueryCompiler {
    /// The rows of a query, in its order.
    static func select(_ query: Query, _ layout: TableLayout, columns: String) throws(StoreError) -> CompiledQuery {
        try check(query, layout)
        return try compile(layout) { (predicates) throws(StoreError) in
            "SELECT \(columns) FROM \(layout.sqlName)" + (try predicates.whereClause(query.predicate))
                + orderClause(query, layout) + limitClause(query, &predicates)
        }
    }

    /// The number of rows that satisfy a query's predicate.
    static func count(_ query: Query, _ layout: TableLayout) throws(StoreError) -> CompiledQuery {
        try check(query, layout)
        return try compile(layout) { (predicates) throws(StoreError) in
            "SELECT COUNT(*) FROM \(layout.sqlName)" + (try predicates.whereClause(query.predicate))
        }
    }

    /// Deletes the rows of a query.
    static func delete(_ query: Query, _ layout: TableLayout) throws(StoreError) -> CompiledQuery {
        guard query.limit != nil || query.offset != 0 else {
            try check(query, layout)
            return try compile(layout) { (predicates) throws(StoreError) in
                "DELETE FROM \(layout.sqlName)" + (try predicates.whereClause(query.predicate))
            }
        }
        var rows = try select(query, layout, columns: "\"id\"")
        rows.sql = "DELETE FROM \(layout.sqlName) WHERE \"id\" IN (\(rows.sql))"
        return rows
    }

    /// Compiles once with a parameter for each value, and again with all values in one when there are too many.
    private static func compile(
        _ layout: TableLayout,
        _ body: (inout PredicateCompiler) throws(StoreError) -> String
    ) throws(StoreError) -> CompiledQuery {
        var predicates = PredicateCompiler(layout, packsValues: false)
        let sql = try body(&predicates)
        guard predicates.values.count > PredicateCompiler.maximumParameterCount else {
            return CompiledQuery(sql: sql, bindings: predicates.values)
        }
        predicates = PredicateCompiler(layout, packsValues: true)
        let packedSQL = try body(&predicates)
        return CompiledQuery(sql: packedSQL, bindings: [.blob(PackedValues.pack(predicates.values))])
    }

    /// Refuses what `QueryEvaluator.check` refuses, but for columns in the predicate, which its compiler meets.
    private static func check(_ query: Query, _ layout: TableLayout) throws(StoreError) {
        var outside = query
        outside.predicate = nil
        try QueryEvaluator(layout.definition).check(outside)
    }

    /// Nulls are the smallest values in SQLite, so they come first; ties are broken by the id.
    private static func orderClause(_ query: Query, _ layout: TableLayout) -> String {
        var terms: [String] = []
        var seen: Set<String> = []
        for entry in query.order + [QueryOrder(column: "id")] where seen.insert(entry.column).inserted {
            let isDecimal = layout.definition.type(of: entry.column) == .decimal && entry.column != "id"
            terms.append(
                entry.column.sqlIdentifier + (isDecimal ? " COLLATE \(SQLFunctions.decimalCollation)" : "")
                    + (entry.direction == .descending ? " DESC" : "")
            )
            // No two rows have one id: nothing after it decides anything.
            if entry.column == "id" { break }
        }
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    private static func limitClause(_ query: Query, _ predicates: inout PredicateCompiler) -> String {
        guard query.limit != nil || query.offset != 0 else { return "" }
        let limit = predicates.parameter(.int64(Int64(query.limit ?? -1)))
        return " LIMIT \(limit) OFFSET " + predicates.parameter(.int64(Int64(query.offset)))
    }
}
