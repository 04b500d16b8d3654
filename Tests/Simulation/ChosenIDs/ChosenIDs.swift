internal import OfflineSync
internal import SeededNumbers
package import SyncContract

/// Devices whose server chooses the ids of lists and of the items in them. One thing happens after the other, or while a
/// request is under way. What is judged is ids, which are no row's twice and lead both ways, references, and what becomes of
/// every text that a user wrote.
///
/// Used on the thread of its simulation only: all that runs, runs on its executor.
package final class ChosenIDs: @unchecked Sendable {
    static let tableNames = ["lists", "items"]

    let executor = SimulationExecutor()
    let settings: ChosenSettings
    let server: ChoosingServer
    let ledger = ChosenLedger()
    private(set) var devices: [ChosenDevice] = []
    var random: SeededGenerator
    private var count = 0
    private var isCalm = false
    /// What went wrong, in the order in which it was seen.
    private(set) var failures: [String] = []
    /// What happened, when somebody wants to know.
    private(set) var story: [String] = []
    private let tellsStory: Bool

    /// Plays a seed on empty stores, and says what went wrong; the story is told for somebody who asks.
    package static func run(
        seed: UInt64,
        tellsStory: Bool = false,
        makeStore: @Sendable (StoreSchema) -> any SyncContextDataSource
    ) throws -> (failures: [String], story: [String]) {
        let settings = ChosenSettings(seed: seed)
        let schema = try settings.schema
        let world = ChosenIDs(settings, (0..<settings.deviceCount).map { _ in makeStore(schema) }, tellsStory)
        let end = Task(executorPreference: world.executor) {
            await UncancelledWork.$executor.withValue(world.executor) { await world.play() }
        }
        world.executor.drain()
        if !world.hasEnded { world.fail("it hangs") }
        end.cancel()
        return (world.failures, world.story)
    }

    private var hasEnded = false

    private init(_ settings: ChosenSettings, _ stores: [any SyncContextDataSource], _ tellsStory: Bool) {
        self.settings = settings
        self.tellsStory = tellsStory
        random = SeededGenerator(seed: settings.seed)
        server = ChoosingServer(settings)
        devices = stores.enumerated().map { ChosenDevice($0, $1, self) }
        server.tell { [unowned self] in note($0) }
        server.willWrite = { [unowned self] write in
            note("    The server: \(write.description)")
            for failure in ledger.objections(to: write) { fail(failure) }
        }
    }

    func note(_ text: @autoclosure () -> String) { if tellsStory, failures.count < 2 { story.append(text()) } }

    func fail(_ text: String) {
        failures.append(text)
        note("WRONG: \(text)")
    }

    /// A text that nobody else writes.
    func newText() -> String {
        count += 1
        return "text\(count)"
    }

    private func play() async {
        do {
            for _ in 0..<70 where failures.isEmpty { try await step() }
            if failures.isEmpty {
                note("The network heals.")
                isCalm = true
                server.calm()
                try await settle()
                try await judge()
            }
        } catch {
            fail("it ended with \(error)")
        }
        hasEnded = true
    }

    private func step() async throws {
        let device = random.pick(devices)
        try await device.look()
        switch random.below(20) {
        case 0...4: try await device.perform(try await edits(on: device, most: 1))
        case 5...6: try await device.perform(try await edits(on: device, most: 4), isGroup: true)
        case 7: device.restart()
        case 8...9:
            try await interrupt(device)
            try await device.push()
            server.whileNextIsUnderWay(nil)
        case 10...12: try await device.push()
        case 13...14: try await device.pull(reconciles: settings.deletesForGood && random.chance(1, of: 2))
        case 15:
            device.willDie(after: random.below(8))
            if random.chance(1, of: 2) { try await device.push() } else { try await device.pull() }
            device.restart()
        case 16...17: try await device.settleAny()
        case 18: try await device.takeBackDeletion()
        default: try await device.giveUpAny()
        }
    }

    /// Has something happen while the next request is under way: an edit, or what another device does.
    private func interrupt(_ device: ChosenDevice) async throws {
        let other = random.pick(devices)
        if other !== device, random.chance(1, of: 2) {
            server.whileNextIsUnderWay { [unowned other] in try await other.push() }
        } else {
            let edits = try await edits(on: device, most: 2)
            server.whileNextIsUnderWay { [unowned device] in try await device.perform(edits) }
        }
    }

    /// Lets every device push, settle and pull until nothing is left to do.
    private func settle() async throws {
        for round in 0..<16 {
            let before = ledger.sequence
            var isQuiet = true
            for device in devices {
                try await device.push()
                if try await device.settleAll(round < 4 ? nil : .server) { isQuiet = false }
                try await device.pull(reconciles: settings.deletesForGood)
            }
            // What one has pushed the others have pulled a round later.
            if isQuiet, round > 1, ledger.sequence == before { return }
        }
        fail("it does not come to rest")
    }
}

/// What a world is like whose server chooses ids, as a seed has it.
struct ChosenSettings: Sendable {
    let seed: UInt64
    let deviceCount: Int
    /// How many operations a push has under way at a time, and how many leave together.
    let parallelOperations: Int
    let batchSize: Int
    let replacesWholeRows: Bool
    /// How many operations of the queue a push looks at in one query.
    let queuePortion: Int
    /// What devices have settled by rule.
    let policies: [WorldSettings.Policy]
    let hasDelegates: Bool
    /// What becomes of items whose list is deleted.
    let rule: DeletionRule
    /// Whether the server keeps nothing of a row that is deleted. Then only its maker makes a row anew: two who did would
    /// have made two rows.
    let deletesForGood: Bool

    init(seed: UInt64) {
        self.seed = seed
        var random = SeededGenerator(seed: seed &+ 1)
        deviceCount = random.pick([2, 2, 3])
        parallelOperations = random.pick([1, 1, 2, 4])
        batchSize = random.pick([1, 1, 2, 5])
        replacesWholeRows = random.chance(1, of: 2)
        let policies: [WorldSettings.Policy] = random.chance(1, of: 2) ? [.store] : WorldSettings.Policy.allCases
        hasDelegates = random.chance(1, of: 3)
        rule = random.pick([.noAction, .noAction, .cascade, .nullify])
        let deletesForGood = seed % 4 == 3
        self.deletesForGood = deletesForGood
        queuePortion = random.pick([1, 1, 2, 1_024])
        self.policies = policies.filter { !deletesForGood || $0 != .clientWins }
    }

    var schema: StoreSchema {
        get throws {
            let columns = [ColumnDefinition("origin", .string), ColumnDefinition("text", .string)]
            let list = ColumnDefinition("list", .string, references: "lists", onDelete: rule)
            return try StoreSchema([
                TableDefinition("lists", columns: columns, assignsIDs: true),
                TableDefinition("items", columns: columns + [list], assignsIDs: true),
            ])
        }
    }
}
