/// Live queries. What all of them promise is said at ``StoreObservation``.
extension SyncContextDataSource {
    /// The rows of a query and, when it asks for it, the total count: now, and after each commit that changes them.
    public func observe(_ query: Query) -> StoreObservation<QueryResult> {
        observe(tables: query.readTables) { try $0.read(query) }
    }

    /// The record with an id, nil while there is none: now, and after each commit that changes it.
    public func observe(_ id: RecordID, in table: String) -> StoreObservation<Record?> {
        observe(tables: [table]) { try $0.record(id, in: table) }
    }

    /// The number of rows that satisfy a query's predicate: now, and after each commit that changes it.
    public func observeCount(_ query: Query) -> StoreObservation<Int> {
        observe(tables: query.readTables) { try $0.count(query) }
    }

    /// What is computed over the rows of a query: now, and after each commit that changes it.
    public func observe(_ query: AggregateQuery) -> StoreObservation<[AggregateGroup]> {
        observe(tables: query.readTables) { try $0.aggregate(query) }
    }

    /// What a closure reads in one transaction: now, and after each commit that changes it.
    ///
    /// - Parameters:
    ///   - tables: The tables that the closure reads, system tables included. A commit that touches none of them is not
    ///     looked at.
    ///   - body: A read that gives the same value for the same rows.
    /// - Returns: The live query. Nothing is read before it is iterated.
    public func observe<Value: Sendable & Equatable>(
        tables: Set<String>,
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) -> StoreObservation<Value> {
        StoreObservation(of: self, tables: tables, body) { $0 }
    }
}
