@testable import SyncMachines
import Testing

@Suite("The order in which groups are sent")
struct PushOrderTests {
    /// Operations by number: which groups changed them, and where in each.
    struct Case: CustomTestStringConvertible {
        var what: String
        /// The operations that each group changed, in order.
        var groups: [[Int64]]
        /// Operations that are not taken.
        var refused: Set<Int64> = []
        var blocked: Set<Int64> = []
        var sent: [Int64]

        var testDescription: String { what }
    }

    static let cases = [
        Case(what: "one group goes out in its order", groups: [[1, 2, 3]], sent: [1, 2, 3]),
        Case(what: "also when its operations are older the other way round", groups: [[3, 1, 2]], sent: [3, 1, 2]),
        Case(
            what: "groups without an item in common go in the order of numbers",
            groups: [[1, 2], [3, 4]],
            sent: [1, 2, 3, 4]
        ),
        Case(
            what: "what was refused holds back the rest of its group",
            groups: [[1, 2, 3]],
            refused: [2],
            sent: [1, 2]
        ),
        Case(what: "and not other groups", groups: [[1, 2], [3, 4]], refused: [1], sent: [1, 3, 4]),
        Case(
            what: "a later group that goes on with such an item waits",
            groups: [[1, 2], [2, 3]],
            refused: [1],
            sent: [1]
        ),
        Case(
            what: "as a whole, also what stands before that item",
            groups: [[1, 2], [3, 2]],
            refused: [1],
            sent: [1]
        ),
        Case(
            what: "but for what an earlier group changed as well",
            groups: [[3, 4], [1, 2], [3, 2]],
            refused: [1],
            sent: [1, 3, 4]
        ),
        Case(
            what: "and so does one that goes on with that one",
            groups: [[1, 2], [2, 3], [3, 4]],
            refused: [1],
            sent: [1]
        ),
        Case(
            what: "an item that a later group changed last stands behind what that group changed before",
            groups: [[1, 2], [3, 1]],
            sent: [3, 1, 2]
        ),
        Case(
            what: "crossing groups become one unit, in the order of last changes",
            groups: [[1, 2], [2, 1]],
            sent: [2, 1]
        ),
        Case(what: "of which the rest waits", groups: [[1, 2], [2, 1]], refused: [2], sent: [2]),
        Case(what: "or all of it", groups: [[1, 2], [2, 1]], blocked: [2], sent: []),
        Case(
            what: "what comes after one of a unit comes after all of it",
            groups: [[2, 3], [3, 2], [2, 1]],
            refused: [2],
            sent: [3, 2]
        ),
        Case(what: "three groups may cross in a ring", groups: [[1, 2], [2, 3], [3, 1]], blocked: [3], sent: []),
        Case(
            what: "an item changed twice in a group is one with what stands between",
            groups: [[1, 2, 1, 3]],
            sent: [2, 1, 3]
        ),
        Case(what: "and holds it back", groups: [[1, 2, 1, 3]], refused: [1], sent: [2, 1]),
    ]

    @Test("follows the rules", arguments: cases)
    func rules(_ example: Case) {
        let world = PushOrderWorld(example.groups)
        let steps = world.push(refusing: example.refused, blocking: example.blocked)
        #expect(steps.map(\.number) == example.sent)
        #expect(world.wrongs(of: steps, refusing: example.refused, blocking: example.blocked) == [])
    }

    @Test("sends what comes before what was asked for, and nothing else")
    func wanted() {
        let entries = PushOrderWorld([[1, 2], [3, 4], [2, 5]]).entries()
            .map { entry in
                var entry = entry
                entry.isWanted = entry.number == 2
                return entry
            }
        var order = PushOrder(entries)
        var sent: [Int64] = []
        while let number = order.next {
            order.start(number)
            order.end(number, isSettled: true)
            sent.append(number)
        }
        #expect(sent == [1, 2])
    }

    @Test("has at most one operation of a group under way, and others beside it")
    func parallel() {
        var order = PushOrder(PushOrderWorld([[1, 2], [3, 4]]).entries())
        var started: [Int64] = []
        while let number = order.next {
            order.start(number)
            started.append(number)
        }
        #expect(started == [1, 3])
        order.end(3, isSettled: true)
        #expect(order.next == 4)
        order.end(1, isSettled: false)
        #expect(order.next == 4)
    }

    @Test("takes what is under way over when it is made anew")
    func anew() {
        // While the first one is under way, a group changes the second one and then the first one again.
        var order = PushOrder(PushOrderWorld([[1, 2], [2, 1]]).entries(), underWay: [1])
        #expect(order.next == nil)
        order.end(1, isSettled: false)
        #expect(order.next == nil)
        order = PushOrder(PushOrderWorld([[1, 2]]).entries(), underWay: [1])
        order.end(1, isSettled: true)
        #expect(order.next == 2)
    }

    @Test("takes no longer for a long group, and needs no deep stack")
    func long() {
        let numbers = (1...2_000).map(Int64.init)
        #expect(PushOrderWorld([numbers]).push().map(\.number) == numbers)
    }

    @Test("gives what is ready of many groups in the order of numbers, also beside what is held back")
    func many() {
        var entries: [PushOrder.Entry] = []
        for group in 1...3_000 as ClosedRange<Int64> {
            for place in 0...1 as ClosedRange<Int64> {
                let membership = GroupMembership(group: group, first: place, last: place, editCounter: 0)
                let isBlocked = place == 0 && group % 3 == 0
                entries.append(PushOrder.Entry(2 * group + place, [membership], isBlocked: isBlocked))
            }
        }
        var order = PushOrder(entries)
        var sent: [Int64] = []
        while let number = order.next {
            order.start(number)
            sent.append(number)
            order.end(number, isSettled: true)
        }
        #expect(sent.count == 4_000 && sent == sent.sorted())
    }

    @Test(
        "is that of a search by brute force, whatever the groups, refusals and answers",
        arguments: 0..<40 as Range<UInt64>
    )
    func random(_ number: UInt64) {
        var random = SplitMix(seed: number)
        for _ in 0..<50 {
            let groups = (0..<Int.random(in: 1...4, using: &random))
                .map { _ in
                    (0..<Int.random(in: 1...4, using: &random)).map { _ in Int64.random(in: 1...5, using: &random) }
                }
            let refused = Set((1...5).filter { _ in Int.random(in: 0..<6, using: &random) == 0 }.map(Int64.init))
            let blocked = Set((1...5).filter { _ in Int.random(in: 0..<8, using: &random) == 0 }.map(Int64.init))
            let world = PushOrderWorld(groups)
            let sent = world.push(refusing: refused, blocking: blocked, lanes: Int.random(in: 1...3, using: &random)) {
                Int.random(in: 0..<$0, using: &random)
            }
            let wrongs = world.wrongs(of: sent, refusing: refused, blocking: blocked)
            #expect(
                wrongs == [],
                "seed \(number): groups \(groups), refused \(refused), blocked \(blocked), sent \(sent.map(\.number))"
            )
            guard wrongs == [] else { return }
        }
    }
}

/// A generator whose numbers depend on its seed alone.
struct SplitMix: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
