import Dispatch
import Synchronization

/// Runs a connection's work on a serial queue of its own, so that waiting for the disk holds up no other task.
///
/// Putting a thread to sleep and waking it takes about as long as a small transaction. So two threads watch for a
/// moment before they sleep (see ``BriefWatch``): the queue's, for the next transaction of a task that makes one after
/// the other; and the one that brought a transaction, for its end, as the task will want a thread again then.
final class ConnectionExecutor: SerialExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// Whether the queue's thread runs jobs or watches for them.
        var isDraining = false
        /// Whether it runs jobs.
        var isRunning = false
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())
    // What is watched: numbers, so that watching takes no lock.
    private let arrivals = Atomic(0)
    private let ends = Atomic(0)
    /// How long jobs took lately, in nanoseconds.
    private let recentDuration = Atomic(0)

    init(label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let seen = ends.load(ordering: .acquiring)
        let (mustWake, isNext) = state.withLock { state in
            let before = state
            state.jobs.append(job)
            state.isDraining = true
            return (!before.isDraining, !before.isRunning && before.jobs.isEmpty)
        }
        arrivals.add(1, ordering: .releasing)
        if mustWake { queue.async { self.drain() } }
        if isNext, recentDuration.load(ordering: .relaxed) < BriefWatch.longestJob {
            BriefWatch.forEnd(ends, beyond: seen)
        }
    }

    func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }

    /// Runs a closure on the queue after a delay, and later while one job follows the other.
    func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) {
        queue.asyncAfter(deadline: .now() + delay / .seconds(1), execute: body)
    }

    private func drain() {
        while let jobs = nextJobs() {
            let seen = arrivals.load(ordering: .acquiring)
            let start = ContinuousClock.now
            for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
            note(ContinuousClock.now - start, of: jobs.count)
            let hasMore = state.withLock { state in
                state.isRunning = false
                return !state.jobs.isEmpty
            }
            ends.add(1, ordering: .releasing)
            if !hasMore { BriefWatch.forArrival(arrivals, beyond: seen) }
        }
    }

    /// Takes the jobs that wait; nil when there are none, and draining has ended.
    private func nextJobs() -> [UnownedJob]? {
        state.withLock { state in
            defer { state.jobs = [] }
            state.isRunning = !state.jobs.isEmpty
            state.isDraining = state.isRunning
            return state.isRunning ? state.jobs : nil
        }
    }

    /// A moving average, in which the latest counts for a quarter, and a single long one does not stand out for long.
    private func note(_ duration: Duration, of count: Int) {
        let latest = min(Int(duration / .nanoseconds(1)) / count, 2 * BriefWatch.longestJob)
        let average = recentDuration.load(ordering: .relaxed)
        recentDuration.store(average + (latest - average) / 4, ordering: .relaxed)
    }
}
