/// Runs a body in a task of its own, so that cancelling the caller does not reach it.
package func uncancelled<Value: Sendable>(_ body: sending @escaping () async throws -> Value) async throws -> Value {
    try await Task(executorPreference: UncancelledWork.executor) { try await body() }.value
}

/// Where work goes on that cancelling its caller does not reach.
package enum UncancelledWork {
    /// A task of its own does not take over what its caller prefers: a simulation, which runs everything on one thread,
    /// says it here. Nil leaves it to the runtime.
    @TaskLocal package static var executor: (any TaskExecutor)?
}
