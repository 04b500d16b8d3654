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
    /// Sleeps until such a time. Of a sleep that is cancelled the system keeps something until its time has come, so none lasts
    /// longer than a minute; tests see the whole time.
    package func sleepInParts(until time: Instant) async throws {
        while self is ContinuousClock, now.advanced(by: .seconds(60)) < time {
            try await sleep(until: now.advanced(by: .seconds(60)), tolerance: nil)
        }
        try await sleep(until: time, tolerance: nil)
    }
}
