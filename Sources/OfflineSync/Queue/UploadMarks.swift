internal import SyncContract
internal import Synchronization

/// Marks the operations that a push has under way with its number, so that their rows are `SyncState.uploading`.
///
/// A mark counts while its push runs in this process: after a kill it says nothing. It is written in the transaction
/// after which the request leaves, and removed in the one that records the answer, so live queries notice both.
final class UploadMarks: Sendable {
    private let push = RunningPushes.begin()
    private let marked = Mutex<Set<Int64>>([])

    deinit { RunningPushes.end(push) }

    /// Marks an operation of the queue.
    func add(to operation: Int64, _ transaction: inout StoreTransaction) throws {
        _ = marked.withLock { $0.insert(operation) }
        try Self.set(.int64(push), of: operation, &transaction)
    }

    /// Removes the mark from an operation; one that has left the queue has taken it along.
    func remove(from operation: Int64, _ transaction: inout StoreTransaction) throws {
        guard try transaction.record(.int64(operation), in: SystemTables.operations.name)?["push"] == .int64(push)
        else {
            return
        }
        try Self.set(.null, of: operation, &transaction)
    }

    /// Notes that the answer for an operation is recorded.
    func answered(_ operation: Int64) { _ = marked.withLock { $0.remove(operation) } }

    /// Removes what is left when the push has ended, however it ended.
    func removeAll(in store: any SyncContextDataSource) async {
        let left = marked.withLock { $0 }
        guard !left.isEmpty else { return }
        do {
            try await uncancelled {
                try await store.write { for operation in left { try self.remove(from: operation, &$0) } }
            }
        } catch {
            // Nothing depends on it: marks say nothing once their push has ended.
        }
    }

    private static func set(
        _ value: FieldValue,
        of operation: Int64,
        _ transaction: inout StoreTransaction
    ) throws {
        try transaction.upsert([Record(id: .int64(operation), ["push": value])], into: SystemTables.operations.name)
    }
}
