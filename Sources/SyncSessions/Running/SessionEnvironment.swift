#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a session takes from the world: time, chance, and what the system says of the network. Tests bring their own.
package struct SessionEnvironment: Sendable {
    /// The time since any one moment.
    let now: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
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
        sleep = { try await clock.sleep(for: $0) }
        self.date = date
        self.random = random
        self.reachability = reachability
    }
}
