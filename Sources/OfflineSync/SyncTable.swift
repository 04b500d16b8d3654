internal import RemoteContract
public import SyncContract

/// A table of the local store whose changes are queued for the server. Records are untyped.
///
/// Reads and changes touch the store only. Every change and its operation are written in one transaction: both are
/// there after a crash, or neither. Several changes in one transaction: ``SyncContext/write(_:)``.
public struct SyncTable: Sendable {
    let context: SyncContext

    /// The declaration.
    public let definition: TableDefinition

    let changes: LocalChanges

    init(context: SyncContext, definition: TableDefinition) {
        self.context = context
        self.definition = definition
        changes = LocalChanges(
            table: definition,
            schema: context.store.schema,
            marked: context.coordination.marked,
            writesItems: context.store.handlesSyncTableOperations,
            storesUndeclaredColumns: context.store.capabilities.contains(.unknownColumns),
            idRule: context.remote.idRule
        )
    }

    /// The name.
    public var name: String { definition.name }

    /// A query for all rows of this table.
    public var query: Query { Query(name) }

    /// Inserts an item.
    ///
    /// System properties in the record are ignored: only the server sets them.
    ///
    /// - Parameters:
    ///   - fields: The values by column.
    ///   - id: The id; nil for a new UUID. See ``ItemID`` for what ids may contain.
    /// - Returns: The item as stored, with its id.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItemID``, or ``SyncError/Code/invalidAction`` when the
    ///   table has an item with this id; ``SyncError/Code/invalidItem`` for a column that is
    ///   not declared, and for a number that is not finite; `StoreError`.
    @discardableResult
    public func insert(_ fields: [String: FieldValue], id: String? = nil) async throws -> Record {
        try await context.write(isGroup: false) { try $0.insert(fields, id: id, into: self) }
    }

    /// Changes an item: values given replace the stored ones, nulls clear, absent keys stay.
    ///
    /// A `version` in the record says which state of the server the change is based on: give it when the record was
    /// read some time ago, so that a change made since is found out as a conflict. Undeclared columns that the record
    /// brings back unchanged are fine; the id keeps the casing the server knows.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAction`` when the item is not in the store, or a delete
    ///   of it waits; ``SyncError/Code/invalidItem`` for an undeclared column that would change, and for
    ///   a number that is not finite; `StoreError`.
    public func update(_ item: Record) async throws {
        try await context.write(isGroup: false) { try $0.update(item, in: self) }
    }

    /// Deletes an item. One that is not in the store is deleted on the server all the same.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - version: The state of the server the decision is based on; nil for that of the stored row, and without one
    ///     for whatever the server has.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAction`` when a delete of the item waits already;
    ///   ``SyncError/Code/invalidItemID``; ``SyncError/Code/invalidParameter`` when the app writes items itself, has
    ///   removed the row, and gives no version; `StoreError`.
    public func delete(_ id: String, version: String? = nil) async throws {
        try await context.write(isGroup: false) { try $0.delete(id, version: version, from: self) }
    }

    /// Takes back a deletion, with what waited before it: the row is there again, and so is the change that it replaced.
    ///
    /// That goes as long as the deletion was not sent; where an insert that was not sent and its deletion have cancelled
    /// each other, until the next push starts. One that was sent, and may have been carried out, is followed by the row's
    /// content.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidAction`` when no deletion of the item waits; `StoreError`.
    public func undoDelete(_ id: String) async throws {
        try await context.write(isGroup: false) { try $0.undoDelete(id, in: self) }
    }

    /// Gives up what waits for an item, whatever its state: the row is again as the server last had it; one that the server
    /// never had is removed. Without a change that waits, nothing happens.
    ///
    /// What was sent and may still arrive is taken back by the next push. See ``ConflictResolution/discard``.
    public func revert(_ id: String) async throws {
        try await context.write(isGroup: false) { try $0.revert(id, in: self) }
    }

    /// The item with an id; nil when there is none, which is no error.
    public func read(_ id: String) async throws -> Record? {
        try await context.store.read(table: name, itemID: .string(id))
    }

    /// The rows of a query. See ``query``.
    ///
    /// `Column.syncState` in its condition is where a row stands between this device and the server; a query that
    /// is `includingSyncStates()` gives that beside each row.
    public func read(_ query: Query) async throws -> QueryResult {
        let store = context.store
        // A transaction answers for a store that does not; a way of the store's own may not.
        guard query.asksForSyncStates, !store.capabilities.contains(.syncStates) else {
            return try await store.read(query)
        }
        return try await store.read { try $0.read(query) }
    }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    public func count(_ query: Query) async throws -> Int { try await context.store.read { try $0.count(query) } }

    /// The items with a local change that waits, by id; every other item is `SyncState.synced`.
    ///
    /// An id is given as the operation has it. For states beside rows, or rows in some states, ask in a query: with
    /// `includingSyncStates()`, and with `Column.syncState` in its condition.
    public func syncStates() async throws -> [String: SyncState] {
        let name = name
        return try await context.store.read { try OperationQueue.states(of: name, &$0) }
    }

    /// The rows of a query: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`.
    public func observe(_ query: Query) -> StoreObservation<QueryResult> { context.store.observe(query) }

    /// The item with an id, nil while there is none: now, and after each commit that changes it.
    public func observe(_ id: String) -> StoreObservation<Record?> { context.store.observe(.string(id), in: name) }

    /// What ``syncStates()`` gives: now, and whenever the state of an item changes.
    public func observeSyncStates() -> StoreObservation<[String: SyncState]> {
        let name = name
        return context.store.observe(tables: [SystemTables.operations.name]) {
            try OperationQueue.states(of: name, &$0)
        }
    }

    /// Brings the rows that changed on the server since the last pull of the same rows, or with the same query id.
    ///
    /// See ``SyncContext/pull(_:_:options:)`` and ``SyncContext/pull(_:queryID:options:)``.
    @discardableResult
    public func pull(
        queryID: String? = nil,
        where predicate: QueryPredicate? = nil,
        options: PullOptions = .init()
    ) async throws -> PullReport {
        let query = predicate.map { self.query.filtered(by: $0) } ?? self.query
        guard let queryID else { return try await context.pull(query, options: options) }
        return try await context.pull(query, queryID: queryID, options: options)
    }

    /// Removes all rows locally when no change waits. See ``SyncContext/purge(_:resettingDeltaTokens:)``.
    public func purge(resettingDeltaTokens: Bool? = nil) async throws {
        try await context.purge(query, resettingDeltaTokens: resettingDeltaTokens)
    }

    /// Removes all rows and all changes that wait. See ``SyncContext/forcePurge(_:)``.
    @discardableResult
    public func forcePurge() async throws -> Int { try await context.forcePurge(name) }
}
