import OfflineSync
import ReferenceStore
import SyncContract
import Testing

/// Lists, which may be part of one another, and their tasks, beside a server with foreign keys.
struct ReferringTables {
    static let schema = Result {
        try StoreSchema([
            TableDefinition(
                "lists",
                columns: [.init("text", .string), .init("above", .string, references: "lists")]
            ),
            TableDefinition(
                "tasks",
                columns: [.init("text", .string), .init("list", .string, references: "lists")]
            ),
        ])
    }

    let server = GroupServer(references: ["list", "above"])
    let store: MemoryStore
    let context: SyncContext
    let lists: SyncTable<Record>
    let tasks: SyncTable<Record>

    init() throws {
        store = MemoryStore(try Self.schema.get())
        context = SyncContext(store: store, remote: server)
        lists = try context.table("lists")
        tasks = try context.table("tasks")
    }

    /// Has these on both sides: a list and a task of it.
    func share() async throws {
        try await lists.insert(["text": "l"], id: "l")
        try await tasks.insert(["text": "t", "list": "l"], id: "t")
        _ = try await context.push()
        #expect(server.written == ["l", "t"])
    }
}
