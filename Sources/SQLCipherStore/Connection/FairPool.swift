import Synchronization

/// Things that one at a time may use: the first that comes acquires one, the others wait in a queue without a thread, and
/// can be cancelled there.
final class FairPool<Element: Sendable>: Sendable {
    private typealias Waiter = (id: Int, continuation: CheckedContinuation<Element, any Error>)

    private struct State {
        /// Empty while anybody waits: what is released goes to the first that waits.
        var idle: [Element]
        var waiters: [Waiter] = []
        var nextID = 0
    }

    private let state: Mutex<State>

    /// The last element is used first.
    init(_ elements: [Element]) { state = Mutex(State(idle: elements)) }

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// An element, which belongs to the caller until it is released.
    ///
    /// - Throws: `CancellationError` when the task is cancelled before.
    func acquire() async throws -> Element {
        try Task.checkCancellation()
        if let element = acquireIdle() { return element }
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Element, any Error>? = state.withLock { state in
                    // Asked inside the lock: a cancellation that comes later finds the waiter.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let element = state.idle.popLast() { return .success(element) }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// An element that nobody uses; nil when there is none.
    func acquireIdle() -> Element? { state.withLock { $0.idle.popLast() } }

    /// Hands an element over to the next that waits.
    func release(_ element: Element) {
        let next: Waiter? = state.withLock { state in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.idle.append(element)
            return nil
        }
        next?.continuation.resume(returning: element)
    }

    private func cancel(_ id: Int) {
        let waiter: Waiter? = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(throwing: CancellationError())
    }
}
