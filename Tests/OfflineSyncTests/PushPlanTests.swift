import SyncContract
import SyncMachines
import Testing

@testable import OfflineSync

@Suite("What a push may send next", .timeLimit(.minutes(1)))
struct PushPlanTests {
    private func plan() throws -> PushPlan {
        PushPlan(
            try ReferringTables.schema.get(),
            tables: nil,
            through: .max,
            GroupStorage.Groups(revision: 0, members: [], through: .max)
        )
    }

    @Test("is looked for where no long run of a group's operations stands, whose numbers are known")
    func stretches() throws {
        let numbers: [ClosedRange<Int64>] = [2...3, 101...300, 401...440, 501...700]
        let members = numbers.flatMap(Array.init)
            .map { number in
                let membership = GroupMembership(group: 1, first: number, last: number, editCounter: 0)
                return GroupStorage.Member(number: number, table: "lists", memberships: [membership], isToSend: true)
            }
        let groups = GroupStorage.Groups(revision: 1, members: members, through: .max)
        let plan = PushPlan(try ReferringTables.schema.get(), tables: nil, through: 1_000, groups)
        #expect(plan.stretch(after: 0, through: 1_000) == 1...100)
        #expect(plan.stretch(after: 50, through: 80) == 51...80)
        #expect(plan.stretch(after: 100, through: 1_000) == 301...500)
        #expect(plan.stretch(after: 200, through: 300) == nil)
        #expect(plan.stretch(after: 499, through: 1_000) == 500...500)
        #expect(plan.stretch(after: 500, through: 1_000) == 701...1_000)
        #expect(plan.stretch(after: 700, through: 700) == nil)
        #expect(plan.stretch(after: 1_000, through: 1_000) == nil)
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
