internal import ItemCoding
public import SyncContract

// Reports in SQL.
extension SyncContext {
    /// A report in SQL, as items of a type: `context.sql("SELECT …", as: Turnover.self)`, to be read or observed.
    ///
    /// It reads the rows that are here, local changes included, and cannot write. What is taken, and what values and
    /// columns are in SQL, is said at `SQLQuery`; how items are made of rows at `SyncContextDataSource.sql(_:as:)`.
    ///
    /// For stores with the capability `sql`, as the encrypted store has; reading throws `StoreError` with code
    /// `unsupported` otherwise.
    public func sql<Row: Decodable & Sendable>(_ query: SQLQuery, as type: Row.Type) -> SQLReport<Row> {
        store.sql(query, as: type)
    }

    /// A report in SQL, as rows without a type.
    public func sql(_ query: SQLQuery) -> SQLReport<SQLRow> { store.sql(query) }
}

extension SQLQuery.StringInterpolation {
    /// Appends the name of a table, quoted.
    public mutating func appendInterpolation<Item>(_ table: SyncTable<Item>) {
        appendInterpolation(table.definition)
    }
}
