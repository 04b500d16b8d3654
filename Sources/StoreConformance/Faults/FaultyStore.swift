internal import Synchronization
public import SyncContract

/// A store that fails when it is told to: for tests of what stands on a store.
///
/// ```swift
/// let store = FaultyStore(MemoryStore(schema)) { call in
///     call.number == 7 ? .fails(.beforeCommit) : nil
/// }
/// ```
///
/// Everything else is the wrapped store's. Calls are counted from 1, in the order in which they begin: one for each
/// transaction that reads or writes.
public final class FaultyStore<Base: SyncContextDataSource>: SyncContextDataSource {
    /// The store that does the work.
    public let base: Base

    private let plan: @Sendable (StoreCall) -> StoreFault?

    private struct State {
        var count = 0
        var faults = 0
        var isHealed = false
    }

    private let state = Mutex(State())

    /// Wraps a store.
    ///
    /// - Parameters:
    ///   - base: The store that does the work.
    ///   - plan: Says for each call whether it goes wrong, and how; nil when it does not.
    public init(_ base: Base, _ plan: @escaping @Sendable (StoreCall) -> StoreFault?) {
        self.base = base
        self.plan = plan
    }

    /// How many calls have begun.
    public var callCount: Int { state.withLock { $0.count } }

    /// How many calls went wrong as planned.
    public var faultCount: Int { state.withLock { $0.faults } }

    /// Lets no more calls go wrong.
    public func heal() { state.withLock { $0.isHealed = true } }

    /// The wrapped store's.
    public var schema: StoreSchema { base.schema }

    /// The wrapped store's.
    public var capabilities: StoreCapabilities { base.capabilities }

    /// The wrapped store's.
    public var handlesSyncTableOperations: Bool { base.handlesSyncTableOperations }

    /// The wrapped store's.
    public func changes() -> AsyncStream<StoreChange> { base.changes() }

    /// Reads as the wrapped store does, unless the plan says otherwise.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        guard let fault = begin(writes: false) else { return try await base.read(body) }
        if fault.moment == .beforeClosure { throw fault.happen() }
        _ = try await base.read(body)
        throw fault.happen()
    }

    /// Writes as the wrapped store does, unless the plan says otherwise.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        guard let fault = begin(writes: true) else { return try await base.write(body) }
        switch fault.moment {
        case .beforeClosure: throw fault.happen()
        case .beforeCommit:
            return try await base.write { transaction in
                _ = try body(&transaction)
                throw fault.happen()
            }
        case .afterCommit:
            _ = try await base.write(body)
            throw fault.happen()
        }
    }

    private func begin(writes: Bool) -> StoreFault? {
        let (number, isHealed) = state.withLock { state in
            state.count += 1
            return (state.count, state.isHealed)
        }
        guard !isHealed, let fault = plan(StoreCall(number: number, writes: writes)) else { return nil }
        state.withLock { $0.faults += 1 }
        return fault
    }
}

/// A transaction that is about to begin.
public struct StoreCall: Sendable, Hashable {
    /// Which one it is, from 1.
    public let number: Int
    /// Whether it may write.
    public let writes: Bool
}
