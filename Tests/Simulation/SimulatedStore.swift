internal import OfflineSync
internal import SyncContract

/// A device's store as its app sees it: every transaction waits for the scheduler, and after the app was killed none
/// begins. An object, so that several contexts over it find each other.
final class SimulatedStore: SyncContextDataSource {
    private let store: any SyncContextDataSource
    private let life: DeviceLife
    private let world: World

    init(store: any SyncContextDataSource, life: DeviceLife, world: World) {
        self.store = store
        self.life = life
        self.world = world
    }

    var schema: StoreSchema { store.schema }
    var capabilities: StoreCapabilities { store.capabilities }
    var handlesSyncTableOperations: Bool { store.handlesSyncTableOperations }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await world.pause(life, "\(Device.name(life.device)) reads")
        return try await world.executor.waitingElsewhere { [store] in try await store.read(body) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await world.pause(life, "\(Device.name(life.device)) writes")
        let witness = ChangeWitness.current
        let isWatched = world.devices[life.device].watchesPurged
        let watchesAll = world.settings.hasLocalColumn || world.settings.hasUnfitRows
        guard witness != nil || !life.decisions.isEmpty || watchesAll || isWatched else {
            return try await world.executor.waitingElsewhere { try await store.write(body) }
        }
        let (settings, names) = (world.settings, life.names)
        let (value, before, after) = try await world.executor.waitingElsewhere {
            try await store.write { transaction in
                let before = try StoreSnapshot(&transaction, settings, names)
                let value = try body(&transaction)
                return (value, before, try StoreSnapshot(&transaction, settings, names))
            }
        }
        world.devices[life.device].checkMarks(before, after, witness)
        world.devices[life.device].noteRemoved(after)
        world.devices[life.device].checkPurged(before, after)
        if witness == nil, life.decisions.isEmpty { world.devices[life.device].checkNothingVanishes(before, after) }
        witness?.see(before, after)
        // A decision is in force from here on, unless a change of the user has made it pointless.
        for decision in life.decisions.values.sorted(by: { $0.error.operationID < $1.error.operationID })
        where !after.errors.contains(decision.error.id) {
            life.decisions[decision.error.id] = nil
            let isInForce = witness == nil && before.errors.contains(decision.error.id)
            if isInForce { world.devices[life.device].decided(decision, from: before, to: after) }
        }
        return value
    }

    func changes() -> AsyncStream<StoreChange> { store.changes() }
}

/// A table that is pulled under a name, or without one.
struct PulledTable: Hashable {
    let table: String
    let isNamed: Bool
}

/// The rows of a store, and the operations that wait, at one instant.
struct StoreSnapshot: Sendable {
    private(set) var rows: [RowKey: Record] = [:]
    private(set) var operations: [RowKey: Record] = [:]
    /// The ids of what the server said about operations.
    let errors: Set<String>
    /// The newest decision that was made without asking.
    let newestDecision: String?
    /// Where the bringing of everything anew is, as the store keeps it.
    let resetStage: String?
    /// The tables that were pulled under a name, and without one.
    private(set) var pulled: Set<PulledTable> = []

    init(
        _ transaction: inout some StoreReading & ~Copyable,
        _ settings: WorldSettings,
        _ names: ColumnNames
    ) throws {
        for table in settings.tables {
            for row in try transaction.records(Query(table)) {
                rows[settings.key(row.id.stringValue ?? "", in: table)] = names.fromDevice(row)
            }
        }
        for row in try transaction.records(Query(SystemTables.operations.name)) {
            guard let table = row["table"]?.stringValue, let id = row["itemKey"]?.stringValue else { continue }
            operations[RowKey(table: table, id: id)] = row
        }
        let journal = Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 1_005)
        newestDecision = try transaction.records(journal).compactMap { $0["key"]?.stringValue }.max()
        let reset = Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 1_050)
        resetStage = try transaction.first(reset)?["value"]?.stringValue
        if settings.purgesSome {
            let cursors = Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 0)
            pulled = Set(
                try transaction.records(cursors)
                    .compactMap { row in
                        row["table"]?.stringValue.map { PulledTable(table: $0, isNamed: row["key"] == "all") }
                    }
            )
        }
        errors = Set(try transaction.records(Query(SystemTables.operationErrors.name)).compactMap(\.id.stringValue))
    }

    /// The rows, as a story tells them.
    var story: [String] { rows.sorted { $0.key < $1.key }.map { "\($0.key.table)/\($0.value.story)" } }
}

/// Sees what a transaction of the user changes: the state before and after it, at the instant of its commit.
final class ChangeWitness: Sendable {
    @TaskLocal static var current: ChangeWitness?

    let see: @Sendable (_ before: StoreSnapshot, _ after: StoreSnapshot) -> Void
    /// Whether the column that stays on the device may change.
    let mayMark: Bool
    /// Whether rows may be deleted and made again at once.
    let isGroup: Bool

    init(
        mayMark: Bool = false,
        isGroup: Bool = false,
        _ see: @escaping @Sendable (StoreSnapshot, StoreSnapshot) -> Void
    ) {
        self.see = see
        self.mayMark = mayMark
        self.isGroup = isGroup
    }

    /// Runs a call of the app whose transactions are seen.
    func seeing<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        try await Self.$current.withValue(self, operation: body)
    }
}
