/// How long a session waits after a failure: longer each time the same one repeats.
public struct Backoff: Sendable, Hashable {
    /// The first wait. A failure of another kind than the last one starts here again.
    public var first: Duration

    /// The longest wait.
    public var longest: Duration

    /// What each wait is multiplied by for the next one, 1 or more.
    public var factor: Double

    /// The largest part of a wait, 0 to 1, that is taken off at random, so that not all devices come back at once.
    public var jitter: Double

    /// Creates one; the defaults are 1 s, doubled up to 5 min, minus up to a quarter.
    public init(
        first: Duration = .seconds(1),
        longest: Duration = .seconds(300),
        factor: Double = 2,
        jitter: Double = 0.25
    ) {
        self.first = first
        self.longest = longest
        self.factor = factor
        self.jitter = jitter
    }
}

/// Where a session is in its waits.
package struct BackoffProgress: Sendable, Hashable {
    private struct Wait: Hashable {
        var failure: String
        /// Before anything was taken off.
        var duration: Duration
    }

    private var last: Wait?

    package init() {}

    /// How long to wait after a failure.
    ///
    /// - Parameters:
    ///   - failure: Names the failure; the wait grows as long as it is the same.
    ///   - backoff: The rule.
    ///   - random: 0 to 1: how much of what may be taken off is.
    /// - Returns: The time.
    package mutating func wait(after failure: String, _ backoff: Backoff, random: Double) -> Duration {
        var wait = min(backoff.first, backoff.longest)
        if let last, last.failure == failure { wait = min(last.duration * max(1, backoff.factor), backoff.longest) }
        last = Wait(failure: failure, duration: wait)
        let part = min(max(backoff.jitter, 0), 1) * min(max(random, 0), 1)
        return max(.zero, wait * (1 - part))
    }
}
