import Foundation
import ReferenceStore
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

/// A store that counts what observers do with it.
final class ObservedStore: SyncContextDataSource {
    /// The stores that every promise of live queries is tested on.
    enum Kind: CaseIterable {
        case memory
        case encrypted
    }

    private let base: any SyncContextDataSource
    private let counts = Mutex((reads: 0, subscriptions: 0))
    private let interruption = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(_ base: any SyncContextDataSource) { self.base = base }

    /// Lends a store with the tables `items` and `folding`, and closes it afterwards.
    static func with(_ kind: Kind, _ body: (ObservedStore) async throws -> Void) async throws {
        switch kind {
        case .memory: try await body(ObservedStore(MemoryStore(StoreSchema([.items, .folding]))))
        case .encrypted:
            let folder = try TestFolder()
            let store = try await EncryptedStore.open(in: folder, [.items, .folding])
            try await body(ObservedStore(store))
            await store.close()
        }
    }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }

    /// How many reads were begun.
    var reads: Int { counts.withLock { $0.reads } }

    /// How many subscriptions to changes exist.
    var subscriptions: Int { counts.withLock { $0.subscriptions } }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        counts.withLock { $0.reads += 1 }
        let value = try await base.read(body)
        let interruption = interruption.withLock { $0.take() }
        try await interruption?()
        return value
    }

    /// Does something between the next read and the moment its reader gets the result.
    func interruptNextRead(_ body: @escaping @Sendable () async throws -> Void) {
        interruption.withLock { $0 = body }
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await base.write(body)
    }

    func changes() -> AsyncStream<StoreChange> {
        let subscription = Subscription(self)
        let changes = base.changes()
        return AsyncStream {
            var iterator = changes.makeAsyncIterator()
            defer { withExtendedLifetime(subscription) {} }
            return await iterator.next()
        }
    }

    private final class Subscription: Sendable {
        private let store: ObservedStore

        init(_ store: ObservedStore) {
            self.store = store
            store.counts.withLock { $0.subscriptions += 1 }
        }

        deinit { store.counts.withLock { $0.subscriptions -= 1 } }
    }
}
