#if !canImport(Darwin)
/// Runs tasks on the thread that drives the transfers.
///
/// A task that does one exchange after the other goes from its thread to this one and back for each, and both ways wake a
/// thread that sleeps: that takes as long as the exchange itself. On this thread it goes nowhere. When there is no such thread,
/// or none any more, tasks run where those without a preference do.
final class TransferExecutor: TaskExecutor {
    private let driver: TransferDriver

    init(_ driver: TransferDriver) { self.driver = driver }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if !driver.run(TransferJob(job: job, executor: self)) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }
}

/// A piece of a task that runs on the thread of an executor.
struct TransferJob: Sendable {
    let job: UnownedJob
    let executor: TransferExecutor

    /// Runs it here, up to where it waits for something.
    func run() { unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor()) }

    /// Leaves it to those threads that run tasks without a preference.
    func runElsewhere() { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
}
#endif
