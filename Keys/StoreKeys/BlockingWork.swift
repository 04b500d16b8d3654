import Dispatch
import Synchronization

/// Runs what blocks (key derivation, file access) away from the cooperative pool.
///
/// One item at a time: a derivation may need a gibibyte, and two of them at once need two.
enum BlockingWork {
    private static let queue = DispatchQueue(label: "StoreKeys.BlockingWork", qos: .userInitiated)

    /// Runs `work` on the queue and returns its result.
    ///
    /// An item that is cancelled before its turn is not run. One that has begun is finished, since libcrypto cannot be
    /// interrupted and a file must not be left half written.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before the work began, or what `work` throws.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    // Handed over, not shared as `resume(with:)` would: a secret must not live on here for a moment
                    // longer than in the task.
                    do {
                        guard !isCancelled.value else { throw CancellationError() }
                        continuation.resume(returning: try work())
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    private final class CancellationFlag: Sendable {
        private let storage = Atomic(false)

        var value: Bool { storage.load(ordering: .acquiring) }

        func set() {
            storage.store(true, ordering: .releasing)
        }
    }
}
