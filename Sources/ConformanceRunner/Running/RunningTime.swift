/// A span of time in which this process runs.
///
/// Whoever waits looks at it several times a second, and no look takes off much more than that. So a machine that sleeps,
/// a process that is stopped and continued, and one that gets no turn are not taken for a rule that hangs.
package struct RunningTime {
    /// How many seconds may lie between two looks.
    package static let step = 0.1

    private var rest: Double
    private var last: ContinuousClock.Instant

    package init(seconds: Double, from now: ContinuousClock.Instant = .now) {
        rest = seconds
        last = now
    }

    /// Whether the time is over.
    package mutating func isOver(at now: ContinuousClock.Instant = .now) -> Bool {
        rest -= min((now - last) / .seconds(1), 2 * Self.step)
        last = now
        return rest <= 0
    }
}
