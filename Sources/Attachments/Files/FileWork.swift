internal import Dispatch
internal import DurableFiles
internal import Synchronization
internal import SyncContract

/// Runs what blocks, reading and writing files, away from the cooperative pool.
enum FileWork {
    private static let queue = DispatchQueue(label: "Attachments.FileWork", attributes: .concurrent)

    /// Whether the task that waits for a piece of work was cancelled.
    final class Cancellation: Sendable {
        private let isCancelled = Atomic(false)

        func cancel() { isCancelled.store(true, ordering: .releasing) }

        /// - Throws: `CancellationError`.
        func check() throws { if isCancelled.load(ordering: .acquiring) { throw CancellationError() } }
    }

    /// Runs work and returns its result.
    ///
    /// - Throws: What it throws, with a failure of the system as a `StoreError`; `CancellationError` when the task was
    ///   cancelled before it began, or while it asks.
    static func run<Value: Sendable>(
        _ work: @escaping @Sendable (Cancellation) throws -> Value
    ) async throws -> Value {
        let cancellation = Cancellation()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    do {
                        try cancellation.check()
                        continuation.resume(returning: try work(cancellation))
                    } catch let failure as SystemCallFailure {
                        continuation.resume(throwing: StoreError(attachmentFailure: failure))
                    } catch {
                        continuation.resume(throwing: error)
                    }
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
    }

    /// Runs what a step that is done already calls for, whatever becomes of the task.
    ///
    /// - Throws: What it throws, with a failure of the system as a `StoreError`.
    static func finish(_ work: @escaping @Sendable () throws -> Void) async throws {
        try await Task { try await run { _ in try work() } }.value
    }
}
