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
        let number: Int? = state.withLock { state in
            guard state.signOuts == period else { return nil }
            state.next += 1
            return state.next
        }
        guard let number else { throw SignedOut() }
        let task = Self.start(exchange)
        let isSignedOut = state.withLock { state in
            state.tasks[number] = task
            return state.signOuts != period
        }
        defer { _ = state.withLock { $0.tasks.removeValue(forKey: number) } }
        guard !isSignedOut else {
            // It was done on this thread: what it has brought is of the time before.
            task.cancel()
            _ = await task.result
            throw SignedOut()
        }
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

    /// Starts an exchange in a task of its own, so that it can be cancelled alone: on this thread, up to where it waits for
    /// the answer, because the way to another one takes as long as all that is done for a request here.
    private static func start(
        _ exchange: @escaping @Sendable () async throws -> HTTPResponse
    ) -> Task<HTTPResponse, any Error> {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return Task { try await exchange() }
        }
        return Task.immediate { try await exchange() }
    }
}
