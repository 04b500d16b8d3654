/// What the author of a store writes for reading: a plain synchronous class, one object per transaction.
///
/// It is used by one thread at a time and never after its transaction ended. Every method sees the state of one
/// instant, plus what the same transaction wrote before.
public protocol StoreReadBackend: AnyObject {
    /// The declaration of a table or system table.
    ///
    /// - Throws: ``StoreError/Code/tableNotFound`` for an undeclared table.
    func definition(of table: String) throws -> TableDefinition

    /// The record with an id, compared as the table declares; nil when there is none, which is no error.
    ///
    /// A stored row has every declared column: a column that was never written is null.
    ///
    /// - Throws: ``StoreError/Code/tableNotFound`` for an undeclared table; ``StoreError/Code/invalidRecord`` for an id
    ///   of the wrong kind.
    func record(_ id: RecordID, in table: String) throws -> Record?

    /// What is stored under the id of a record that is expected to be there, so that rows which a server sends once more
    /// need not be read out: see ``StoredRow``.
    ///
    /// A store that has no faster way leaves it to the implementation that is there, which reads the row.
    ///
    /// - Parameters:
    ///   - record: What is expected, its id in the same casing. A column without a value is expected to be null, and no
    ///     undeclared one to be there beside those of the record.
    ///   - columns: The names of columns that may hold anything, whatever the record has under them.
    ///   - table: The table.
    /// - Returns: Whether there is a row, and the row when it may differ.
    /// - Throws: As ``record(_:in:)``.
    func stored(_ record: Record, ignoring columns: [String], in table: String) throws -> StoredRow

    /// Hands every row of a query to a closure, in the query's order, holding a bounded number of rows in memory when
    /// the store is on disk. An error thrown by the closure ends the walk and is rethrown as it is.
    ///
    /// Bounded means that the number does not grow with the table. For an order that no index gives, a store may hold the
    /// rows that satisfy the predicate: `QueryEvaluator.matches(_:_:)` looks at one row,
    /// `QueryEvaluator.evaluate(_:over:answersSyncStates:)` takes them one by one and holds those that it gives.
    ///
    /// - Throws: ``StoreError/Code/tableNotFound``, and ``StoreError/Code/invalidQuery`` as
    ///   ``Query/validate(for:)`` does.
    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws

    /// The number of rows that satisfy the query's predicate, whatever its limit and offset.
    ///
    /// Refuses a query as `forEach(_:_:)` does.
    func count(_ query: Query) throws -> Int

    /// What was computed over the rows of a query: one result without a group, and otherwise one for each value that
    /// occurs, ordered by it, null first. What is computed is said at ``Aggregate`` and ``AggregateQuery``.
    ///
    /// A store that has no faster way leaves it to the implementation that is there, which goes through the rows and keeps
    /// nothing but the groups in memory.
    ///
    /// - Throws: As `forEach(_:_:)` and ``AggregateQuery/validate(for:)``; ``StoreError/Code/outOfRange`` for a sum that
    ///   the column's type does not hold.
    func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup]

    /// Hands every row of a statement in SQL to a closure, in the statement's order, and returns the tables that it reads.
    /// What is taken is said at ``SQLQuery``.
    ///
    /// A statement that runs ends when its task is cancelled, however long it would run, in a write as well. A store
    /// without ``StoreCapabilities/sql`` leaves it to the implementation that is there, which refuses.
    ///
    /// - Throws: ``StoreError/Code/unsupported``; ``StoreError/Code/invalidQuery`` for a statement that is not taken, and
    ///   for one that fails while it runs; ``StoreError/Code/outOfRange`` for a sum that is too large; what the closure
    ///   throws.
    @discardableResult
    func forEach(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String>

    /// Whether every query about ``SyncState`` is answered here, as stores with ``StoreCapabilities/syncStates`` do.
    ///
    /// The state of a row is that of the operation whose `table` is the row's table and whose `itemKey` is the row's id in
    /// the form of ``RecordID/folded(for:)``, as ``SyncState/init(ofOperation:)`` says; a row without one is
    /// ``SyncState/synced``. A backend that says no, as all do that say nothing, is never asked: ``StoreReader`` and
    /// ``StoreTransaction`` read the operations and ask for ids instead.
    var answersSyncStates: Bool { get }
}

extension StoreReadBackend {
    /// Leaves states to the transaction.
    public var answersSyncStates: Bool { false }

    /// Reads the row.
    public func stored(_ record: Record, ignoring columns: [String], in table: String) throws -> StoredRow {
        StoredRow(try self.record(record.id, in: table), expecting: record, ignoring: columns)
    }
}

/// What the author of a store writes for writing.
///
/// A method that throws leaves nothing of its call behind, or the store rolls back the whole transaction, also when the
/// closure catches the error and returns.
public protocol StoreWriteBackend: StoreReadBackend {
    /// Inserts records, or merges them into the rows with their ids.
    ///
    /// Absent keys keep their columns, an explicit null clears. A record with an id that differs from the stored one
    /// only in a case that the table ignores updates that row and gives it the new casing. Of two records with one id
    /// the later is merged over the earlier. An undeclared key is kept under
    /// ``StoreCapabilities/unknownColumns`` and dropped without it. A null under an undeclared key is kept like any other
    /// value. Every value there keeps its kind: a whole double stays a double, and an infinity stays one.
    ///
    /// - Throws: ``StoreError/Code/tableNotFound``, also for an empty list; ``StoreError/Code/invalidRecord`` for an id
    ///   of the wrong kind, a value that ``ColumnType/accepting(_:)`` refuses, or a NaN under an undeclared key.
    func upsert(_ records: [Record], into table: String) throws

    /// Deletes the records with the given ids and returns how many there were. Absent ids are no error.
    ///
    /// - Throws: ``StoreError/Code/tableNotFound``, also for an empty list; ``StoreError/Code/invalidRecord`` for an id
    ///   of the wrong kind.
    func delete(_ ids: [RecordID], from table: String) throws -> Int

    /// Deletes the rows that the query would give, its order, offset and limit included, and returns how many.
    ///
    /// Refuses a query as `StoreReadBackend.forEach(_:_:)` does.
    func delete(_ query: Query) throws -> Int

    /// Inserts a record unless the table has a row with its id, compared as the table declares, and returns whether it did.
    ///
    /// What is written and what is refused is as for ``upsert(_:into:)`` when there is no such row. When there is one, nothing
    /// is written, and the values of the record may go unlooked at, so that none of them is refused. A store that has no
    /// faster way leaves it to the implementation that is there, which looks for the row first.
    ///
    /// - Throws: As ``upsert(_:into:)``.
    func insert(_ record: Record, into table: String) throws -> Bool
}

extension StoreWriteBackend {
    /// Looks for the row first.
    public func insert(_ record: Record, into table: String) throws -> Bool {
        guard try self.record(record.id, in: table) == nil else { return false }
        try upsert([record], into: table)
        return true
    }
}
