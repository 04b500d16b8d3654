import Dispatch

/// A queue with a thread of its own while it works: for what waits for the disk or may take as long as it likes, because
/// the cooperative pool has no more threads than the machine has cores.
actor SerialQueue {
    private nonisolated let executor: QueueExecutor

    init(label: String) { executor = QueueExecutor(label: label) }

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// Runs a closure on the queue, in the task that calls: with its values, its priority and its cancellation.
    func run<Value: Sendable>(_ body: @Sendable () throws -> Value) rethrows -> Value { try body() }

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
