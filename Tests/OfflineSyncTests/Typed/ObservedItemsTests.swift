import Foundation
import ItemCoding
import Observation
import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("Live queries for views", .timeLimit(.minutes(5)))
@MainActor struct ObservedItemsTests {
    /// Knows where it was made an item.
    nonisolated struct TodoItem: Codable, Identifiable, Sendable, Equatable {
        var id = ""
        var text: String
        var complete = false
        var wasDecodedForTheMainActor = false

        enum CodingKeys: CodingKey { case id, text, complete }

        init(id: String = "", text: String) { (self.id, self.text) = (id, text) }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            id = try container.decode(String.self, forKey: .id)
            text = try container.decode(String.self, forKey: .text)
            complete = try container.decode(Bool.self, forKey: .complete)
            wasDecodedForTheMainActor = Thread.isMainThread
        }
    }

    @MainActor @Observable final class Model {
        let open: ObservedItems<TodoItem>
        init(_ todos: SyncTable<TodoItem>) { open = ObservedItems(todos.where { !$0.complete }.ordered(by: \.text)) }
    }

    /// Waits for a condition of what is observed. On this actor nothing changes between looking and waiting.
    private func wait(until condition: () -> Bool) async {
        while !condition() {
            await withCheckedContinuation { continuation in
                withObservationTracking {
                    _ = condition()
                } onChange: {
                    continuation.resume()
                }
            }
        }
    }

    private func table(_ definition: TableDefinition = todoTable) throws -> SyncTable<TodoItem> {
        try SyncContext(store: makeStore(definition), remote: UnavailableRemote.unreachable).table(TodoItem.self)
    }

    @Test("a model has the result of its query, and what changes it, made elsewhere than on the main actor")
    func follows() async throws {
        let todos = try table()
        let milk = try await todos.insert(TodoItem(text: "milk"))
        let model = Model(todos)
        #expect(model.open.items.isEmpty && !model.open.isLoaded)
        await wait(until: { model.open.isLoaded })
        #expect(model.open.items.map(\.text) == ["milk"])
        try await todos.insert(TodoItem(text: "bread"))
        await wait(until: { model.open.items.count == 2 })
        #expect(model.open.items.map(\.text) == ["bread", "milk"])
        try await todos.update(milk.id) { $0.complete = true }
        await wait(until: { model.open.items.count == 1 })
        #expect(model.open.items.allSatisfy { !$0.wasDecodedForTheMainActor })
        #expect(model.open.error == nil)
    }

    @Test("an error ends it and is kept")
    func fails() async throws {
        let todos = try table()
        let items = ObservedItems(todos.filtered(by: Column("due") == 5))
        await wait(until: { items.error != nil })
        #expect((items.error as? StoreError)?.code == .invalidQuery && !items.isLoaded)
    }

    @Test("it ends with its object")
    func ends() async throws {
        let todos = try table()
        var items: ObservedItems? = ObservedItems(todos)
        weak let kept = items
        await wait(until: { items?.isLoaded ?? true })
        items = nil
        // The task that follows the query holds it for the moment of a result.
        while kept != nil { await Task.yield() }
    }
}
