/// What can be read inside a transaction.
///
/// The methods are mutating so that the compiler refuses to write, or to read again, inside the closure of
/// `forEach(_:_:)`.
public protocol StoreReading: ~Copyable {
    /// The declaration of a table or system table.
    ///
    /// - Throws: ``StoreError/Code/tableNotFound`` for an undeclared table.
    func definition(of table: String) throws -> TableDefinition

    /// The record with an id; nil when there is none, which is no error.
    mutating func record(_ id: RecordID, in table: String) throws -> Record?

    /// Hands every row of a query to a closure, in order.
    mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws

    /// The number of rows that satisfy the query's predicate, whatever its limit and offset.
    mutating func count(_ query: Query) throws -> Int

    /// What was computed over the rows of a query, for all of them or for each group: counts, sums, smallest and largest
    /// values.
    ///
    /// - Throws: As ``StoreReadBackend/aggregate(_:)``.
    mutating func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup]

    /// Hands every row of a statement in SQL to a closure, in order, and returns the tables that it reads: see
    /// ``SQLQuery``.
    ///
    /// - Throws: As ``StoreReadBackend`` says of statements.
    @discardableResult
    mutating func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String>
}

extension StoreReading where Self: ~Copyable {
    /// The rows of a query, in order.
    public mutating func records(_ query: Query) throws -> [Record] {
        var records: [Record] = []
        try forEach(query) { records.append($0) }
        return records
    }

    /// The first row of a query, nil when there is none.
    public mutating func first(_ query: Query) throws -> Record? {
        try records(query.limited(to: min(query.limit ?? 1, 1))).first
    }

    /// The rows of a query and, when it asks for it, the total count.
    public mutating func read(_ query: Query) throws -> QueryResult {
        QueryResult(
            records: try records(query),
            totalCount: query.includesTotalCount ? try count(query) : nil
        )
    }
}

/// The rows of a query.
public struct QueryResult: Sendable, Hashable {
    /// The rows, in the query's order.
    public var records: [Record]

    /// How many rows satisfy the predicate, whatever limit and offset; nil when the query did not ask.
    public var totalCount: Int?

    /// Creates a result.
    public init(records: [Record], totalCount: Int? = nil) {
        self.records = records
        self.totalCount = totalCount
    }
}

/// A read transaction, lent to the closure of `SyncContextDataSource.read(_:)`.
///
/// It cannot be copied, stored or returned, and no `await` can stand beside it: the compiler refuses all of these.
public struct StoreReader: ~Copyable, StoreReading {
    /// What runs the transaction.
    package let backend: any StoreReadBackend

    /// Wraps the backend of one transaction. For authors of stores.
    public init(_ backend: any StoreReadBackend) { self.backend = backend }

    /// The declaration of a table or system table.
    public func definition(of table: String) throws -> TableDefinition { try backend.definition(of: table) }

    /// The record with an id; nil when there is none, which is no error.
    public mutating func record(_ id: RecordID, in table: String) throws -> Record? {
        try backend.record(id, in: table)
    }

    /// Hands every row of a query to a closure, in order.
    public mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try backend.forEachAnswered(query, body)
    }

    /// The number of rows that satisfy the query's predicate, whatever its limit and offset.
    public mutating func count(_ query: Query) throws -> Int {
        try backend.count(backend.answered(query))
    }

    /// What was computed over the rows of a query, for all of them or for each group.
    public mutating func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        try backend.aggregateAnswered(query)
    }

    /// Hands every row of a statement in SQL to a closure, in order, and returns the tables that it reads.
    @discardableResult
    public mutating func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        try backend.forEach(query, body)
    }
}

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

    /// What is stored under the id of a record that is expected to be there: see ``StoreReadBackend``.
    package mutating func stored(_ record: Record, ignoring columns: [String], in table: String) throws -> StoredRow {
        try backend.stored(record, ignoring: columns, in: table)
    }

    /// Hands every row of a query to a closure, in order.
    public mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try backend.forEachAnswered(query, body)
    }

    /// The number of rows that satisfy the query's predicate, whatever its limit and offset.
    public mutating func count(_ query: Query) throws -> Int {
        try backend.count(backend.answered(query))
    }

    /// What was computed over the rows of a query, for all of them or for each group.
    public mutating func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        try backend.aggregateAnswered(query)
    }

    /// Hands every row of a statement in SQL to a closure, in order, and returns the tables that it reads.
    @discardableResult
    public mutating func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        try backend.forEach(query, body)
    }

    /// Inserts records, or merges them into the rows with their ids: absent keys keep their columns, nulls clear.
    ///
    /// The states that records were read with are not written.
    public mutating func upsert(_ records: [Record], into table: String) throws {
        try backend.upsert(records.withoutSyncStates(), into: table)
    }

    /// Inserts a record unless the table has a row with its id, and returns whether it did.
    ///
    /// The state that the record was read with is not written.
    public mutating func insert(_ record: Record, into table: String) throws -> Bool {
        guard record.syncState != nil else { return try backend.insert(record, into: table) }
        var record = record
        record.syncState = nil
        return try backend.insert(record, into: table)
    }

    /// Deletes the records with the given ids and returns how many there were. Absent ids are no error.
    @discardableResult
    public mutating func delete(_ ids: [RecordID], from table: String) throws -> Int {
        try backend.delete(ids, from: table)
    }

    /// Deletes the rows that the query would give, its order, offset and limit included, and returns how many.
    @discardableResult
    public mutating func delete(_ query: Query) throws -> Int {
        try backend.delete(backend.answered(query))
    }
}

extension [Record] {
    /// Mostly there is none to remove.
    fileprivate func withoutSyncStates() -> [Record] {
        guard contains(where: { $0.syncState != nil }) else { return self }
        return map { record in
            var record = record
            record.syncState = nil
            return record
        }
    }
}
