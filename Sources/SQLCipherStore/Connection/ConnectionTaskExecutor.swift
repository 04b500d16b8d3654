/// Begins tasks on the queue of a connection.
///
/// Beside ``ConnectionExecutor``, because a task that is not isolated to the connection's actor would leave an executor
/// that is also the actor's, and come back to it, before it could tell its end.
final class ConnectionTaskExecutor: TaskExecutor {
    private let executor: ConnectionExecutor

    init(_ executor: ConnectionExecutor) { self.executor = executor }

    func enqueue(_ job: consuming ExecutorJob) {
        executor.enqueue(.task(UnownedJob(job), self))
    }
}
