import Foundation
import OfflineSync
import ReferenceStore
import SQLCipherStoreTestSupport
import SyncContract
import SyncSessions
import Synchronization
import Testing

@testable import Attachments

/// A store whose first read waits, and fails.
private final class LockedAtFirst: SyncContextDataSource {
    private struct State {
        var reads = 0
        var isReleased = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let base: MemoryStore
    private let state = Mutex(State())

    init(_ schema: StoreSchema) { base = MemoryStore(schema) }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }
    var reads: Int { state.withLock { $0.reads } }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        let isFirst = state.withLock { state in
            state.reads += 1
            return state.reads == 1
        }
        guard isFirst else { return try await base.read(body) }
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
        throw StoreError(.locked, "The store is locked, on purpose.")
    }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value { try await base.write(body) }
    func changes() -> AsyncStream<StoreChange> { base.changes() }
}

extension TransferRunner {
    /// Has so many callers prepare, and calls back when all of them wait for the same preparation.
    fileprivate func prepare(_ count: Int, _ allWait: @escaping @Sendable () -> Void) async {
        // They run here, one after the other, each up to where it waits.
        let callers = (0..<count).map { _ in Task { try await prepare() } }
        let last = Task { allWait() }
        await last.value
        // The first one, which has begun the preparation that fails, is told so.
        for caller in callers { _ = await caller.result }
    }
}

@Suite("Folder and rows")
struct PreparationTests {
    @Test("are brought together once after a failure, however many have waited for it")
    func once() async throws {
        // One that fails, and one more for all the others.
        let counts = [try await reads(for: 1), try await reads(for: 2), try await reads(for: 3)]
        #expect(counts[0] < counts[1] && counts[1] == counts[2], "\(counts)")
    }

    /// How often the store is read when so many prepare at a time.
    private func reads(for callers: Int) async throws -> Int {
        let store = LockedAtFirst(try PhotoDevice.schema())
        let work = AttachmentWork(
            store: store,
            folder: AttachmentFolder(try TestFolder().url),
            references: AttachmentReferences(store.schema),
            transport: nil,
            spaceLimit: 0,
            ahead: nil,
            environment: AttachmentEnvironment(),
            states: AttachmentStates { _ in .unknown },
            gate: AttachmentGate()
        )
        await TransferRunner(work, limit: 1).prepare(callers) { store.release() }
        return store.reads
    }
}
