internal import ConformanceRunner
internal import Synchronization

/// The task that a call is made in, for the call's closure to cancel: a store may run closures outside of the task.
final class OwnTask: Sendable {
    private let task = Mutex<Task<String, Never>?>(nil)

    func cancel() { task.withLock { $0 }?.cancel() }

    fileprivate func run(_ body: @escaping @Sendable (OwnTask) async throws -> String) async -> String {
        let (start, starter) = AsyncStream<Void>.makeStream()
        let task = Task {
            // Only a task that is known can be cancelled.
            for await _ in start {}
            do {
                return try await body(self)
            } catch {
                return brief(error)
            }
        }
        self.task.withLock { $0 = task }
        starter.finish()
        return await task.value
    }
}

extension Trial where Subject == StoreSubject {
    /// What a task of its own gives, or its error, as text.
    func outcome(_ body: @escaping @Sendable (OwnTask) async throws -> String) async -> String {
        await OwnTask().run(body)
    }
}
