import Foundation

/// Something that happens once, and for which any number of threads can wait.
struct StopSignal: Sendable {
    /// Signalled once given; whoever was let through lets the next one through.
    private let gate = DispatchSemaphore(value: 0)

    func give() { gate.signal() }

    /// Waits for the signal, but no longer than this.
    func wait(upTo duration: Duration) {
        if gate.wait(timeout: .now() + duration.seconds) == .success { gate.signal() }
    }
}

extension Duration {
    /// The duration in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
