import DatasyncEmulator
import ItemCoding
import OfflineSync
import SyncContract
import Testing

@Suite("As in the original: changes of one item become one operation")
struct OriginalCollapseTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    private func sentLines() async throws -> [String] {
        _ = try await world.context.push()
        return world.wire.lines
    }

    @Test("insert, update: one POST with the last values")
    func insertUpdate() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk", complete: false))
        try await world.todos.update("a") { $0.text = "cream" }
        #expect(try await world.kinds() == [.insert])
        #expect(try await sentLines() == ["POST /tables/TodoItem"])
        #expect(
            try world.wire.exchanges.first?.body == ["id": "a", "text": "cream", "complete": false]
        )
    }

    @Test("insert, delete: nothing is sent")
    func insertDelete() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        try await world.todos.delete("a")
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts().isEmpty)
        #expect(try await sentLines().isEmpty)
    }

    @Test("update, insert: refused")
    func updateInsert() async throws {
        try await world.share()
        try await world.todos.update("a") { $0.text = "cream" }
        let code = try await world.refusal { try await world.todos.insert(TodoItem(id: "a", text: "other")) }
        #expect(code == .invalidAction)
    }

    @Test("update, update: one PATCH with the last values, on condition of the version it is based on")
    func updateUpdate() async throws {
        let shared = try await world.share()
        try await world.todos.update("a") { $0.text = "cream" }
        try await world.todos.update("a") { $0.text = "soy" }
        #expect(try await world.kinds() == [.update])
        #expect(try await sentLines() == ["PATCH /tables/TodoItem/a"])
        let sent = try #require(world.wire.exchanges.first)
        #expect(sent.request.headers["If-Match"] == "\"\(try #require(shared.version))\"")
        #expect(try sent.body["text"] == "soy")
        #expect(Set(try sent.body.keys).isDisjoint(with: ["version", "updatedAt", "createdAt", "deleted"]))
    }

    @Test("update, delete: one DELETE in the same place of the queue")
    func updateDelete() async throws {
        try await world.share("a")
        try await world.share("b")
        try await world.todos.update("a") { $0.text = "cream" }
        try await world.todos.update("b") { $0.text = "cream" }
        try await world.todos.delete("a")
        #expect(try await sentLines() == ["DELETE /tables/TodoItem/a", "PATCH /tables/TodoItem/b"])
        #expect(world.onServer == ["b": "cream"])
    }

    /// The original refused it. Here the item is again what it was on the server, changed.
    @Test("delete, insert: a change of the row that was to be deleted")
    func deleteInsert() async throws {
        let shared = try await world.share()
        try await world.todos.delete("a")
        try await world.todos.insert(TodoItem(id: "a", text: "cream"))
        #expect(try await sentLines() == ["PATCH /tables/TodoItem/a"])
        #expect(
            world.wire.exchanges.first?.request.headers["If-Match"] == "\"\(try #require(shared.version))\""
        )
        #expect(world.onServer == ["a": "cream"])
    }

    @Test("delete, update and delete, delete: refused")
    func deleteUpdateDelete() async throws {
        let shared = try await world.share()
        try await world.todos.delete("a")
        #expect(try await world.refusal { try await world.todos.update(shared) } == .invalidAction)
        #expect(try await world.refusal { try await world.todos.delete("a") } == .invalidAction)
    }

    @Test("the id of an item that waits is the same in any casing")
    func caseInsensitive() async throws {
        try await world.todos.insert(TodoItem(id: "itemid", text: "milk"))
        try await world.todos.update("ITEMID") { $0.text = "cream" }
        #expect(try await world.context.operations().map(\.itemID) == ["itemid"])
        try await world.todos.delete("ItemID")
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts().isEmpty)
    }

    /// The original made a row of it, which the server answered with 404 later.
    @Test("an update of an item that is not here is refused")
    func updateOfNothing() async throws {
        let code = try await world.refusal { try await world.todos.update(TodoItem(id: "a", text: "milk")) }
        #expect(code == .invalidAction)
    }

    /// The original sent it without a condition. Here the server's row is looked at first, and deleted as it was then.
    @Test("a delete of an item that is not here deletes what the server has")
    func deleteOfNothing() async throws {
        try await world.make("a")
        try await world.todos.delete("a")
        let lines = try await sentLines()
        #expect(lines == ["GET /tables/TodoItem", "DELETE /tables/TodoItem/a"])
        #expect(world.wire.exchanges.last?.request.headers["If-Match"] != nil)
        #expect(world.onServer.isEmpty)
    }

    /// The original sent the version of what the app had passed, which was none for an item made of the id alone.
    @Test("a delete is sent on condition of the version of the row that was here")
    func deleteWithVersion() async throws {
        let shared = try await world.share()
        try await world.todos.delete("a")
        #expect(try await sentLines() == ["DELETE /tables/TodoItem/a"])
        #expect(
            world.wire.exchanges.first?.request.headers["If-Match"] == "\"\(try #require(shared.version))\""
        )
    }

    @Test("a deletion keeps the row it has deleted, with its truth values")
    func deletionKeepsItem() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk", complete: true))
        _ = try await world.context.push()
        try await world.todos.delete("a")
        let context = try world.restarted()
        try await context.table(TodoItem.self).undoDelete("a")
        #expect(try await world.todos.read("a")?.complete == true)
    }

    @Test("reads: an item by its id, none for another id, rows by a prefix")
    func reads() async throws {
        for text in ["milk", "millet", "bread"] { try await world.todos.insert(TodoItem(id: text, text: text)) }
        #expect(try await world.todos.read("milk")?.text == "milk")
        #expect(try await world.todos.read("nothing") == nil)
        #expect(try await world.todos.where { $0.text.starts(with: "mil") }.read().count == 2)
        #expect(try await world.todos.read(world.todos.query).count == 3)
        #expect(world.wire.lines.isEmpty, "reads never touch the network")
    }
}
