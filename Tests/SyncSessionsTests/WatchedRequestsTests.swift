import Testing
import VirtualTime

@Suite("Requests that a test holds and lets go")
struct WatchedRequestsTests {
    @Test("one that was to be held is not when something else was decided meanwhile", .timeLimit(.minutes(1)))
    func decidedMeanwhile() async throws {
        let requests = WatchedRequests<Int, Bool>({ _ in true }, isHeld: { $0 })
        requests.set { _ in
            requests.set { _ in false }
            return true
        }
        #expect(try await requests.fate(of: 1) == false)
    }

    @Test("who waits for one that does not come can be cancelled", .timeLimit(.minutes(1)))
    func cancelled() async {
        let requests = WatchedRequests<Int, Bool>({ _ in true }, isHeld: { $0 })
        let clock = VirtualClock()
        for wait in [Task { await requests.reach(1) }, Task { await clock.sleeperComes() }] {
            wait.cancel()
            await wait.value
        }
    }
}
