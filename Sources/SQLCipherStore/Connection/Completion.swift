import Synchronization

/// The end of work on another thread, for which one task waits.
final class Completion: Sendable {
    /// 1 when the work has ended. Watched, so that watching takes no lock.
    private let ends = Atomic(0)
    private let waiter = Mutex<CheckedContinuation<Void, Never>?>(nil)

    /// Tells the end. Called once.
    func tell() {
        let waiting = waiter.withLock { waiter in
            ends.store(1, ordering: .releasing)
            defer { waiter = nil }
            return waiter
        }
        waiting?.resume()
    }

    /// Returns after the end.
    ///
    /// - Parameter watching: Whether to watch for a moment first. A suspended task goes on only after a sleeping thread was
    ///   woken, which takes longer than a small transaction.
    func wait(watching: Bool) async {
        if watching { BriefWatch.forEnd(ends) }
        guard ends.load(ordering: .acquiring) == 0 else { return }
        await withCheckedContinuation { continuation in
            let hasEnded = waiter.withLock { waiter in
                guard ends.load(ordering: .acquiring) == 0 else { return true }
                waiter = continuation
                return false
            }
            if hasEnded { continuation.resume() }
        }
    }
}
