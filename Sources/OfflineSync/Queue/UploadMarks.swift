internal import SyncContract
internal import Synchronization

/// Marks the operations that a push has under way, or sends within moments, with its number, so that their rows are
/// `SyncState.uploading`.
///
/// A mark counts while its push runs in this process: after a kill it says nothing. It is written in the transaction
/// after which the request leaves, and removed in the one that records the answer, so live queries notice both.
final class UploadMarks: Sendable {
    private let push = RunningPushes.begin()
    private let marked = Mutex<Set<Int64>>([])

    deinit { RunningPushes.end(push) }

    /// The mark of an operation that is about to be written.
    func mark(of operation: Int64) -> FieldValue {
        _ = marked.withLock { $0.insert(operation) }
        return .int64(push)
    }

    /// Removes the mark from an operation; one that has left the queue has taken it along.
    func remove(from operation: Int64, _ transaction: inout StoreTransaction) throws {
        let operations = SystemTables.operations.name
        guard try transaction.record(.int64(operation), in: operations)?["push"] == .int64(push) else { return }
        try transaction.upsert([Record(id: .int64(operation), ["push": .null])], into: operations)
    }

    /// Notes that the answer for an operation is recorded.
    func answered(_ operation: Int64) { _ = marked.withLock { $0.remove(operation) } }

    /// What is left when the push has ended, however it ended.
    var left: Set<Int64> { marked.withLock { $0 } }
}
