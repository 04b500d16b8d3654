/// A local store: the app's tables and the sync system tables, under one kind of transaction.
///
/// The sync engine and apps work with any type that conforms. What a store owes:
///
/// - **Transactions.** The closure given to ``write(_:)`` is one transaction: when it returns, everything it wrote is
///   kept, and when it throws, nothing is. Writers run one after the other. A closure given to `read(_:)` sees the
///   state of one instant: never half a transaction, and always every write that had returned before the read began.
///   What transactions did is as if they had run one by one, in an order in which each comes after all that had returned
///   before it began. A closure is run once at most: a store that fails does not try it again. A read should not wait for
///   a write that runs; it may, as long as its turn comes.
/// - **Durability.** Under the capability ``StoreCapabilities/durable`` a write that returned survives the end of the
///   process at any later instant.
/// - **Schema.** A durable store may be opened again with another schema. Missing tables and columns are added, and the
///   rows that are there have null in a new column. A column that is no longer declared is no error. Its values count
///   then as written under an undeclared key. A value that is kept under an undeclared key is the column's once the
///   column is declared; one that does not fit its type makes the opening ``StoreError/Code/schemaMismatch``, unless the
///   store reads it again from its JSON. A table that is no longer declared keeps its rows until it is declared again. A
///   column or id that is declared with another type than the stored one is ``StoreError/Code/schemaMismatch``, before
///   anything is touched. Only names, types and how ids compare are held against what is stored: whatever else a
///   declaration says may be another each time.
/// - **Opening** is no part of this protocol. What makes a durable store should refuse a place that has one, with
///   ``StoreError/Code/alreadyExists``, and what opens it should refuse one that is open, with ``StoreError/Code/inUse``:
///   two objects that write to one place damage each other's work.
/// - **Migrations.** Under the capability ``StoreCapabilities/migrations`` a store that is opened with a schema of a higher
///   version is brought there by the schema's steps, in one transaction in which the version is recorded, or stays as it
///   was. One that has a higher version than the schema is ``StoreError/Code/newerSchema``, before anything is touched.
/// - **Values.** Every value comes back as it went in: see ``FieldValue``. How records merge is said at
///   ``StoreWriteBackend/upsert(_:into:)``, what queries mean at ``Query``.
/// - **Errors.** Failures are thrown as ``StoreError`` with the codes named at each method; an error thrown by the
///   closure is rethrown as it is. No failure is reported as an empty result.
/// - **Cancellation.** A task that is cancelled before its transaction began gets `CancellationError` and nothing
///   happens. A transaction that was committed is never reported as cancelled. A store may end a read that its task is
///   cancelled during, with the same error. A write whose closure has begun is not ended by it: what the closure writes
///   and returns is kept, and an error that it throws is rethrown as it is, whatever became of its task. Only a statement
///   in SQL ends.
public protocol SyncContextDataSource: Sendable {
    /// The declared tables. Constant for the life of the store.
    var schema: StoreSchema { get }

    /// What the store can do beyond what every store must. Constant for the life of the store.
    var capabilities: StoreCapabilities { get }

    /// Whether the engine writes the items of local inserts, updates and deletes. When false it only queues the
    /// operations, and the app has written the items itself; what the server sends is written in either case.
    var handlesSyncTableOperations: Bool { get }

    /// Runs a closure on the state of one instant.
    ///
    /// - Throws: What the closure throws; ``StoreError/Code/closed`` after the store was closed; `CancellationError`
    ///   when the task was cancelled before the transaction began, or so long before its end that the store ended it.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value

    /// The rows of a query and, when it asks for it, the total count, in a transaction of its own.
    ///
    /// The same as ``StoreReading/read(_:)`` in ``read(_:)``, which is what a store does that has no faster way.
    ///
    /// - Throws: As ``read(_:)``.
    func read(_ query: Query) async throws -> QueryResult

    /// The record with an id, nil when there is none, which is no error; in a transaction of its own.
    ///
    /// The same as ``StoreReading/record(_:in:)`` in `read(_:)`, which is what a store does that has no faster way.
    ///
    /// - Throws: As `read(_:)`.
    func read(table: String, itemID: RecordID) async throws -> Record?

    /// Runs a closure as one transaction: kept as a whole when it returns, rolled back as a whole when it throws.
    ///
    /// - Throws: As `read(_:)`; also ``StoreError/Code/full``, ``StoreError/Code/readOnly`` and
    ///   ``StoreError/Code/inputOutput`` when the commit fails, after which nothing was kept.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value

    /// What committed transactions touch from now on.
    ///
    /// The subscription exists when this returns. A change is delivered after its commit and before `write` returns, and
    /// a read that begins after the delivery sees it; changes that were not read yet merge into one. A transaction that
    /// was rolled back, wrote nothing, or deleted only absent rows is not delivered; writing values equal to the stored
    /// ones is. A store that can be locked delivers a change of all tables when it is unlocked. Any number of subscribers
    /// may listen. The stream ends when the store is closed.
    func changes() -> AsyncStream<StoreChange>
}

extension SyncContextDataSource {
    /// The engine writes items itself.
    public var handlesSyncTableOperations: Bool { true }

    /// The name of the table of operations.
    public var operationTableName: String { SystemTables.operations.name }

    /// The name of the table of operation errors.
    public var errorTableName: String { SystemTables.operationErrors.name }

    /// The name of the configuration table.
    public var configTableName: String { SystemTables.configuration.name }

    /// The server's columns that a table keeps; none for an unknown table.
    public func systemProperties(for table: String) -> SystemProperties {
        schema.table(table)?.systemProperties ?? []
    }
}

/// The calls of the original data source, each in a transaction of its own.
extension SyncContextDataSource {
    /// The rows of a query and, when it asks for it, the total count.
    public func read(_ query: Query) async throws -> QueryResult {
        try await read { try $0.read(query) }
    }

    /// The record with an id; nil when there is none, which is no error.
    public func read(table: String, itemID: RecordID) async throws -> Record? {
        try await read { try $0.record(itemID, in: table) }
    }

    /// What was computed over the rows of a query, for all of them or for each group: see
    /// ``StoreReadBackend/aggregate(_:)``.
    public func aggregate(_ query: AggregateQuery) async throws -> [AggregateGroup] {
        try await read { try $0.aggregate(query) }
    }

    /// Inserts or merges records, all or nothing.
    public func upsert(_ records: [Record], table: String) async throws {
        try await write { try $0.upsert(records, into: table) }
    }

    /// Deletes records by id, all or nothing. Absent ids are no error.
    public func deleteItems(withIDs ids: [RecordID], table: String) async throws {
        try await write { _ = try $0.delete(ids, from: table) }
    }

    /// Deletes the rows that a query would give.
    public func delete(_ query: Query) async throws {
        try await write { _ = try $0.delete(query) }
    }
}
