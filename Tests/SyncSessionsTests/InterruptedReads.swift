import OfflineSync
import ReferenceStore
import SyncContract
import Synchronization

/// A store that lets something happen between a read and its answer, and tells nobody of changes by itself.
final class InterruptedReads: SyncContextDataSource {
    private let base: MemoryStore
    private let silence = AsyncStream.makeStream(of: StoreChange.self)
    private let interruption = Mutex<(@Sendable () async throws -> Bool)?>(nil)

    init(_ schema: StoreSchema) { base = MemoryStore(schema) }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }

    /// Calls something behind each read from here on, until it says that it has done what it is for, or throws: then
    /// the read fails with that.
    func interrupt(_ interruption: @escaping @Sendable () async throws -> Bool) {
        self.interruption.withLock { $0 = interruption }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        let value = try await base.read(body)
        if let interruption = interruption.withLock({ $0.take() }), try await !interruption() {
            self.interruption.withLock { $0 = interruption }
        }
        return value
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value { try await base.write(body) }
    func changes() -> AsyncStream<StoreChange> { silence.stream }
}
