import OfflineSync
import ReferenceStore
import RemoteContract
import StoreConformance
import SyncContract
import Testing

private struct Note: Codable, Identifiable, Sendable, Equatable {
    var id = ""
    var text: String
    var complete: Bool?
}

private struct Refusal: Error {}

@Suite("Changes in one transaction")
struct GroupTests {
    private let store: MemoryStore
    private let context: SyncContext
    private let todos: SyncTable<Record>
    private let lists: SyncTable<Note>

    init() throws {
        store = MemoryStore(
            try StoreSchema([
                todoTable, TableDefinition("List", columns: [.init("text", .string), .init("complete", .bool)]),
            ])
        )
        context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        todos = try context.table("TodoItem")
        lists = try context.table("List")
    }

    private func queued() async throws -> [String] { try await context.operations().map(\.itemID) }

    @Test("many in one call are kept together or not at all, although the closure goes on")
    func partOfCall() async throws {
        let todos = todos
        try await todos.insert(["text": "there"], id: "c")
        await #expect(throws: SyncError.self) {
            try await context.write { tx in
                let items = ["a", "b", "c"].map { Record(id: .string($0), ["text": "new"]) }
                do { try tx.insert(contentsOf: items, into: todos) } catch is SyncError {}
            }
        }
        #expect(try await queued() == ["c"])
        #expect(try await todos.read("a") == nil)
        try await context.write { tx in
            // The first one alone has written nothing.
            do { try tx.insert(contentsOf: [Record(id: "c", ["text": "new"])], into: todos) } catch is SyncError {}
            try tx.insert(["text": "other"], id: "d", into: todos)
        }
        #expect(try await queued() == ["c", "d"])
    }

    @Test("many items of a type in one call are kept together or not at all, although the closure goes on")
    func partOfTypedCall() async throws {
        let lists = lists
        try await lists.insert(Note(id: "c", text: "there"))
        await #expect(throws: SyncError.self) {
            try await context.write { tx in
                let items = ["a", "b", "c"].map { Note(id: $0, text: "new") }
                do { try tx.insert(contentsOf: items, into: lists) } catch is SyncError {}
            }
        }
        #expect(try await queued() == ["c"])
        #expect(try await lists.read("a") == nil)
    }

    @Test("reach any number of tables, typed and untyped, and are read before they are committed")
    func tables() async throws {
        let (todos, lists) = (todos, lists)
        let texts = try await context.write { tx in
            let list = try tx.insert(Note(text: "shopping"), into: lists)
            try tx.insert(["text": "milk"], id: "a", into: todos)
            try tx.insert(["text": "bread"], id: "b", into: todos)
            try tx.update(Record(id: "a", ["text": "oat milk"]), in: todos)
            try tx.delete("b", from: todos)
            try tx.update(Note(id: list.id, text: "food"), in: lists)
            #expect(try tx.read(list.id, in: lists)?.text == "food")
            #expect(try tx.first(lists.query, in: lists)?.text == "food")
            #expect(try tx.count(todos.query) == 1)
            #expect(try tx.read("b", in: todos) == nil)
            var texts: [String] = []
            try tx.forEach(lists.query, in: lists) { texts.append($0.text) }
            return try texts + tx.read(todos.query).compactMap { $0["text"]?.stringValue }
        }
        #expect(texts == ["food", "oat milk"])
        let operations = try await context.operations()
        #expect(operations.map(\.table) == ["List", "TodoItem"])
        #expect(operations.map(\.groups) == [[1], [1]])
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("are all kept, or none of them and none of their operations")
    func allOrNothing() async throws {
        let (todos, lists) = (todos, lists)
        try await todos.insert(["text": "milk"], id: "a")
        await #expect(throws: Refusal.self) {
            try await context.write { tx in
                try tx.insert(Note(text: "shopping"), into: lists)
                try tx.delete("a", from: todos)
                throw Refusal()
            }
        }
        #expect(try await todos.read("a") != nil)
        #expect(try await lists.read(lists.query).isEmpty)
        #expect(try await queued() == ["a"])
        #expect(try await context.operations().first?.kind == .insert)
    }

    @Test("go on after a refusal, which has changed nothing")
    func refusal() async throws {
        let todos = todos
        try await context.write { tx in
            try tx.insert(["text": "milk"], id: "a", into: todos)
            do {
                try tx.insert(["text": "bread"], id: "a", into: todos)
                Issue.record("it is there")
            } catch is SyncError {
                // The app thinks better of it.
            }
            do {
                try tx.update(Record(id: "b", ["text": "bread"]), in: todos)
                Issue.record("it is not there")
            } catch is SyncError {
                // Likewise.
            }
        }
        #expect(try await todos.read("a")?["text"] == "milk")
        #expect(try await queued() == ["a"])
    }

    @Test("are not kept when the store failed at one of them, although the closure went on")
    func failureOfTheStore() async throws {
        let todos = todos
        await #expect(throws: StoreError.self) {
            try await context.write { tx in
                try tx.insert(["text": "milk"], id: "a", into: todos)
                do {
                    try tx.insert(["text": 5], id: "b", into: todos)
                } catch is StoreError {
                    // The app does not care.
                }
            }
        }
        #expect(try await todos.read(todos.query).records.isEmpty)
        #expect(try await queued().isEmpty)
    }

    @Test("are refused in tables of another context")
    func otherContext() async throws {
        let other = try SyncContext(store: try makeStore(), remote: UnavailableRemote.unreachable).table("TodoItem")
        let code = try await syncErrorCode { [context] in
            try await context.write { _ = try $0.insert(["text": "milk"], into: other) }
        }
        #expect(code == .invalidParameter)
    }

    @Test("insert many, and delete what a query gives")
    func many() async throws {
        let (todos, lists) = (todos, lists)
        let deleted = try await context.write { tx in
            try tx.insert(contentsOf: (1...100).map { Note(text: "\($0)", complete: $0 % 2 == 0) }, into: lists)
            try tx.insert(contentsOf: [Record(id: "", ["text": "milk"]), Record(id: "b")], into: todos)
            return try tx.delete(lists.query.filtered(by: Column("complete") == true))
        }
        #expect(deleted == 50)
        #expect(try await lists.read(lists.query).count == 50)
        let operations = try await context.operations()
        #expect(operations.count == 52, "an insert that was not sent and its deletion cancel out")
        #expect(Set(operations.map(\.groups)) == [[1]])
        #expect(Set(operations.map(\.id)).count == 52)
        #expect(try await todos.read(todos.query).records.allSatisfy { $0.id != "" })
    }

    @Test("alone are no group, and neither are single calls")
    func alone() async throws {
        let todos = todos
        try await todos.insert(["text": "milk"], id: "a")
        try await context.write { tx in
            try tx.insert(["text": "bread"], id: "b", into: todos)
            try tx.update(Record(id: "b", ["text": "rye bread"]), in: todos)
        }
        #expect(try await context.operations().map(\.groups) == [[], []])
    }

    @Test("of an item that waits join it to the group, and later groups to earlier ones")
    func collapsing() async throws {
        let todos = todos
        for id in ["a", "b", "c"] { try await todos.insert(["text": "milk"], id: id) }
        for pair in [["a", "b"], ["b", "c"]] {
            try await context.write { tx in
                for id in pair { try tx.update(Record(id: .string(id), ["text": "bread"]), in: todos) }
            }
        }
        #expect(try await context.operations().map(\.groups) == [[1], [1, 2], [2]])
    }

    @Test("a deletion taken back is in its group again, whose number is no other's")
    func takenBack() async throws {
        let todos = todos
        try await context.write { tx in
            for id in ["a", "b"] { try tx.insert(["text": "milk"], id: id, into: todos) }
        }
        try await todos.delete("a")
        try await todos.undoDelete("a")
        try await context.write { tx in
            for id in ["c", "d"] { try tx.insert(["text": "milk"], id: id, into: todos) }
        }
        let groups = try await context.operations().map(\.groups)
        #expect(groups.prefix(2) == [[1], [1]] && groups[2] == groups[3] && groups[2] != [1])
    }

    @Test("read the state of one instant")
    func reading() async throws {
        let (todos, lists) = (todos, lists)
        try await lists.insert(Note(id: "l", text: "food"))
        try await todos.insert(["text": "milk"], id: "a")
        let texts = try await context.read { reader in
            [try reader.read("l", in: lists)?.text, try reader.read("a", in: todos)?["text"]?.stringValue]
        }
        #expect(texts == ["food", "milk"])
    }

    @Test(
        "are kept as a whole, or not at all, at every call at which the store fails",
        arguments: StoreFault.Moment.allCases
    )
    func faultyStore(_ moment: StoreFault.Moment) async throws {
        for number in 1...3 {
            let store = FaultyStore(try makeStore()) { $0.number == number ? .fails(moment) : nil }
            let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
            let todos = try context.table("TodoItem")
            for group in 1...3 {
                do {
                    try await context.write { tx in
                        for item in 1...3 { try tx.insert(["text": "milk"], id: "\(group)\(item)", into: todos) }
                    }
                } catch let error as StoreError {
                    #expect(error.code == .inputOutput)
                }
            }
            let rows = try await store.base.read(Query("TodoItem").ordered(by: "id")).records.map(\.id.stringValue)
            let operations = try await store.base.read(Query(store.operationTableName).ordered(by: "id")).records
            #expect(operations.map { $0["itemId"]?.stringValue } == rows)
            #expect(rows.count % 3 == 0)
        }
    }
}
