import CSQLCipher
import Dispatch
import DurableFiles
import SQLCipherStore
import SyncContract
import Synchronization

/// Work on the files of a store, on a thread of its own: it waits for the disk, and the cooperative pool must not.
final class CancellableWork: Sendable {
    private let cancelled = Atomic(false)

    /// Runs a closure and returns its result. The closure is not begun when the task is cancelled before, and is told
    /// through the object it gets when that happens later.
    ///
    /// - Throws: What the closure throws, with failures of SQLite and the system as `StoreError` for the store at the
    ///   path; `CancellationError`.
    static func run<Value: Sendable>(
        at path: String,
        _ body: @escaping @Sendable (CancellableWork) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        await DroppedStores.closing(of: path)
        let work = CancellableWork()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                DispatchQueue(label: "SealedSync.maintenance")
                    .async { continuation.resume(with: Result { try work.reportingFailures(at: path, body) }) }
            }
        } onCancel: {
            work.cancelled.store(true, ordering: .relaxed)
        }
    }

    /// Throws when the task was cancelled.
    func checkCancellation() throws {
        if isCancelled { throw CancellationError() }
    }

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

    private func reportingFailures<Value>(
        at path: String,
        _ body: (CancellableWork) throws -> Value
    ) throws -> Value {
        do {
            return try body(self)
        } catch let failure as SQLiteFailure {
            if failure.primaryCode == SQLITE_INTERRUPT, isCancelled { throw CancellationError() }
            throw StoreError(failure, at: path)
        } catch let failure as SystemCallFailure {
            throw StoreError(failure, at: path)
        }
    }
}

extension Database {
    /// Lets every statement of this connection end with `SQLITE_INTERRUPT` once the work is cancelled. The work must
    /// outlive the connection.
    func end(with work: CancellableWork) {
        unsafe sqlite3_progress_handler(
            pointer,
            10_000,
            { work in
                guard let work = unsafe work else { return 0 }
                return unsafe Unmanaged<CancellableWork>.fromOpaque(work).takeUnretainedValue().isCancelled ? 1 : 0
            },
            Unmanaged.passUnretained(work).toOpaque()
        )
    }
}
