import DatasyncEmulator
import DatasyncHTTP
import EmulatorTransport
import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// An app whose next version says more about its tables: the rows and the queue of before stay.
@Suite("References that are declared when rows are here already, to rows whose ids the server chooses")
struct DeclaredReferenceTests {
    private let hours: Hours
    private let emulator: Emulator

    /// The clock of the server.
    private final class Hours: Sendable {
        private let count = Mutex<Int64>(480_000)

        var milliseconds: Int64 { count.withLock { $0 * 3_600_000 } }

        func pass() { count.withLock { $0 += 1 } }
    }

    init() {
        let hours = Hours()
        var configuration = EmulatorConfiguration(dialect: .datasync, tables: ["Lists", "Tasks"])
        configuration.clock = { hours.milliseconds }
        self.hours = hours
        emulator = Emulator(configuration)
    }

    private func store(assignsIDs: Bool, references: Bool) throws -> MemoryStore {
        MemoryStore(
            try StoreSchema([
                TableDefinition("Lists", columns: [.init("text", .string)], assignsIDs: assignsIDs),
                TableDefinition(
                    "Tasks",
                    columns: [
                        .init("text", .string), .init("list", .string, references: references ? "Lists" : nil),
                    ]
                ),
            ])
        )
    }

    private func context(_ store: MemoryStore) throws -> SyncContext {
        let remote = try DatasyncRemote(
            baseURL: EmulatorTransport.url,
            dialect: .datasync,
            transport: EmulatorTransport(emulator)
        )
        return SyncContext(store: store, remote: remote)
    }

    private func move(_ old: MemoryStore, to new: MemoryStore) async throws {
        for table in ["Lists", "Tasks"] + SystemTables.all.map(\.name) {
            let rows = try await old.read(Query(table)).records
            try await new.write { try $0.upsert(rows, into: table) }
        }
    }

    private func told(_ store: MemoryStore) async throws -> [String] { try await AssignedIDWorld.told(store) }

    private func seed() throws {
        try emulator.seed([["id": "s1", "text": "shopping"], ["id": "s2", "text": "party"]], in: "Lists")
        try emulator.seed(
            [
                ["id": "t1", "text": "milk", "list": "s1"], ["id": "t2", "text": "balloons", "list": "s2"],
                ["id": "t3", "text": "nothing"],
            ],
            in: "Tasks"
        )
    }

    @Test("name rows by their local ids with the next exchange, waiting changes too", arguments: [false, true])
    func references(_ pushesFirst: Bool) async throws {
        try seed()
        let before = try store(assignsIDs: true, references: false)
        let first = try context(before)
        try await first.pull(first.table("Lists"), first.table("Tasks"))
        try await first.table("Tasks").update(Record(id: "t1", ["text": "oat milk"]))
        #expect(try await told(before) == ["?: balloons", "?: oat milk", "none: nothing"])
        let later = try store(assignsIDs: true, references: true)
        try await move(before, to: later)
        let second = try context(later)
        if pushesFirst {
            #expect(try await second.push().pushed == 1)
        } else {
            try await second.pull(second.table("Lists"), options: .init(order: .pullOnly))
            let waiting = try #require(try await second.operations().first)
            #expect(try await second.table("Tasks").read(waiting.itemID)?["list"] != "s1")
            #expect(try await second.push().notTaken.isEmpty)
        }
        #expect(try await told(later) == ["none: nothing", "party: balloons", "shopping: oat milk"])
        #expect(emulator.rows(in: "Tasks").first { $0["id"] == "t1" }?["list"] == "s1")
        #expect(emulator.rows(in: "Tasks").first { $0["id"] == "t1" }?["text"] == "oat milk")
    }

    @Test("name rows by their local ids, however many they are")
    func manyReferences() async throws {
        let numbers = 0..<1_001
        try emulator.seed(numbers.map { ["id": .string("s\($0)"), "text": .string("\($0)")] }, in: "Lists")
        try emulator.seed(
            numbers.map { ["id": .string("t\($0)"), "text": .string("\($0)"), "list": .string("s\($0)")] },
            in: "Tasks"
        )
        let before = try store(assignsIDs: true, references: false)
        let first = try context(before)
        try await first.pull(first.table("Lists"), first.table("Tasks"))
        let later = try store(assignsIDs: true, references: true)
        try await move(before, to: later)
        let second = try context(later)
        try await second.pull(second.table("Lists"), options: .init(order: .pullOnly))
        #expect(try await told(later) == numbers.map { "\($0): \($0)" }.sorted())
    }

    @Test("have a row that comes later come under the id by which it is named")
    func comesLater() async throws {
        try seed()
        let before = try store(assignsIDs: false, references: true)
        let first = try context(before)
        // No pull looks so far back again.
        hours.pass()
        try emulator.seed([["id": "t4", "text": "later"]], in: "Tasks")
        try await first.pull(first.table("Tasks"))
        let later = try store(assignsIDs: true, references: true)
        try await move(before, to: later)
        let second = try context(later)
        try await second.pull(second.table("Lists"), second.table("Tasks"))
        #expect(try await told(later) == ["none: later", "none: nothing", "party: balloons", "shopping: milk"])
        try emulator.seed([["id": "t1", "text": "oat milk", "list": "s1"]], in: "Tasks")
        try await second.pull(second.table("Tasks"))
        #expect(try await told(later) == ["none: later", "none: nothing", "party: balloons", "shopping: oat milk"])
    }

    @Test("leave what goes out as it is named: it is made anew under the same id")
    func namedSince() async throws {
        try seed()
        let store = try store(assignsIDs: true, references: true)
        let first = try context(store)
        try await first.pull(first.table("Lists"), first.table("Tasks"))
        try await first.table("Lists").insert(["text": "given up"], id: "l")
        try await first.table("Tasks").update(Record(id: "t3", ["list": "l"]))
        try await first.table("Lists").delete("l")
        _ = try await first.push()
        let second = try context(store)
        try await second.pull(second.table("Lists"), second.table("Tasks"))
        try await second.table("Lists").insert(["text": "anew"], id: "l")
        #expect(try await second.push().pushed == 1)
        #expect(try await told(store) == ["anew: nothing", "party: balloons", "shopping: milk"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test(
        "are translated as well in what waiting changes are based on, and nowhere else is named",
        arguments: [true, false]
    )
    func bases(_ resets: Bool) async throws {
        try seed()
        let before = try store(assignsIDs: true, references: false)
        let first = try context(before)
        try await first.pull(first.table("Lists"), first.table("Tasks"))
        try await first.table("Tasks").update(Record(id: "t1", ["list": "s2"]))
        try await first.table("Tasks").delete("t2")
        let later = try store(assignsIDs: true, references: true)
        try await move(before, to: later)
        let second = try context(later)
        let lists = try second.table("Lists")
        if resets {
            let pulls = ["Lists", "Tasks"].map { FreshPull(Query($0)) }
            let report = try await second.reset(onto: pulls, discardsChanges: false)
            #expect(report.waiting == 2 && report.conflicts == 0, "\(report)")
            try await second.endReset()
        } else {
            try await second.pull(lists, options: .init(order: .pullOnly))
        }
        let (shopping, party) = (try await lists.id(ofServerID: "s1"), try await lists.id(ofServerID: "s2"))
        let waiting = try await second.operations()
        #expect(waiting.map { $0.baseItem?["list"]?.stringValue } == [shopping, party])
        try await second.table("Tasks").undoDelete("t2")
        #expect(try await second.table("Tasks").read("t2")?["list"]?.stringValue == party)
        #expect(try await second.push().notTaken.isEmpty)
        #expect(emulator.rows(in: "Tasks").first { $0["id"] == "t1" }?["list"] == "s2")
    }

    @Test("are gone through again when they were withdrawn in between")
    func declaredAgain() async throws {
        try seed()
        let one = try store(assignsIDs: true, references: true)
        try await context(one).pull(context(one).table("Lists"), options: .init(order: .pullOnly))
        let two = try store(assignsIDs: true, references: false)
        try await move(one, to: two)
        try await context(two).pull(context(two).table("Tasks"))
        let three = try store(assignsIDs: true, references: true)
        try await move(two, to: three)
        hours.pass()
        try await context(three).pull(context(three).table("Lists"))
        #expect(try await told(three) == ["none: nothing", "party: balloons", "shopping: milk"])
    }

    @Test("to an insert that a deletion has cancelled are to a row without an id, when it comes back")
    func cancelledInsert() async throws {
        let store = try store(assignsIDs: true, references: true)
        let context = try context(store)
        let (lists, tasks) = (try context.table("Lists"), try context.table("Tasks"))
        try await lists.insert(["text": "l"], id: "l")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        try await lists.delete("l")
        try await context.pull(lists, options: .init(order: .pullOnly))
        try await lists.undoDelete("l")
        #expect(try await lists.serverID(of: "l") == nil)
        #expect(try await context.push().pushed == 2)
        #expect(try await told(store) == ["l: t"])
    }

    @Test("name rows from before that leave and come back", arguments: ["purge", "deletion", "condition"])
    func leftSince(_ way: String) async throws {
        try seed()
        hours.pass()
        let before = try store(assignsIDs: false, references: true)
        let first = try context(before)
        try await first.pull(first.table("Lists"), first.table("Tasks"))
        let later = try store(assignsIDs: true, references: true)
        try await move(before, to: later)
        let second = try context(later)
        let lists = try second.table("Lists")
        switch way {
        case "purge": try await lists.purge()
        case "condition":
            try await second.purge(lists.query.filtered(by: Column("id") == "s1"))
            try emulator.seed([["id": "s1", "text": "shopping"]], in: "Lists")
        default:
            try await lists.delete("s1")
            #expect(try await second.push().notTaken.isEmpty)
            try emulator.seed([["id": "s1", "text": "shopping", "deleted": false]], in: "Lists")
        }
        try await second.pull(lists, second.table("Tasks"))
        #expect(try await told(later) == ["none: nothing", "party: balloons", "shopping: milk"])
    }
}
