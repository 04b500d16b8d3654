import ItemCoding
import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("The query of a table, and queries that were made before")
struct QueryOfTableTests {
    struct Todo: SyncItem {
        var id = ""
        var text: String
        var complete = false
    }

    private func todos() async throws -> (SyncTable<Todo>, SyncContext) {
        let definition = try TableDefinition(Todo.self)
        let context = SyncContext(store: try makeStore(definition), remote: UnavailableRemote.unreachable)
        let todos = try context.table(Todo.self)
        try await todos.insert(Todo(id: "a", text: "milk", complete: true))
        try await todos.insert(Todo(id: "b", text: "tea"))
        return (todos, context)
    }

    @Test("the query of a table of items has their verbs, and is one without a type where that is wanted")
    func ofTable() async throws {
        let (todos, context) = try await todos()
        #expect(try await todos.query.count() == 2)
        #expect(try await todos.query.where { $0.complete }.read().map(\.text) == ["milk"])
        let untyped = todos.query
        #expect(try await todos.read(untyped.filtered(by: Column("text") == "tea")).map(\.id) == ["b"])
        try await context.write { tx in
            let texts = try tx.read(todos.query).map { $0.text }
            let first = try tx.first(todos.query)?.id ?? ""
            #expect(texts == ["milk", "tea"] && first == "a")
            var told: [String] = []
            try tx.forEach(todos.query) { told.append($0.text) }
            let records: [Record] = try tx.read(untyped)
            #expect(told == texts && records.count == 2)
        }
    }

    @Test("tables take queries that were made of them, and changes need no word for how many there were")
    func madeBefore() async throws {
        let (todos, context) = try await todos()
        let open = todos.where { !$0.complete }
        #expect(try await todos.read(open).map(\.id) == ["b"])
        #expect(try await todos.count(open) == 1)
        var rows = todos.observe(open).makeAsyncIterator()
        #expect(try await rows.next()?.map(\.id) == ["b"])
        try await context.write { tx in try tx.delete(open) }
        #expect(try await rows.next()?.isEmpty == true)
    }

    @Test("a limit of 0 gives no first item, and one below 0 is refused")
    func limits() async throws {
        let (todos, context) = try await todos()
        #expect(try await todos.first(todos.query.limited(to: 0)) == nil)
        let error = await #expect(throws: StoreError.self) { try await todos.first(todos.query.limited(to: -1)) }
        #expect(error?.code == .invalidQuery)
        await #expect(throws: StoreError.self) {
            try await context.read { try $0.first(todos.query.limited(to: -1), in: todos) }
        }
    }

    @Test("settings take files before the log")
    func settings() {
        let options = SyncOptions(attachments: AttachmentOptions(path: "photos")) { _ in }
        #expect(options.attachments?.path == "photos" && options.log != nil && options.order == .pushFirst)
    }
}
