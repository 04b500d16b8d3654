import Testing

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
}
