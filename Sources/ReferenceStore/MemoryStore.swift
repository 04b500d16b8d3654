public import SyncContract

/// A store in memory: small enough to be seen to be right, and the measure for every other store.
///
/// A transaction works on a copy of all tables; when its closure returns, the copy takes the place of the original.
/// Nothing is kept beyond the life of the object.
public actor MemoryStore: SyncContextDataSource {
    /// The declared tables.
    public nonisolated let schema: StoreSchema
    /// Whether undeclared columns are kept; never durable, never encrypted.
    public nonisolated let capabilities: StoreCapabilities
    /// Whether the sync engine writes the items of local changes.
    public nonisolated let handlesSyncTableOperations: Bool

    private var tables: [String: MemoryTable]
    private nonisolated let broadcaster = ChangeBroadcaster()

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - schema: The declared tables.
    ///   - keepsUnknownColumns: Whether values under undeclared keys are kept.
    ///   - handlesSyncTableOperations: Whether the sync engine writes the items of local changes.
    public init(_ schema: StoreSchema, keepsUnknownColumns: Bool = true, handlesSyncTableOperations: Bool = true) {
        self.schema = schema
        self.capabilities = keepsUnknownColumns ? [.unknownColumns] : []
        self.handlesSyncTableOperations = handlesSyncTableOperations
        self.tables = Dictionary(uniqueKeysWithValues: schema.allTables.map { ($0.name, MemoryTable($0)) })
    }

    /// Runs a closure on the state of one instant.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        var reader = StoreReader(MemoryTransaction(tables, keepsUnknownColumns: true))
        return try body(&reader)
    }

    /// Runs a closure on a copy, which replaces the state when the closure returns.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let copy = MemoryTransaction(tables, keepsUnknownColumns: capabilities.contains(.unknownColumns))
        var transaction = StoreTransaction(copy)
        let value = try body(&transaction)
        tables = copy.tables
        broadcaster.send(StoreChange(tables: copy.touched))
        return value
    }

    /// What committed transactions touch from now on.
    public nonisolated func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }
}
