import Testing

@testable import SyncSessions

@Suite("What the system says of the network")
struct ReachabilityTests {
    @Test("says at once how it is, and ends with the task that listens")
    func first() async throws {
        let task = Task {
            var values: [Bool] = []
            for await isThere in SystemReachability().changes() {
                values.append(isThere)
                break
            }
            return values
        }
        #expect(await task.value.count == 1)
        let endless = Task { for await _ in SystemReachability().changes() {} }
        endless.cancel()
        await endless.value
    }
}
