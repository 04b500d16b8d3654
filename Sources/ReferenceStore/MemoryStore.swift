public import SyncContract

/// A store in memory: small enough to be seen to be right, and the measure for every other store.
///
/// A transaction changes the tables in place, and lists what it replaces; when its closure throws, all that is put back.
/// Nothing else runs meanwhile. Nothing is kept beyond the life of the object, but another one can take it over:
/// ``reopened(with:translating:)``.
public actor MemoryStore: SyncContextDataSource {
    /// The declared tables.
    public nonisolated let schema: StoreSchema
    /// Answers queries about states, is migrated, and may keep undeclared columns; never durable, never encrypted.
    public nonisolated let capabilities: StoreCapabilities
    /// Whether the sync engine writes the items of local changes.
    public nonisolated let handlesSyncTableOperations: Bool

    /// The declared tables by their names, and the system tables.
    var tables: [String: MemoryTable]
    private nonisolated let broadcaster = ChangeBroadcaster()

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - schema: The declared tables. With a literal that is wrong, every read and write throws what its check does.
    ///   - keepsUnknownColumns: Whether values under undeclared keys are kept.
    ///   - answersSyncStates: Whether queries about states are answered here. Otherwise transactions answer them.
    ///   - handlesSyncTableOperations: Whether the sync engine writes the items of local changes.
    public init(
        _ schema: StoreSchema,
        keepsUnknownColumns: Bool = true,
        answersSyncStates: Bool = true,
        handlesSyncTableOperations: Bool = true
    ) {
        self.schema = schema
        var capabilities: StoreCapabilities = [.migrations]
        if keepsUnknownColumns { capabilities.insert(.unknownColumns) }
        if answersSyncStates { capabilities.insert(.syncStates) }
        self.capabilities = capabilities
        self.handlesSyncTableOperations = handlesSyncTableOperations
        let tables = Dictionary(schema.allTables.map { ($0.name, MemoryTable($0)) }) { first, _ in first }
        self.tables = schema.version > 1 ? tables.recording(schema.version, capabilities) : tables
    }

    /// A store like another one, with other tables.
    init(_ schema: StoreSchema, _ tables: [String: MemoryTable], like other: MemoryStore) {
        self.schema = schema
        self.tables = tables
        capabilities = other.capabilities
        handlesSyncTableOperations = other.handlesSyncTableOperations
    }

    /// Runs a closure on the state of one instant.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        try schema.check()
        var reader = StoreReader(MemoryTransaction(tables, capabilities))
        return try body(&reader)
    }

    /// Runs a closure that changes the state, or leaves it as it was when the closure throws.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        try schema.check()
        let backend = MemoryTransaction(tables, capabilities)
        // What two hold is copied when one of them changes it.
        tables = [:]
        var transaction = StoreTransaction(backend)
        let value: Value
        do {
            value = try body(&transaction)
        } catch {
            backend.rollBack()
            tables = backend.tables
            throw error
        }
        tables = backend.tables
        broadcaster.send(StoreChange(tables: backend.touched))
        return value
    }

    /// What committed transactions touch from now on.
    public nonisolated func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }
}
