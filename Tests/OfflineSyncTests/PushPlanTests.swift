import SyncContract
import Testing

@testable import OfflineSync

@Suite("What a push may send next", .timeLimit(.minutes(1)))
struct PushPlanTests {
    private func plan() throws -> PushPlan {
        PushPlan(
            try ReferringTables.schema.get(),
            tables: nil,
            through: .max,
            GroupStorage.Groups(revision: 0, members: [])
        )
    }

    @Test("is found at once for each of many that wait for one that stays")
    func starOfHeld() throws {
        var plan = try plan()
        let numbers = 2...100_000 as ClosedRange<Int64>
        for number in numbers { plan.hold(number, for: [1]) }
        let isReleased = plan.release()
        #expect(isReleased)
        for number in numbers where plan.waits(1, for: number) { Issue.record("\(number) is in no circle") }
    }

    @Test("is found by looking at each once, where each waits for the one before it")
    func chainOfHeld() throws {
        var plan = try plan()
        let numbers = 2...3_000 as ClosedRange<Int64>
        for number in numbers { plan.hold(number, for: [number - 1]) }
        let isReleased = plan.release()
        #expect(isReleased)
        for number in numbers where plan.waits(number - 1, for: number) { Issue.record("\(number) is in no circle") }
    }

    @Test("are all of those that wait for each other in a ring")
    func ringOfHeld() throws {
        var plan = try plan()
        let numbers = 2...3_000 as ClosedRange<Int64>
        for number in numbers { plan.hold(number, for: [number == 2 ? 3_000 : number - 1]) }
        let isReleased = plan.release()
        #expect(isReleased)
        for number in numbers.dropFirst() where !plan.waits(number - 1, for: number) {
            Issue.record("\(number) is in a circle")
        }
    }
}
