internal import RemoteContract

/// Where a push runs: on the thread on which the answers arrive, if there is one.
///
/// A change goes from a task's thread to that one and its answer back, and both ways wake a thread that sleeps: an eighth
/// of the processor time of a change. That thread serves everybody who shares the HTTP client, other stores too. So what
/// runs there takes no longer than the client's own work for a request, and never waits: writing the next prepared request
/// and reading its answer. The store, whose transactions wait for the disk and for each other, and the app's own code,
/// delegates and policies, are left to the threads on which tasks usually run: ``elsewhere(_:)``.
///
/// An app that is told of each change would be gone to, and come back from, for each: such pushes stay where they are.
struct PushThread: Sendable {
    private let executor: (any TaskExecutor)?

    init(_ remote: any SyncRemote, _ decisions: PushDecisions) {
        executor = decisions.tellsOfEachChange ? nil : (remote as? any AnsweringRemote)?.answerExecutor
    }

    /// Runs a body on that thread, in a task of its own: it does not take whoever waits for it along.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        guard let executor else { return await body() }
        return await withTaskGroup(of: Value.self) { group in
            group.addTask(executorPreference: executor) { await body() }
            for await value in group { return value }
            preconditionFailure("a group gives what its only task has returned")
        }
    }

    /// Runs what may wait, or is the app's own, on another thread.
    func elsewhere<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        guard executor != nil else { return try await body() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            // Preferring another thread alone does not leave this one.
            await Task.yield()
            return try await body()
        }
    }
}
