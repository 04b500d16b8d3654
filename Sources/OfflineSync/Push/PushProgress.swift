internal import RemoteContract
internal import Synchronization
internal import SyncContract

/// What the operations of one push that are under way at the same time have to know of each other.
final class PushProgress: Sendable {
    private struct State {
        var error: (any Error)?
        var forbidden = ForbiddenOperations()
        var heldBack: [InFlightOperation] = []
        var held = 0
    }

    private let state = Mutex(State())

    /// What has ended the push early: what came first.
    var error: (any Error)? { state.withLock { $0.error } }

    /// Whether nothing further is sent.
    var isEnding: Bool { error != nil }

    /// Ends the push.
    func end(with error: any Error) {
        state.withLock { state in if state.error == nil { state.error = error } }
    }

    /// Keeps what was to be sent again in its turn, and has come to refer to rows that the server has given no id yet.
    func holdBack(_ inFlight: InFlightOperation) { state.withLock { $0.heldBack.append(inFlight) } }

    /// What was kept so, once.
    func takeHeldBack() -> [InFlightOperation] {
        state.withLock { state in
            defer { state.heldBack = [] }
            return state.heldBack
        }
    }

    /// How many operations were not sent because others have to go before them.
    var heldCount: Int { state.withLock { $0.held } }

    /// Takes note that operations are not sent because others have to go before them.
    func hold(_ count: Int) { state.withLock { $0.held += count } }

    /// Takes an answer in. Returns the earlier answers that are to be recorded now as well, nil when this one is not either.
    func release(_ inFlight: InFlightOperation, _ answer: PushAnswer) -> [(InFlightOperation, PushAnswer)]? {
        state.withLock { $0.forbidden.release(inFlight, answer) }
    }

    /// The end of a push in which the server has forbidden every change.
    var onlyAnswer: SyncError? { state.withLock { $0.forbidden.onlyAnswer } }
}
