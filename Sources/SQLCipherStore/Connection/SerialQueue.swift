import Dispatch

/// A queue that runs one thing after the other on a thread that waiting for the disk holds up and nobody else: the
/// cooperative pool has no more threads than the machine has cores.
actor SerialQueue {
    private nonisolated let executor: QueueExecutor

    init(label: String) { executor = QueueExecutor(label: label) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Runs a closure on the queue, in the task that calls: with its values, its priority and its cancellation.
    func run<Value: Sendable>(
        _ body: @Sendable (isolated SerialQueue) async throws -> Value
    ) async rethrows -> Value {
        try await body(self)
    }

    /// Runs a closure on the queue after a delay.
    nonisolated func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        executor.schedule(after: delay, body)
    }
}

/// Runs an actor's jobs on a serial queue of Dispatch, in the order in which they come. Those that wait hold no thread.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Runs a closure on the queue after a delay.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: body)
    }
}
