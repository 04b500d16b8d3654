internal import Synchronization

/// What is handed to subscribers in the order in which it was put here, and outside of every lock.
///
/// To yield to a sequence, or to resume a task, takes a lock of that task. Whoever cancels the task holds that lock while its
/// cancellation handlers run, and those take the locks of what it waits for: a thread that yielded with one of them would
/// wait for ever. So what is to be handed over is put here under the lock that gives it its order, and delivered after it.
package final class Deliveries: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isDelivering = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Puts something in line. It is done by ``deliver()``.
    package func add(_ delivery: @escaping @Sendable () -> Void) { state.withLock { $0.waiting.append(delivery) } }

    /// Hands over what waits, one after the other. What another thread is handing over already is left to that.
    package func deliver() {
        while let deliveries = next() {
            for delivery in deliveries { delivery() }
            state.withLock { $0.isDelivering = false }
        }
    }

    private func next() -> [@Sendable () -> Void]? {
        state.withLock { state in
            guard !state.isDelivering, !state.waiting.isEmpty else { return nil }
            state.isDelivering = true
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
