/// A span of time in which this process runs.
///
/// Whoever waits looks at it several times a second, and no look takes off more than that. So a machine that sleeps, a
/// process that is stopped and continued, and one that gets no turn are not taken for a rule that hangs.
struct RunningTime {
    /// How many seconds may lie between two looks.
    static let step = 0.1

    private var rest: Double
    private var last = ContinuousClock.now

    init(seconds: Double) { rest = seconds }

    /// Whether the time is over.
    mutating func isOver() -> Bool {
        let now = ContinuousClock.now
        rest -= min((now - last) / .seconds(1), 2 * Self.step)
        last = now
        return rest <= 0
    }
}
