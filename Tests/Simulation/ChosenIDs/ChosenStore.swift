internal import Synchronization
internal import SyncContract

/// A device's store as its app sees it: after the app has died no transaction begins.
final class ChosenStore: SyncContextDataSource {
    private let store: any SyncContextDataSource
    private let executor: SimulationExecutor
    /// How many transactions there may be; nil when the app does not die.
    private let remaining = Mutex<Int?>(nil)
    /// What was decided and is not in force yet, by the id of the error.
    private let decisions = Mutex<[String: @Sendable (_ before: [Record], _ after: [Record]) -> Void]>([:])

    /// Whether the transactions of this task are changes of a user, which make decisions pointless.
    @TaskLocal static var isUsersChange = false

    init(_ store: any SyncContextDataSource, _ executor: SimulationExecutor) {
        self.store = store
        self.executor = executor
    }

    var schema: StoreSchema { store.schema }
    var capabilities: StoreCapabilities { store.capabilities }
    var handlesSyncTableOperations: Bool { store.handlesSyncTableOperations }

    func willDie(after transactions: Int) { remaining.withLock { $0 = transactions } }

    /// What is to happen when an error is settled, with the items before and after that.
    func decided(_ error: String, _ takeNote: @escaping @Sendable (_ before: [Record], _ after: [Record]) -> Void) {
        decisions.withLock { $0[error] = takeNote }
    }

    private func begin() throws {
        try remaining.withLock { remaining throws(Killed) in
            guard let left = remaining else { return }
            guard left > 0 else { throw Killed() }
            remaining = left - 1
        }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try begin()
        return try await executor.waitingElsewhere { try await store.read(body) }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try begin()
        guard decisions.withLock({ !$0.isEmpty }) else {
            return try await executor.waitingElsewhere { try await store.write(body) }
        }
        let errors = Query(SystemTables.operationErrors.name).selecting([])
        let items = Query("items").ordered(by: "origin")
        let (value, before, after) = try await executor.waitingElsewhere {
            try await store.write { transaction in
                let before = (errors: try transaction.records(errors), items: try transaction.records(items))
                let value = try body(&transaction)
                return (value, before, (errors: try transaction.records(errors), items: try transaction.records(items)))
            }
        }
        for error in before.errors.compactMap(\.id.stringValue).sorted()
        where !after.errors.contains(where: { $0.id == .string(error) }) {
            let decision = decisions.withLock { $0.removeValue(forKey: error) }
            if !Self.isUsersChange { decision?(before.items, after.items) }
        }
        return value
    }

    func changes() -> AsyncStream<StoreChange> { store.changes() }
}

/// A clock that stands still: who sleeps lets others go first.
struct StandingClock: Clock {
    var now: SimulatedClock.Instant { SimulatedClock.Instant(milliseconds: 0) }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: SimulatedClock.Instant, tolerance: Duration?) async throws {
        for _ in 0..<4 {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
