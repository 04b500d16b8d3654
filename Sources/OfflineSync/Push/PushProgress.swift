internal import RemoteContract
internal import Synchronization
internal import SyncContract
internal import SyncMachines

/// What the operations of one push that are under way at the same time have to know of each other.
final class PushProgress: Sendable {
    private struct State {
        var error: (any Error)?
        var forbidden = ForbiddenOperations()
        var waiting = WaitingOperations()
        var waitingNumbers: Set<Int64> = []
        var behind: Set<Int64> = []
        var late: [Int64] = []
        var retryAfter: Duration?
        var left: (numbers: [Int64], order: PushOrder) = ([], PushOrder())
        var last: Int64 = 0
        var overtaken: Set<Int64> = []
        var unsent: Set<Int64> = []
        var notTaken: Set<Int64> = []
        var settlements: [Int64: Int] = [:]
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

    /// What waits for the ids of others.
    var waiting: WaitingOperations { state.withLock { $0.waiting } }

    /// Keeps an operation whose row refers to rows that the server has given no id yet.
    func keepWaiting(_ inFlight: InFlightOperation) { state.withLock { $0.waiting.append(inFlight) } }

    /// Takes one out of these.
    func stopsWaiting(_ inFlight: InFlightOperation) { state.withLock { $0.waiting.remove(inFlight) } }

    /// Has all of these tried again.
    func retryWaiting() { state.withLock { $0.waiting.retry() } }

    /// What of it to try again; nil when the last round has sent nothing.
    func nextRound() -> [InFlightOperation]? { state.withLock { $0.waiting.nextRound() } }

    /// Takes note of an operation that has come to wait for others in its turn: they may be sent later in this push.
    func leaveBehind(_ number: Int64) { state.withLock { _ = $0.behind.insert(number) } }

    /// Whether an operation has come to wait for others in its turn, which is asked once.
    func takeBehind(_ number: Int64) -> Bool { state.withLock { $0.behind.remove(number) != nil } }

    /// The operations that this push does not send because others have to go before them. Some may not wait any more.
    var waitingNumbers: Set<Int64> { state.withLock { $0.waitingNumbers.union($0.behind) } }

    /// Takes note of operations that this push does not send because others have to go before them.
    func leaveWaiting(_ numbers: some Sequence<Int64>) { state.withLock { $0.waitingNumbers.formUnion(numbers) } }

    /// Takes note of an operation of a group that was answered, or was not there any more, behind its turn.
    func answeredLate(_ number: Int64) { state.withLock { $0.late.append(number) } }

    /// What was noted of these since this was asked last.
    func takeLate() -> [Int64] {
        state.withLock { state in
            defer { state.late = [] }
            return state.late
        }
    }

    /// The longest time after which the server has asked to come back where it failed.
    var retryAfter: Duration? { state.withLock { $0.retryAfter } }

    /// Takes note of the time that an answer says, when the server has failed with it.
    func noteFailure(_ answer: PushAnswer) {
        guard case .failed = answer.answer, let wait = answer.error?.retryAfter else { return }
        state.withLock { $0.retryAfter = max($0.retryAfter ?? wait, wait) }
    }

    /// The operations of groups that were to be sent and are not, because of what stands before them, but for those that wait for
    /// some which are known.
    func leftInGroups(butBehind known: [Int64]) -> [Int64] {
        let (numbers, order) = state.withLock { $0.left }
        guard !numbers.isEmpty else { return [] }
        var found = PushOrder.Found()
        let told = Set(known.flatMap { order.left(behind: $0, &found) })
        return numbers.filter { !told.contains($0) }
    }

    /// Takes note of them, with the order in which they stand.
    func leave(inGroups numbers: [Int64], of order: PushOrder) { state.withLock { $0.left = (numbers, order) } }

    /// The last number that the push sends.
    var last: Int64 { state.withLock { $0.last } }

    /// Takes note of it.
    func begin(through last: Int64) { state.withLock { $0.last = last } }

    /// The operations that were sent again as often as one push does, and met another row each time, or were edited while they
    /// were sent in vain.
    var overtaken: Set<Int64> { state.withLock { $0.overtaken } }

    /// Takes note of one of these.
    func leaveOvertaken(_ number: Int64) { state.withLock { _ = $0.overtaken.insert(number) } }

    /// The operations that were not to be sent when the push began, because of what earlier ones have met.
    var unsent: Set<Int64> { state.withLock { $0.unsent } }

    /// Takes note of these.
    func leaveUnsent(_ numbers: some Sequence<Int64>) { state.withLock { $0.unsent = Set(numbers) } }

    /// Takes note that the server has taken an operation: what has become of it since is as with any other.
    func taken(_ number: Int64) { state.withLock { _ = $0.unsent.remove(number) } }

    /// The operations that the server did not take, and that nobody has settled while this push had them.
    var notTaken: Set<Int64> { state.withLock { $0.notTaken } }

    /// Takes note of one of them.
    func leaveNotTaken(_ number: Int64) { state.withLock { _ = $0.notTaken.insert(number) } }

    /// How often this push has settled an operation.
    func settlements(of number: Int64) -> Int { state.withLock { $0.settlements[number] ?? 0 } }

    /// Takes note that an operation was settled.
    func settled(_ number: Int64) { state.withLock { $0.settlements[number, default: 0] += 1 } }

    /// Takes an answer in. Returns the earlier answers that are to be recorded now as well, nil when this one is not either.
    func release(_ inFlight: InFlightOperation, _ answer: PushAnswer) -> [(InFlightOperation, PushAnswer)]? {
        state.withLock { $0.forbidden.release(inFlight, answer) }
    }

    /// The only operation of the push, when its refusal may be about that alone.
    func takeAlone() -> (InFlightOperation, PushAnswer)? {
        state.withLock { $0.error == nil ? $0.forbidden.takeAlone() : nil }
    }

    /// The end of a push in which the server has forbidden every change.
    var onlyAnswer: SyncError? { state.withLock { $0.forbidden.onlyAnswer } }
}
