#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a session takes from the world: time, chance, and what the system says of the network. Tests bring their own.
package struct SessionEnvironment: Sendable {
    /// The time since any one moment.
    let now: @Sendable () -> Duration
    /// Until such a time: not for as long as it seemed to be when that was worked out.
    let sleepUntil: @Sendable (Duration) async throws -> Void
    let date: @Sendable () -> Date
    /// 0 to 1.
    let random: @Sendable () -> Double
    let reachability: any Reachability

    package init(
        clock: some Clock<Duration> = ContinuousClock(),
        date: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
        reachability: any Reachability = SystemReachability()
    ) {
        let origin = clock.now
        now = { origin.duration(to: clock.now) }
        sleepUntil = { try await clock.sleepInParts(until: origin.advanced(by: $0)) }
        self.date = date
        self.random = random
        self.reachability = reachability
    }
}

extension Clock<Duration> {
    /// Sleeps until such a time, a part of it at a time. Of a sleep that is cancelled the system keeps something until its time has
    /// come, so none lasts longer than a minute there; by other clocks, those of tests, the whole time is one.
    package func sleepInParts(until time: Instant, of part: Duration? = nil) async throws {
        let part = part ?? (self is ContinuousClock ? .seconds(60) : nil)
        while let part, now.advanced(by: part) < time { try await sleep(until: now.advanced(by: part), tolerance: nil) }
        try await sleep(until: time, tolerance: nil)
    }
}
