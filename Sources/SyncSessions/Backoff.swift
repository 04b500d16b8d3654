/// How long a session waits after a failure: longer each time the same one repeats. What is out of range counts as its nearest end.
public struct Backoff: Sendable, Hashable {
    /// The first wait, 100 ms to 100 years. A failure of another kind than the last one starts here again.
    public var first: Duration {
        didSet { first = first.asPause }
    }

    /// The longest wait, 100 ms to 100 years; the first one is no longer than this.
    public var longest: Duration {
        didSet { longest = longest.asPause }
    }

    /// What each wait is multiplied by for the next one, 1 to 1,000; 1 for what is no number.
    public var factor: Double {
        didSet { factor = factor.bounded(to: 1...1000) }
    }

    /// The largest part of a wait, 0 to 1, that is taken off at random, so that not all devices come back at once; 0 for what is
    /// no number.
    public var jitter: Double {
        didSet { jitter = jitter.bounded(to: 0...1) }
    }

    /// Creates one; the defaults are 1 s, doubled up to 5 min, minus up to a quarter.
    public init(
        first: Duration = .seconds(1),
        longest: Duration = .seconds(300),
        factor: Double = 2,
        jitter: Double = 0.25
    ) {
        self.first = first.asPause
        self.longest = longest.asPause
        self.factor = factor.bounded(to: 1...1000)
        self.jitter = jitter.bounded(to: 0...1)
    }
}

extension Duration {
    /// The longest time that is waited for: no clock can be asked for all times there are.
    private static let longestWait = Duration.seconds(100 * 365.25 * 86_400)

    /// As a time that is waited for: none below zero, and no longer than 100 years.
    package var asWait: Duration { min(max(self, .zero), Self.longestWait) }

    /// The same between requests that are made again and again: no shorter than 100 ms.
    package var asPause: Duration { max(asWait, .milliseconds(100)) }
}

extension Double {
    /// The nearest number in a range; its beginning for what is no number.
    fileprivate func bounded(to range: ClosedRange<Double>) -> Double {
        isNaN ? range.lowerBound : min(max(self, range.lowerBound), range.upperBound)
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
        if let last, last.failure == failure { wait = min(last.duration * backoff.factor, backoff.longest) }
        last = Wait(failure: failure, duration: wait)
        let part = backoff.jitter * min(max(random, 0), 1)
        return max(.zero, wait * (1 - part))
    }
}
