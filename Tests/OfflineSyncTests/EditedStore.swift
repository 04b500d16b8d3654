import OfflineSync
import ReferenceStore
import SyncContract
import Synchronization

/// A store in which something happens once, before one of its transactions that write.
final class EditedStore: SyncContextDataSource {
    private let base: MemoryStore
    private let number: Int
    private let body: @Sendable () async throws -> Void
    private let state = Mutex((count: 0, isEdited: false))

    init(base: MemoryStore, number: Int, _ body: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.number = number
        self.body = body
    }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }
    var handlesSyncTableOperations: Bool { base.handlesSyncTableOperations }

    func edit() async throws {
        let isEdited = state.withLock { state in
            defer { state.isEdited = true }
            return state.isEdited
        }
        if !isEdited { try await body() }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value { try await base.read(body) }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        let count = state.withLock { state in
            state.count += 1
            return state.count
        }
        if count == number { try await edit() }
        return try await base.write(body)
    }

    func changes() -> AsyncStream<StoreChange> { base.changes() }
}
