/// A device's clock: that of the server, and what sleeps is woken by the scheduler, early or late.
struct SimulatedClock: Clock {
    struct Instant: InstantProtocol {
        var milliseconds: Int64

        func advanced(by duration: Duration) -> Instant {
            Instant(milliseconds: milliseconds + Int64(duration / .milliseconds(1)))
        }

        func duration(to other: Instant) -> Duration { .milliseconds(other.milliseconds - milliseconds) }

        static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }
    }

    let life: DeviceLife
    let world: World

    var now: Instant { Instant(milliseconds: world.server.clock) }
    var minimumResolution: Duration { .milliseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws { try await world.sleep(life) }
}
