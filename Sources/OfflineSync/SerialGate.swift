internal import Synchronization

/// Lets one task in at a time, first come first served. A task that is cancelled while it waits leaves the line.
package final class SerialGate: Sendable {
    private struct State {
        var isBusy = false
        var nextTicket = 0
        var waiting: [(ticket: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        /// Tickets cancelled before they joined the line.
        var cancelled: Set<Int> = []
    }

    private let state = Mutex(State())
    private let later: ObjectIdentifier?

    /// A gate.
    ///
    /// - Parameter later: One that may be waited for within a turn of this one. Within a turn of that one nobody may wait for
    ///   this one: two who wait crosswise would wait for ever.
    package init(before later: SerialGate? = nil) { self.later = later.map(ObjectIdentifier.init) }

    /// A turn that a task has. Those that it starts know of it, too: nothing tells whether it waits for them.
    private final class Turn: Sendable {
        let gate: ObjectIdentifier
        private let isOver = Atomic(false)

        init(_ gate: SerialGate) { self.gate = ObjectIdentifier(gate) }

        var lasts: Bool { !isOver.load(ordering: .relaxed) }

        func end() { isOver.store(true, ordering: .relaxed) }
    }

    @TaskLocal private static var turns: [Turn] = []

    /// Runs a body when every earlier one has ended.
    ///
    /// - Throws: `CancellationError` when cancelled while waiting; ``SyncError`` with code
    ///   ``SyncError/Code/invalidAction`` within a turn that the task has already, or has of a later gate, for which it
    ///   might wait for ever; else what the body throws.
    package func withTurn<Value>(_ body: () async throws -> Value) async throws -> Value {
        let gates = [ObjectIdentifier(self), later]
        guard !Self.turns.contains(where: { gates.contains($0.gate) && $0.lasts }) else {
            throw SyncError(
                .invalidAction,
                "A push or pull is under way that waits for this call, which would wait for it; call it when that has"
                    + " ended, not within a delegate or a policy."
            )
        }
        try await enter()
        let turn = Turn(self)
        defer {
            turn.end()
            leave()
        }
        return try await Self.$turns.withValue(Self.turns + [turn], operation: body)
    }

    /// Whether the task has a turn of this gate, or was started within one that lasts.
    package var isWithinTurn: Bool {
        let gate = ObjectIdentifier(self)
        return Self.turns.contains { $0.gate == gate && $0.lasts }
    }

    /// Runs a body whose tasks know of no turn: they wait for theirs, as nobody within one waits for them.
    package static func withoutTurns<Value>(_ body: () throws -> Value) rethrows -> Value {
        try $turns.withValue([], operation: body)
    }

    private func enter() async throws {
        try Task.checkCancellation()
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(ticket) != nil { return .failure(CancellationError()) }
                    if !state.isBusy {
                        state.isBusy = true
                        return .success(())
                    }
                    state.waiting.append((ticket, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.waiting.firstIndex(where: { $0.ticket == ticket }) else {
                    state.cancelled.insert(ticket)
                    return nil
                }
                return state.waiting.remove(at: index).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
        state.withLock { _ = $0.cancelled.remove(ticket) }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
