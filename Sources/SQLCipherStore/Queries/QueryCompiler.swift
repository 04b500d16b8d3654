import SyncContract

/// A statement, the values of its parameters, and what it needs to be kept while it runs: see ``Database``.
struct CompiledQuery: Sendable, Hashable {
    var sql: String
    var bindings: [SQLValue]
    var rowConditions: [RowCondition] = []
}

extension Database {
    /// Lends the statement of a query, its values bound, and keeps its conditions until the closure ends.
    func withStatement<Value>(_ query: CompiledQuery, _ body: (Statement) throws -> Value) throws -> Value {
        try withExtendedLifetime(query.rowConditions) {
            try withStatement(query.sql) { statement in
                try statement.bind(query.bindings)
                return try body(statement)
            }
        }
    }
}

/// Compiles queries to SQL with the meaning of `QueryEvaluator`. Values are always bound, names always quoted.
enum QueryCompiler {
    /// The rows of a query, in its order, or in any.
    static func select(
        _ query: Query,
        _ layout: TableLayout,
        columns: String,
        isOrdered: Bool = true
    ) throws(StoreError) -> CompiledQuery {
        let query = try query.validated(for: layout.definition, answersSyncStates: true)
        return compile(layout) { predicates in
            "SELECT \(columns) FROM \(layout.sqlName)" + predicates.whereClause(query.predicate)
                + (isOrdered ? orderClause(query, layout) : "") + limitClause(query, &predicates)
        }
    }

    /// The number of rows that satisfy a query's predicate.
    static func count(_ query: Query, _ layout: TableLayout) throws(StoreError) -> CompiledQuery {
        let query = try query.validated(for: layout.definition, answersSyncStates: true)
        return compile(layout) { predicates in
            "SELECT COUNT(*) FROM \(layout.sqlName)" + predicates.whereClause(query.predicate)
        }
    }

    /// Deletes the rows of a query.
    static func delete(_ query: Query, _ layout: TableLayout) throws(StoreError) -> CompiledQuery {
        guard query.limit != nil || query.offset != 0 else {
            let query = try query.validated(for: layout.definition, answersSyncStates: true)
            return compile(layout) { predicates in
                "DELETE FROM \(layout.sqlName)" + predicates.whereClause(query.predicate)
            }
        }
        var rows = try select(query, layout, columns: "\"id\"")
        rows.sql = "DELETE FROM \(layout.sqlName) WHERE \"id\" IN (\(rows.sql))"
        return rows
    }

    /// Compiles once with a parameter for each value, and again with all values in one when there are too many.
    private static func compile(
        _ layout: TableLayout,
        _ body: (inout PredicateCompiler) -> String
    ) -> CompiledQuery {
        var predicates = PredicateCompiler(layout, packsValues: false)
        let sql = body(&predicates)
        guard predicates.values.count > PredicateCompiler.maximumParameterCount else {
            return CompiledQuery(sql: sql, bindings: predicates.values, rowConditions: predicates.rowConditions)
        }
        predicates = PredicateCompiler(layout, packsValues: true)
        let packedSQL = body(&predicates)
        return CompiledQuery(
            sql: packedSQL,
            bindings: [.blob(PackedValues.pack(predicates.values))],
            rowConditions: predicates.rowConditions
        )
    }

    /// Nulls are the smallest values in SQLite, so they come first; ties are broken by the id.
    private static func orderClause(_ query: Query, _ layout: TableLayout) -> String {
        var terms: [String] = []
        var seen: Set<String> = []
        for entry in query.order + [QueryOrder(column: "id")] {
            let sql: String
            if entry.column == SyncStateTerm.name {
                sql = SyncStateSQL.state(layout)
            } else {
                sql = entry.isFolded ? SearchIndex.folded(entry.column) : entry.column.sqlIdentifier
            }
            guard seen.insert(sql).inserted else { continue }
            let isDecimal = layout.definition.type(of: entry.column) == .decimal && entry.column != "id"
            terms.append(
                sql + (isDecimal ? " COLLATE \(SQLFunctions.decimalCollation)" : "")
                    + (entry.direction == .descending ? " DESC" : "")
            )
            // No two rows have one id: nothing after it decides anything.
            if entry.column == "id", !entry.isFolded { break }
        }
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    private static func limitClause(_ query: Query, _ predicates: inout PredicateCompiler) -> String {
        guard query.limit != nil || query.offset != 0 else { return "" }
        let limit = predicates.parameter(.int64(Int64(query.limit ?? -1)))
        return " LIMIT \(limit) OFFSET " + predicates.parameter(.int64(Int64(query.offset)))
    }
}
