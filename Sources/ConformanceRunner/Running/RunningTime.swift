internal import Foundation

/// A span of time in which this process runs and comes no further.
///
/// Whoever waits looks at it several times a second, and no look takes off much more than that. So a machine that sleeps,
/// a process that is stopped and continued, and one that gets no turn are not taken for a rule that hangs. Nor is one that is
/// slow because others use the machine: where the process uses the processor the span begins anew, until it has used a
/// multiple of it.
package struct RunningTime {
    /// How many seconds may lie between two looks.
    package static let step = 0.1
    /// How many times the span a process may use the processor before it counts as one that goes round in circles.
    package static let mostWork = 10.0
    /// From which part of a look on a process is at work; looking itself is far below.
    private static let leastWork = 0.01

    private let seconds: Double
    private var rest: Double
    private var last: ContinuousClock.Instant
    private var firstWork: Double?
    private var lastWork = 0.0
    private let countsWork: Bool

    /// What another process says it has used of the processor, in seconds; nil for this process.
    package var reportedWork: Double?

    /// A span that begins now.
    ///
    /// - Parameters:
    ///   - seconds: How long it is.
    ///   - countsWork: Whether it begins anew where the processor is used.
    ///   - reportedWork: What the other process has used so far that is waited for; nil for this one.
    ///   - now: When it begins.
    package init(
        seconds: Double,
        countsWork: Bool = true,
        reportedWork: Double? = nil,
        from now: ContinuousClock.Instant = .now
    ) {
        self.seconds = seconds
        self.countsWork = countsWork
        self.reportedWork = reportedWork
        rest = seconds
        last = now
    }

    /// Whether the time is over.
    package mutating func isOver(at now: ContinuousClock.Instant = .now, work: Double = Self.processorTime) -> Bool {
        let elapsed = min((now - last) / .seconds(1), 2 * Self.step)
        last = now
        rest -= elapsed
        guard countsWork else { return rest <= 0 }
        let work = reportedWork ?? work
        let first = firstWork ?? work
        if firstWork != nil, work - lastWork > elapsed * Self.leastWork { rest = seconds }
        (firstWork, lastWork) = (first, work)
        return rest <= 0 || work - first >= seconds * Self.mostWork
    }

    /// How many seconds of the processor this process has used, on all threads together.
    package static var processorTime: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}
