import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Synchronization
import Testing

@Suite("Rows that wait for the id of another one")
struct WaitingRowTests {
    @Test("go behind a new one that they come to name meanwhile, whenever that is")
    func namesAnother() async throws {
        for number in 1...12 {
            let server = GroupServer(references: ["note"])
            let store = MemoryStore(
                try StoreSchema([
                    TableDefinition("lists", columns: [.init("text", .string)], assignsIDs: true),
                    TableDefinition("notes", columns: [.init("text", .string)]),
                    TableDefinition(
                        "tasks",
                        columns: [
                            .init("list", .string, references: "lists"), .init("note", .string, references: "notes"),
                        ]
                    ),
                ])
            )
            let context = SyncContext(store: store, remote: server)
            let (notes, tasks) = (try context.table("notes"), try context.table("tasks"))
            try await context.table("lists").insert(["text": "l"], id: "l")
            try await tasks.insert(["list": "l"], id: "t")
            server.script = { id in if id != "t", id != "n" { throw RemoteError(.refused, "no", status: 422) } }
            let edited = EditedStore(base: store, number: number) {
                try await notes.insert(["text": "n"], id: "n")
                try await tasks.update(Record(id: "t", ["list": .null, "note": "n"]))
            }
            let report = try await SyncContext(store: edited, remote: server).push()
            #expect(report.failures.map(\.itemID) == ["l"], "edited before write \(number)")
            #expect(report.waiting <= 1)
            // Where the push was over before that.
            try await edited.edit()
            #expect(try await context.push().failures.map(\.itemID) == ["l"])
            #expect(server.written == ["n", "t"], "edited before write \(number)")
        }
    }
}

/// A store in which something happens once, before one of its transactions that write.
private final class EditedStore: SyncContextDataSource {
    private let base: MemoryStore
    private let number: Int
    private let body: @Sendable () async throws -> Void
    private let state = Mutex((count: 0, isEdited: false))

    init(base: MemoryStore, number: Int, _ body: @escaping @Sendable () async throws -> Void) {
        self.base = base
        self.number = number
        self.body = body
    }

    var schema: StoreSchema { base.schema }
    var capabilities: StoreCapabilities { base.capabilities }
    var handlesSyncTableOperations: Bool { base.handlesSyncTableOperations }

    func edit() async throws {
        let isEdited = state.withLock { state in
            defer { state.isEdited = true }
            return state.isEdited
        }
        if !isEdited { try await body() }
    }

    func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value { try await base.read(body) }

    func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        let count = state.withLock { state in
            state.count += 1
            return state.count
        }
        if count == number { try await edit() }
        return try await base.write(body)
    }

    func changes() -> AsyncStream<StoreChange> { base.changes() }
}
