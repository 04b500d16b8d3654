internal import HTTPTransport
internal import RemoteContract
internal import Synchronization

/// The exchanges that are under way, so that signing out can end them.
final class RunningExchanges: Sendable {
    private struct State {
        /// How many times somebody signed out.
        var signOuts = 0
        /// What ends each of them.
        var ends: [Int: @Sendable () -> Void] = [:]
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
        let ends = state.withLock { state in
            state.signOuts += 1
            return state.ends.values
        }
        for end in ends { end() }
    }

    /// Runs one exchange of a period, in the task that calls: one of its own would cost a way between threads.
    ///
    /// - Parameters:
    ///   - period: What ``period()`` gave.
    ///   - exchange: Is handed whom to tell how it can be ended, each time that it sends something.
    /// - Returns: The answer.
    /// - Throws: ``SignedOut`` when the period has ended, `CancellationError` when the calling task was cancelled, and what
    ///   the exchange throws; `TransportError` with code `connectionLost` where a transport has ended the exchange of itself.
    func run(
        in period: Int,
        _ exchange: (_ whenEndable: (@escaping @Sendable () -> Void) -> Void) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let number: Int? = state.withLock { state in
            guard state.signOuts == period else { return nil }
            state.next += 1
            return state.next
        }
        guard let number else { throw SignedOut() }
        defer { _ = state.withLock { $0.ends.removeValue(forKey: number) } }
        do {
            let response = try await exchange { end in
                let isSignedOut = state.withLock { state in
                    state.ends[number] = end
                    return state.signOuts != period
                }
                if isSignedOut { end() }
            }
            // It may have been faster than its end: what it has brought is of the time before.
            guard state.withLock(\.signOuts) == period else { throw SignedOut() }
            return response
        } catch let error as CancellationError where !Task.isCancelled {
            guard state.withLock(\.signOuts) == period else { throw SignedOut() }
            throw TransportError(
                .connectionLost,
                "The transport has given the request up by itself; whether it arrived is not known. Sync again.",
                fate: .mayHaveBeenProcessed,
                cause: error
            )
        }
    }
}
