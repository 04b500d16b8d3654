import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// A server with foreign keys: it takes no row before those that it refers to.
@Suite("Rows that are sent ahead of their place in a group")
struct SentAheadTests {
    private let tables: ReferringTables
    private var server: GroupServer { tables.server }
    private var store: MemoryStore { tables.store }
    private var context: SyncContext { tables.context }
    private var lists: SyncTable<Record> { tables.lists }
    private var tasks: SyncTable<Record> { tables.tasks }

    init() throws { tables = try ReferringTables() }

    /// Has a task on both sides, and new ones here: as many that those behind them are prepared together.
    private func prepare() async throws {
        try await tasks.insert(["text": "u"], id: "u")
        _ = try await context.push()
        for id in 1...4 { try await tasks.insert(["text": "1"], id: "\(id)") }
    }

    /// Expects that a refusal of the task keeps back what a group has changed behind it, and what refers to that.
    private func expectRefusalKeepsBack(parallel: Int) async throws {
        let options = SyncOptions(parallelOperations: parallel)
        let context = SyncContext(store: store, remote: server, options: options, clock: ManualClock())
        server.script = { id in if id == "u" { throw RemoteError(.refused, "no", status: 400) } }
        #expect(try await context.push().failures.map(\.itemID) == ["u"])
        #expect(server.begun.filter { ["u", "t", "l"].contains($0) } == ["u", "u"])
        server.script = { _ in }
        try await context.retryRefused()
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.written.suffix(3) == ["u", "l", "t"])
        #expect(try await context.operations().isEmpty)
    }

    @Test("stay behind what is refused before the row that refers to them", arguments: [1, 8])
    func behindRefused(parallel: Int) async throws {
        let (lists, tasks) = (lists, tasks)
        try await prepare()
        try await context.write { transaction in
            try transaction.update(Record(id: "u", ["text": "changed"]), in: tasks)
            try transaction.insert(["text": "of l", "list": "l"], id: "t", into: tasks)
            try transaction.insert(["text": "l"], id: "l", into: lists)
        }
        try await expectRefusalKeepsBack(parallel: parallel)
    }

    @Test("stay behind what is refused in their group, also when a row of none refers to them")
    func behindRefusedForOther() async throws {
        let (lists, tasks) = (lists, tasks)
        try await prepare()
        try await tasks.update(Record(id: "u", ["text": "changed"]))
        try await tasks.insert(["text": "of l"], id: "t")
        try await context.write { transaction in
            try transaction.update(Record(id: "u", ["text": "changed again"]), in: tasks)
            try transaction.insert(["text": "l"], id: "l", into: lists)
        }
        try await tasks.update(Record(id: "t", ["list": "l"]))
        try await expectRefusalKeepsBack(parallel: 1)
    }

    @Test(
        "stay behind what is refused anywhere before them in their group, however many are sent at a time",
        arguments: [1, 8]
    )
    func behindRefusedFarther(parallel: Int) async throws {
        let (lists, tasks) = (lists, tasks)
        try await prepare()
        let context = SyncContext(store: store, remote: server, options: SyncOptions(parallelOperations: parallel))
        _ = try await context.push()
        try await self.context.write { transaction in
            try transaction.update(Record(id: "u", ["text": "changed"]), in: tasks)
            try transaction.insert(["text": "m"], id: "m", into: tasks)
            try transaction.insert(["text": "l"], id: "l", into: lists)
        }
        try await tasks.insert(["text": "of l", "list": "l"], id: "t")
        let sent = server.begun.count
        server.script = { id in if id == "u" { throw RemoteError(.refused, "no", status: 422) } }
        #expect(try await context.push().failures.map(\.itemID) == ["u"])
        #expect(server.begun.dropFirst(sent) == ["u"])
        server.script = { _ in }
        try await context.retryRefused()
        #expect(try await context.push().notTaken.isEmpty)
        #expect(try await context.operations().isEmpty)
    }
}
