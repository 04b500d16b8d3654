import Dispatch

/// Runs an actor's jobs on a serial queue of its own, in the order in which they come.
///
/// What may take long or waits for the disk runs there, and not on the cooperative pool, which has no more threads than
/// the machine has cores. Jobs that wait for their turn hold no thread.
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
