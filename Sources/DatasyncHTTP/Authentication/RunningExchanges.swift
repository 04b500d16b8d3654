internal import HTTPTransport
internal import RemoteContract
internal import Synchronization

/// The exchanges that are under way, so that signing out can end them.
final class RunningExchanges: Sendable {
    private struct State {
        /// How many times somebody signed out.
        var signOuts = 0
        var tasks: [Int: Task<HTTPResponse, any Error>] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    /// The time between two sign-outs that a request belongs to.
    ///
    /// - Throws: ``SignedOut`` in a push or pull that began before the last one: what follows would be sent in the name of
    ///   somebody else.
    func period() throws(SignedOut) -> Int {
        let period = state.withLock(\.signOuts)
        guard RequestCounter.first(period, for: ObjectIdentifier(self)) == period else { throw SignedOut() }
        return period
    }

    /// Ends what is under way, with ``SignedOut``.
    func signOut() {
        let tasks = state.withLock { state in
            state.signOuts += 1
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }

    /// Runs one exchange of a period.
    ///
    /// - Throws: ``SignedOut`` when the period has ended, `CancellationError` when the calling task was cancelled, and what
    ///   the exchange throws.
    func run(
        in period: Int,
        _ exchange: @escaping @Sendable () async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let started: (number: Int, task: Task<HTTPResponse, any Error>)? = state.withLock { state in
            guard state.signOuts == period else { return nil }
            state.next += 1
            let task = Task { try await exchange() }
            state.tasks[state.next] = task
            return (state.next, task)
        }
        guard let (number, task) = started else { throw SignedOut() }
        defer { _ = state.withLock { $0.tasks.removeValue(forKey: number) } }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where !Task.isCancelled {
            throw SignedOut()
        }
    }
}
