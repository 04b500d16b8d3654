internal import Foundation
internal import Synchronization

/// Runs the jobs of one simulation, one at a time and in the order in which they came, on the thread that asks for it.
///
/// Everything that the devices of a simulation do prefers this executor. So a job runs until it waits for something, and
/// when no job is left, everything that is under way waits for the simulation.
final class SimulationExecutor: TaskExecutor {
    private struct State {
        var jobs: [UnownedJob] = []
        /// How many calls have gone to something with threads of its own, which will come back with a job.
        var elsewhere = 0
    }

    private let state = Mutex(State())
    private let arrival = DispatchSemaphore(value: 0)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isAwaited = state.withLock { state in
            state.jobs.append(job)
            return state.elsewhere > 0
        }
        if isAwaited { arrival.signal() }
    }

    /// Runs a body that goes to other threads and comes back.
    func waitingElsewhere<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        state.withLock { $0.elsewhere += 1 }
        defer { state.withLock { $0.elsewhere -= 1 } }
        return try await body()
    }

    /// Runs jobs until none is left and none will come from elsewhere. To be called on the simulation's thread only.
    func drain() {
        while true {
            let (jobs, elsewhere) = state.withLock { state in
                defer { state.jobs = [] }
                return (state.jobs, state.elsewhere)
            }
            for job in jobs { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            guard jobs.isEmpty else { continue }
            guard elsewhere > 0 else { return }
            arrival.wait()
        }
    }
}
