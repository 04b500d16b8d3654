internal import Synchronization

/// Requests whose fate a test decides: it sees them come, holds them and lets them go.
package final class WatchedRequests<Request: Sendable, Fate: Sendable>: Sendable {
    private struct State {
        var requests: [Request] = []
        var decide: @Sendable (Request) -> Fate
        /// How often it was decided anew. Who was to be held by an earlier decision asks again.
        var decisions = 0
        var held: [Int: CheckedContinuation<Void, Never>] = [:]
        var watchers: [Int: (count: Int, continuation: CheckedContinuation<Void, Never>)] = [:]
        var next = 0
    }

    private let state: Mutex<State>
    private let isHeld: @Sendable (Fate) -> Bool

    /// - Parameters:
    ///   - decide: What becomes of a request, until something else is decided. Called outside of all locks.
    ///   - isHeld: Whether a fate is to wait until the task is cancelled, or something else is decided.
    package init(_ decide: @escaping @Sendable (Request) -> Fate, isHeld: @escaping @Sendable (Fate) -> Bool) {
        state = Mutex(State(decide: decide))
        self.isHeld = isHeld
    }

    /// All that have come, in their order.
    package var all: [Request] { state.withLock { $0.requests } }
    package var count: Int { state.withLock { $0.requests.count } }
    package func forget() { state.withLock { $0.requests = [] } }

    /// Decides what becomes of requests from here on. Those that are held are let go, to what is said now.
    package func set(_ decide: @escaping @Sendable (Request) -> Fate) {
        let held = state.withLock { state in
            state.decide = decide
            state.decisions += 1
            defer { state.held = [:] }
            return state.held.values
        }
        for continuation in held { continuation.resume() }
    }

    /// Returns when so many have come in all, or the task is cancelled.
    package func reach(_ count: Int) async {
        let number = newNumber()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.requests.count < count, !Task.isCancelled else { return true }
                    state.watchers[number] = (count, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: number) }?.continuation.resume()
        }
    }

    /// Takes note of a request, and returns what is to become of it, when it is not held any more.
    ///
    /// - Throws: `CancellationError` when it was cancelled while it was held.
    package func fate(of request: Request) async throws -> Fate {
        let met = state.withLock { state in
            state.requests.append(request)
            let met = state.watchers.filter { $0.value.count <= state.requests.count }
            for number in met.keys { state.watchers[number] = nil }
            return met.values
        }
        for watcher in met { watcher.continuation.resume() }
        while true {
            let (decide, decision) = state.withLock { ($0.decide, $0.decisions) }
            let fate = decide(request)
            guard isHeld(fate) else { return fate }
            try await hold(as: decision)
        }
    }

    /// Waits for another decision than the one that had the request held.
    private func hold(as decision: Int) async throws {
        let number = newNumber()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard state.decisions == decision, !Task.isCancelled else { return true }
                    state.held[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.held.removeValue(forKey: number) }?.resume()
        }
        try Task.checkCancellation()
    }

    private func newNumber() -> Int {
        state.withLock { state in
            state.next += 1
            return state.next
        }
    }
}
