extension Query {
    /// Refuses a query that names an undeclared column, has a negative limit or offset, or a predicate beyond the
    /// bounds said at ``QueryPredicate``.
    ///
    /// So does every store, before it reads a row. An order by folded text is for columns of text only.
    ///
    /// - Parameter table: The declaration of the table that is asked; the query's own table name is not looked at.
    /// - Throws: ``StoreError`` with code ``StoreError/Code/invalidQuery``; the message names what is wrong.
    public func validate(for table: TableDefinition) throws(StoreError) { _ = try validated(for: table) }

    /// The query with its predicate normalized.
    ///
    /// - Throws: As ``validate(for:)``.
    package func validated(for table: TableDefinition) throws(StoreError) -> Query {
        guard offset >= 0, limit ?? 0 >= 0 else {
            throw .invalidQuery("a query of '\(table.name)' has a negative limit or offset; use 0 or more")
        }
        var validated = self
        validated.predicate = try predicate?.normalized()
        var columns = order.map(\.column) + (selection ?? [])
        validated.predicate?.collectColumns(into: &columns)
        for column in columns where column != "id" && table.type(of: column) == nil {
            throw .invalidQuery("table '\(table.name)' has no declared column '\(column)'; declare it to query it")
        }
        for entry in order where entry.isFolded && entry.column != "id" && table.type(of: entry.column) != .string {
            throw .invalidQuery("column '\(entry.column)' of '\(table.name)' is not text and cannot be ordered folded")
        }
        return validated
    }
}
