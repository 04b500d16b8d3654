internal import SyncContract

/// A device's store as its app sees it: every transaction waits for the scheduler, and after the app was killed none
/// begins.
struct SimulatedStore: SyncContextDataSource {
    let store: any SyncContextDataSource
    let life: DeviceLife
    let world: World

    var schema: StoreSchema { store.schema }
    var capabilities: StoreCapabilities { store.capabilities }
    var handlesSyncTableOperations: Bool { store.handlesSyncTableOperations }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await world.pause(life, "\(Device.name(life.device)) reads")
        return try await world.executor.waitingElsewhere { try await store.read(body) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await world.pause(life, "\(Device.name(life.device)) writes")
        guard let witness = ChangeWitness.current else {
            return try await world.executor.waitingElsewhere { try await store.write(body) }
        }
        let (value, before, after) = try await world.executor.waitingElsewhere {
            try await store.write { transaction in
                let before = try StoreSnapshot(&transaction)
                let value = try body(&transaction)
                return (value, before, try StoreSnapshot(&transaction))
            }
        }
        witness.see(before, after)
        return value
    }

    func changes() -> AsyncStream<StoreChange> { store.changes() }
}

/// The rows of a store, and the operations that wait, at one instant.
struct StoreSnapshot: Sendable {
    let rows: [Record]
    let operations: [Record]

    init(_ transaction: inout some StoreReading & ~Copyable) throws {
        rows = try transaction.records(Query(WorldSettings.table))
        operations = try transaction.records(Query(SystemTables.operations.name))
    }

    func row(_ key: String, _ settings: WorldSettings) -> Record? {
        rows.first { settings.key($0.id.stringValue ?? "") == key }
    }

    func operation(_ key: String) -> Record? { operations.first { $0["itemKey"]?.stringValue == key } }
}

/// Sees what a transaction of the user changes: the state before and after it, at the instant of its commit.
final class ChangeWitness: Sendable {
    @TaskLocal static var current: ChangeWitness?

    let see: @Sendable (_ before: StoreSnapshot, _ after: StoreSnapshot) -> Void

    init(_ see: @escaping @Sendable (StoreSnapshot, StoreSnapshot) -> Void) { self.see = see }

    /// Runs a call of the app whose transactions are seen.
    func seeing<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await Self.$current.withValue(self, operation: body)
    }
}
