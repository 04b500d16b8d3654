/// A write transaction, lent to the closure of ``SyncContextDataSource/write(_:)``.
///
/// It reads what it has written. It cannot be copied, stored or returned, and no `await` can stand beside it.
public struct StoreTransaction: ~Copyable, StoreReading {
    /// What runs the transaction.
    package let backend: any StoreWriteBackend

    /// Wraps the backend of one transaction. For authors of stores.
    public init(_ backend: any StoreWriteBackend) { self.backend = backend }

    /// The declaration of a table or system table.
    public func definition(of table: String) throws -> TableDefinition { try backend.definition(of: table) }

    /// The record with an id; nil when there is none, which is no error.
    public mutating func record(_ id: RecordID, in table: String) throws -> Record? {
        try backend.record(id, in: table)
    }

    /// Hands every row of a query to a closure, in order.
    public mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try backend.forEach(query, body)
    }

    /// The number of rows that satisfy the query's predicate, whatever its limit and offset.
    public mutating func count(_ query: Query) throws -> Int { try backend.count(query) }

    /// Inserts records, or merges them into the rows with their ids: absent keys keep their columns, nulls clear.
    public mutating func upsert(_ records: [Record], into table: String) throws {
        try backend.upsert(records, into: table)
    }

    /// Deletes the records with the given ids and returns how many there were. Absent ids are no error.
    @discardableResult
    public mutating func delete(_ ids: [RecordID], from table: String) throws -> Int {
        try backend.delete(ids, from: table)
    }

    /// Deletes the rows that the query would give, its order, offset and limit included, and returns how many.
    @discardableResult
    public mutating func delete(_ query: Query) throws -> Int { try backend.delete(query) }
}
