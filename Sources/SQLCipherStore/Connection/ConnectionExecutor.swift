import Dispatch
import Synchronization

/// Runs a connection's work on a serial queue of its own, so that waiting for the disk holds up no other task.
///
/// Putting a thread to sleep and waking it takes about as long as a small transaction. So two threads watch for a
/// moment before they sleep (see ``BriefWatch``): the queue's, for the next transaction of a task that makes one after
/// the other; and the one that brought a transaction, for its end (see ``Completion``).
final class ConnectionExecutor: SerialExecutor {
    /// What waits for the queue.
    enum Job {
        /// Something on the connection's actor.
        case actor(UnownedJob)
        /// Something in a task that runs on the queue, by way of another executor.
        case task(UnownedJob, ConnectionTaskExecutor)
    }

    private struct State {
        var jobs: [Job] = []
        /// Whether the queue's thread runs jobs or watches for them.
        var isDraining = false
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())
    /// Watched: a number, so that watching takes no lock.
    private let arrivals = Atomic(0)
    /// How long jobs took lately, in nanoseconds.
    private let recentDuration = Atomic(0)

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) { enqueue(.actor(UnownedJob(job))) }

    func enqueue(_ job: Job) {
        let mustWake = state.withLock { state in
            state.jobs.append(job)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        arrivals.add(1, ordering: .releasing)
        if mustWake { queue.async { self.drain() } }
    }

    /// Whether jobs ended soon lately.
    var isQuick: Bool { recentDuration.load(ordering: .relaxed) < BriefWatch.longestJob }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Runs a closure on the queue after a delay, and later while one job follows the other.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: body)
    }

    private func drain() {
        while let jobs = nextJobs() {
            let seen = arrivals.load(ordering: .acquiring)
            let start = ContinuousClock.now
            for job in jobs {
                switch job {
                case .actor(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
                case .task(let job, let executor): unsafe job.runSynchronously(on: executor.asUnownedTaskExecutor())
                }
            }
            note(ContinuousClock.now - start, of: jobs.count)
            let hasMore = state.withLock { !$0.jobs.isEmpty }
            if !hasMore { BriefWatch.forArrival(arrivals, beyond: seen) }
        }
    }

    /// Takes the jobs that wait; nil when there are none, and draining has ended.
    private func nextJobs() -> [Job]? {
        state.withLock { state in
            defer { state.jobs = [] }
            state.isDraining = !state.jobs.isEmpty
            return state.isDraining ? state.jobs : nil
        }
    }

    /// A moving average, in which the latest counts for a quarter, and a single long one does not stand out for long.
    private func note(_ duration: Duration, of count: Int) {
        let latest = min(Int(duration / .nanoseconds(1)) / count, 2 * BriefWatch.longestJob)
        let average = recentDuration.load(ordering: .relaxed)
        recentDuration.store(average + (latest - average) / 4, ordering: .relaxed)
    }
}
