import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Synchronization
import Testing

/// The clock stands still, so that the windows hold 1, 1, 2, 4, 8 and 8 operations: 17 to 24 are chosen while 12 to 16 leave.
@Suite("Operations that are chosen while those before them leave", .timeLimit(.minutes(3)))
struct ChosenAheadTests {
    private let server = GroupServer()
    private let store: MemoryStore
    private let context: SyncContext
    private let todos: SyncTable<Record>
    private let tasks: SyncTable<Record>

    init() throws {
        store = MemoryStore(
            try StoreSchema([
                todoTable,
                TableDefinition(
                    "tasks",
                    columns: [.init("text", .string), .init("todo", .string, references: todoTable.name)]
                ),
            ])
        )
        context = SyncContext(store: store, remote: server, clock: ManualClock())
        todos = try context.table(todoTable.name)
        tasks = try context.table("tasks")
    }

    private func insert(_ ids: ClosedRange<Int>) async throws {
        for id in ids { try await todos.insert(["text": "milk"], id: "\(id)") }
    }

    private func attempted() async throws -> [String] {
        try await context.operations().filter(\.isAttempted).map(\.itemID)
    }

    /// Runs code when the next window was chosen, within the request for an operation of the one before.
    private func onceChosen(
        at operation: String = "14",
        _ body: @escaping @Sendable () async throws -> Void = {}
    ) {
        server.script = { [context] id in
            guard id == operation else { return }
            while try await context.operations().first(where: { $0.itemID == "24" })?.isAttempted != true {
                await Task.yield()
            }
            try await body()
        }
    }

    private var inOrder: [String] { (1...24).map(String.init) }

    @Test("are chosen while a request is under way, and leave in their order", arguments: ["12", "14", "16"])
    func order(_ operation: String) async throws {
        try await insert(1...24)
        onceChosen(at: operation)
        #expect(try await context.push().pushed == 24)
        #expect(server.begun == inOrder)
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("are chosen anew when one before them was changed, and leave behind it", arguments: ["15", "16", "18"])
    func changed(_ edited: String) async throws {
        try await insert(1...24)
        onceChosen { [todos] in try await todos.update(Record(id: .string(edited), ["text": "bread"])) }
        #expect(try await context.push().pushed == 24)
        #expect(server.begun == inOrder)
        #expect(server.texts[edited] == "bread")
        #expect(try await context.operations().isEmpty)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("stay when their row refers to one that was not taken meanwhile, and do not count as sent")
    func reference() async throws {
        try await insert(1...20)
        try await tasks.insert(["text": "of 14", "todo": "14"], id: "21")
        try await insert(22...24)
        onceChosen { throw RemoteError(.refused, "no", status: 400) }
        let report = try await context.push()
        #expect(report.failures.map(\.itemID) == ["14"])
        #expect(report.waiting == 1)
        #expect(server.begun == inOrder.filter { $0 != "21" })
        #expect(try await attempted() == [])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("stay when one before them in their group was not taken meanwhile, and do not count as sent")
    func group() async throws {
        let todos = todos
        try await context.write { tx in
            for id in 1...24 { try tx.insert(["text": "milk"], id: "\(id)", into: todos) }
        }
        onceChosen { throw RemoteError(.refused, "no", status: 400) }
        #expect(try await context.push().failures.map(\.itemID) == ["14"])
        #expect(server.begun == Array(inOrder.prefix(14)))
        #expect(try await attempted() == [])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("go the way of a group that is written meanwhile")
    func writtenMeanwhile() async throws {
        try await insert(1...24)
        onceChosen { [context, todos] in
            try await context.write { tx in
                for id in ["22", "18"] { try tx.update(Record(id: .string(id), ["text": "eggs"]), in: todos) }
            }
        }
        #expect(try await context.push().pushed == 24)
        #expect(server.begun == (1...17).map(String.init) + ["19", "20", "21", "22", "18", "23", "24"])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("do not count as sent when the push ends meanwhile", arguments: [false, true])
    func ended(_ isCancelled: Bool) async throws {
        try await insert(1...24)
        let push = Mutex<Task<PushReport, any Error>?>(nil)
        onceChosen {
            guard isCancelled else { throw RemoteError(.unauthorized, "who", status: 401) }
            push.withLock { $0?.cancel() }
            throw CancellationError()
        }
        push.withLock { $0 = Task { [context] in try await context.push() } }
        let task = try #require(push.withLock { $0 })
        await #expect(throws: (any Error).self) { try await task.value }
        #expect(try await attempted() == (isCancelled ? ["14"] : []))
        let marks = try await store.read(Query(SystemTables.operations.name)).records.map { $0["push"] ?? .null }
        #expect(marks.allSatisfy { $0 == .null })
        server.script = { _ in }
        #expect(try await context.push().notTaken.isEmpty)
        #expect(server.written == inOrder)
    }

    @Test("are chosen when the transaction that chooses them fails once")
    func failingOnce() async throws {
        try await insert(1...24)
        let writes = Mutex(0)
        let faulty = FaultyStore(store) { call in
            guard call.writes else { return nil }
            // One for each window; the sixth chooses 17 to 24.
            let count = writes.withLock { writes in
                writes += 1
                return writes
            }
            return count == 6 ? .fails(.beforeClosure) : nil
        }
        onceChosen()
        let context = SyncContext(store: faulty, remote: server, clock: SleepingClock())
        #expect(try await context.push().pushed == 24)
        #expect(server.begun == inOrder)
        #expect(try await self.context.operations().isEmpty)
    }
}
