internal import RemoteContract
public import SyncContract

/// A table of the local store whose changes are queued for the server.
///
/// `SyncTable<TodoItem>` has items of a `Codable` type, `SyncTable<Record>` untyped rows; both are read, changed, followed and
/// deleted with the same calls. For items only are those that go by properties: `where`, orders by key paths and sums, in whose
/// place rows have `filtered(by: Column("due") < date)`, `ordered(by: "due")` and ``aggregate(_:)``; and `update(id) { … }`, in
/// whose place they have `update(_:)` with the columns that change.
///
/// Reads and changes touch the store only. Every change and its operation are written in one transaction: both are
/// there after a crash, or neither. Several changes in one transaction: ``SyncContext/write(_:)``.
///
/// An item's properties are stored under their coding keys. `Date`, `Data`, `Decimal`, `UUID` and `URL` have types of their
/// own; every other nested value is stored as JSON. A property that is nil clears its column. Properties named `version` and
/// `updatedAt` receive what the server set; what `version` does in an update is said there. A property of type `SyncState`,
/// whatever its name, receives where the row stands between this device and the server, with every read and every live
/// query: `var syncState = SyncState.synced`. What is put there is ignored: neither stored nor sent.
public struct SyncTable<Item: Identifiable & Sendable>: Sendable {
    let context: SyncContext

    /// The declaration.
    public let definition: TableDefinition

    let changes: LocalChanges

    private init(context: SyncContext, definition: TableDefinition, changes: LocalChanges) {
        self.context = context
        self.definition = definition
        self.changes = changes
    }

    init(context: SyncContext, definition: TableDefinition) {
        self.context = context
        self.definition = definition
        changes = LocalChanges(
            table: definition,
            schema: context.store.schema,
            marked: context.coordination.marked,
            writesItems: context.store.handlesSyncTableOperations,
            storesUndeclaredColumns: context.store.capabilities.contains(.unknownColumns),
            idRule: context.remote.idRule,
            cancelledInserts: context.cancelledInserts
        )
    }

    /// The name.
    public var name: String { definition.name }

    /// A query for all rows of this table.
    public var query: Query { Query(name) }

    /// The same table with untyped rows.
    public var table: SyncTable<Record> {
        SyncTable<Record>(context: context, definition: definition, changes: changes)
    }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    ///
    /// - Throws: As `SyncTable.read(_:)`.
    public func count(_ query: Query) async throws -> Int {
        try check(query)
        return try await context.store.read { try $0.count(query) }
    }

    /// Refuses a query of this table that compares what no row can satisfy.
    func check(_ query: Query) throws(StoreError) {
        if query.table == name { try query.checkKinds(for: definition) }
    }

    /// What is computed over the rows of a query, for all of them or for each group: counts, sums (those of decimals are
    /// exact), smallest and largest values. What they are is said at `Aggregate`.
    public func aggregate(_ query: AggregateQuery) async throws -> [AggregateGroup] {
        try check(query.rows)
        return try await context.store.aggregate(query)
    }

    /// The same: now, and after each commit of the app or of a sync that changes it.
    public func observe(_ query: AggregateQuery) -> StoreObservation<[AggregateGroup]> {
        let table = self
        return context.store.observe(tables: query.readTables) {
            try table.check(query.rows)
            return try $0.aggregate(query)
        }
    }

    /// The items with a local change that waits, by id; every other item is `SyncState.synced`.
    ///
    /// An id is given as the operation has it. For states beside rows, or rows in some states, ask in a query: with
    /// `includingSyncStates()`, and with `Column.syncState` in its condition.
    public func syncStates() async throws -> [String: SyncState] {
        let name = name
        return try await context.store.read { try OperationQueue.states(of: name, &$0) }
    }

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

    /// Removes all rows locally when no change waits, and says how many there were. See
    /// ``SyncContext/purge(_:resettingDeltaTokens:)``.
    @discardableResult
    public func purge(resettingDeltaTokens: Bool? = nil) async throws -> Int {
        try await context.purge(query, resettingDeltaTokens: resettingDeltaTokens)
    }

    /// Removes all rows and all changes that wait, and says how many changes that were. See ``SyncContext/forcePurge(_:)``.
    @discardableResult
    public func forcePurge() async throws -> Int { try await context.forcePurge(name) }
}
