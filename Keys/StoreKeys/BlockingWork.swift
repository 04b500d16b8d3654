import Dispatch
import Synchronization

/// Runs what blocks (key derivation, file access) away from the cooperative pool.
///
/// Items of one opening follow each other, because each is waited for; those of several stores run beside each other, so that
/// a passphrase that is slow to come, or to derive, keeps nobody else's store closed.
package enum BlockingWork {
    private static let queue = DispatchQueue(
        label: "StoreKeys.BlockingWork",
        qos: .userInitiated,
        attributes: .concurrent
    )

    /// Runs `work` on the queue and returns its result.
    ///
    /// An item that is cancelled before its turn is not run. One that has begun is finished, since libcrypto cannot be
    /// interrupted and a file must not be left half written.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before the work began, or what `work` throws.
    package static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
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
