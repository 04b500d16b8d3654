import Dispatch
import SQLCipherMaintenance
import Synchronization

/// Holds work on a store still in the middle of its copy until it is let go.
final class Pause: Sendable {
    private let (told, tell) = AsyncStream<Void>.makeStream()
    private let end = DispatchSemaphore(value: 0)
    private let isFirst = Mutex(true)

    /// What the work reports to.
    var handler: StoreProgressHandler {
        { progress in
            guard progress.phase == .copying, (1..<progress.total).contains(progress.completed) else { return }
            let isFirst = self.isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            guard isFirst else { return }
            self.tell.yield()
            self.end.wait()
        }
    }

    /// Waits until the work stands still.
    func reached() async {
        for await _ in told { break }
    }

    /// Lets the work go on.
    func letGo() { end.signal() }
}
