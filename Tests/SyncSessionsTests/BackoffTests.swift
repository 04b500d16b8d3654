import OfflineSync
import Testing
import VirtualTime

@testable import SyncSessions

@Suite("Waiting after failures")
struct BackoffTests {
    @Test("waits 1 s, twice as long each time, and at most 5 min")
    func doubling() {
        var progress = BackoffProgress()
        let waits = (0..<11).map { _ in progress.wait(after: "unreachable", Backoff(), random: 0) / .seconds(1) }
        #expect(waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300])
    }

    @Test("takes up to a quarter off at random")
    func jitter() {
        for (random, expected) in [(0.0, 1.0), (0.5, 0.875), (1.0, 0.75)] {
            var progress = BackoffProgress()
            #expect(progress.wait(after: "unreachable", Backoff(), random: random) / .seconds(1) == expected)
            #expect(
                progress.wait(after: "unreachable", Backoff(), random: 0) == .seconds(2),
                "what was taken off is not kept"
            )
        }
    }

    @Test("another failure starts anew")
    func otherFailure() {
        var progress = BackoffProgress()
        for _ in 0..<4 { _ = progress.wait(after: "unreachable", Backoff(), random: 0) }
        #expect(progress.wait(after: "throttled 503", Backoff(), random: 0) == .seconds(1))
        #expect(progress.wait(after: "throttled 503", Backoff(), random: 0) == .seconds(2))
        #expect(progress.wait(after: "unreachable", Backoff(), random: 0) == .seconds(1))
    }

    @Test("settings that make no sense never shorten a wait below nothing")
    func nonsense() {
        var progress = BackoffProgress()
        let backoff = Backoff(first: .seconds(10), longest: .seconds(5), factor: 0.1, jitter: 7)
        #expect(progress.wait(after: "a", backoff, random: 0) == .seconds(5))
        #expect(progress.wait(after: "a", backoff, random: 0) == .seconds(5))
        #expect(progress.wait(after: "a", backoff, random: 2) == .zero)
    }

    private static let extremes: [Duration] = [
        .seconds(Int64.max), .seconds(Int64.max / 2), .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1),
    ]

    @Test(
        "whatever is set, waits are at least 100 ms before anything is taken off, and can be waited for",
        arguments: extremes
    )
    func extreme(_ time: Duration) {
        for number in [Double.infinity, -.infinity, .nan, 1e300, -1, 0] {
            var changed = Backoff()
            (changed.first, changed.longest, changed.factor, changed.jitter) = (time, time, number, number)
            #expect(changed == Backoff(first: time, longest: time, factor: number, jitter: number))
            var progress = BackoffProgress()
            for _ in 0..<100 {
                let wait = progress.wait(after: "a", changed, random: 0)
                #expect(wait >= .milliseconds(100) && wait <= .seconds(3_200_000_000))
            }
            // One that begins small grows.
            var growing = BackoffProgress()
            for _ in 0..<100 {
                let wait = growing.wait(after: "a", Backoff(longest: time, factor: number), random: 1)
                #expect(wait >= .zero && wait <= .seconds(3_200_000_000))
            }
        }
    }

    @Test("times of a session are bounded, also when they are set later", arguments: extremes)
    func bounded(_ time: Duration) {
        var changed = SessionOptions()
        (changed.pullInterval, changed.pushDelay, changed.maximumOfflineTime) = (time, time, time)
        for options in [SessionOptions(pullInterval: time, pushDelay: time, maximumOfflineTime: time), changed] {
            #expect(options.pullInterval ?? .zero >= .milliseconds(100))
            #expect(options.pushDelay >= .zero && options.maximumOfflineTime ?? .seconds(-1) >= .zero)
            for value in [options.pullInterval, options.pushDelay, options.maximumOfflineTime] {
                #expect(value ?? time <= .seconds(3_200_000_000))
            }
        }
    }

    @Test("any time may be set for a sync or a wait", arguments: extremes)
    func timeLimits(_ time: Duration) async throws {
        let device = try SessionDevice(SessionDevice.emulator())
        device.session.start()
        if time > .seconds(1) {
            try await device.session.wait(for: .both, timeout: time)
            #expect(try await device.session.sync(within: time).isComplete)
        } else {
            // It may be over, or done, first; nothing but that.
            do { try await device.session.wait(for: .both, timeout: time) } catch let error as SyncError {
                #expect(error.code == .timedOut)
            }
        }
        await device.session.close()
    }

    @Test("a long sleep is one of parts, and ends in its time")
    func longSleep() async throws {
        let clock = VirtualClock()
        let end = clock.now.advanced(by: .seconds(150))
        let sleep = Task { try await clock.sleepInParts(until: end, of: .seconds(60)) }
        for part in [60, 60, 30] {
            await clock.sleeperComes { $0 == .seconds(part) }
            clock.advance(by: .seconds(part))
        }
        try await sleep.value
        #expect(clock.now == end)
    }

    @Test("a sleep of the system's clock ends when it is cancelled, and at once when its time has come")
    func cancelledSleep() async throws {
        let clock = ContinuousClock()
        try await clock.sleepInParts(until: clock.now.advanced(by: .seconds(-1)))
        let sleep = Task { try await clock.sleepInParts(until: clock.now.advanced(by: .seconds(3_000_000_000))) }
        sleep.cancel()
        await #expect(throws: CancellationError.self) { try await sleep.value }
    }
}
