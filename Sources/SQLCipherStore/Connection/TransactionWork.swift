import Synchronization

/// A transaction on its way to a connection's thread and back.
///
/// It runs in a task of its own, which begins on the connection's queue with the values and the priority of the calling
/// task and is cancelled with it. It ends without leaving the queue, or others' transactions would come first.
///
/// Sendable, because the closure and the result change hands in order: the closure is set before the task begins and
/// given up before the completion tells the end; the result is written before that, and read after it.
final class TransactionWork<Value: Sendable>: @unchecked Sendable {
    private struct State {
        var isCancelled = false
        var task: Task<Void, Never>?
    }

    private var work: (() -> Result<Value, any Error>)?
    private var result: Result<Value, any Error>?
    private let completion = Completion()
    private let state = Mutex(State())

    init(_ work: @escaping @Sendable () -> Result<Value, any Error>) { self.work = work }

    /// Runs the transaction and returns what came of it. A task that is cancelled before it began has no effect.
    func value(on executor: some TaskExecutor, watching: Bool) async throws -> Value {
        // The handler first: a cancellation that comes now is not missed by a transaction that begins now.
        await withTaskCancellationHandler {
            start(on: executor)
            await completion.wait(watching: watching)
        } onCancel: {
            cancel()
        }
        guard let result else { throw CancellationError() }
        return try result.get()
    }

    private func start(on executor: some TaskExecutor) {
        let task = Task(executorPreference: executor) { self.run() }
        let isCancelled = state.withLock { state in
            state.task = task
            return state.isCancelled
        }
        if isCancelled { task.cancel() }
    }

    private func cancel() {
        let task = state.withLock { state in
            state.isCancelled = true
            return state.task
        }
        task?.cancel()
    }

    private func run() {
        if let work, !state.withLock({ $0.isCancelled }) { result = work() }
        // What the closure holds, such as the connection, must not live on with this task.
        work = nil
        completion.tell()
    }
}
