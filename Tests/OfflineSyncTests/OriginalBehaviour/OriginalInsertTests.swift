import DatasyncEmulator
import Foundation
import ItemCoding
import OfflineSync
import ReferenceStore
import StoreConformance
import SyncContract
import Testing

@Suite("As in the original: inserting")
struct OriginalInsertTests {
    typealias TodoItem = OriginalWorld.TodoItem

    @Test("a table keeps its name; one that the store does not have is an error, so that none is without a store")
    func table() throws {
        let world = try OriginalWorld()
        #expect(world.todos.name == "TodoItem")
        #expect(throws: StoreError.self) { try world.context.table("Nothing") }
    }

    @Test("an insert stores the row and queues an operation that holds no item")
    func insert() async throws {
        let world = try OriginalWorld()
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        #expect(try await world.texts() == ["a": "milk"])
        let row = try #require(try await world.store.read(Query("MS_TableOperations")).records.first)
        #expect(row["table"] == "TodoItem" && row["itemId"] == "a" && row["tableKind"] == 0)
        let properties = String(decoding: try #require(row["properties"]?.bytesValue), as: UTF8.self)
        #expect(properties.contains(#""type":0"#) && !properties.contains("milk"))
    }

    @Test("where the app writes the items itself, an insert queues only")
    func appWritesItems() async throws {
        let world = try OriginalWorld(handlesOperations: false)
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        #expect(try await world.texts().isEmpty)
        #expect(try await world.kinds() == [.insert])
    }

    @Test("an item without an id gets a UUID in upper case, which is stored and returned")
    func generatedID() async throws {
        let world = try OriginalWorld()
        let item = try await world.todos.insert(TodoItem(text: "milk"))
        #expect(UUID(uuidString: item.id)?.uuidString == item.id)
        #expect(try await world.todos.read(item.id) == item)
    }

    @Test(
        "an id that no URL can carry is refused",
        arguments: [" ", ".", "..", "a/b", "a+b", "a?b", "a\"b", "a\\b", "a`b", "a\u{1F}b", "a\u{9F}b"]
            + [String(repeating: "x", count: 256)]
    )
    func invalidID(_ id: String) async throws {
        let world = try OriginalWorld()
        #expect(
            try await world.refusal { try await world.todos.insert(TodoItem(id: id, text: "")) } == .invalidItemID
        )
    }

    /// The original dropped what it had no column for. Here nothing that an app writes vanishes silently.
    @Test("a value without a column is refused")
    func unknownColumn() async throws {
        let world = try OriginalWorld()
        let code = try await world.refusal { try await world.todos.table.insert(["text": "milk", "color": "red"]) }
        #expect(code == .invalidItem)
    }

    @Test("an insert is pushed as a POST with the id and without what only the server sets")
    func push() async throws {
        let world = try OriginalWorld()
        try await world.todos.insert(TodoItem(id: "a", text: "milk", version: "mine"))
        #expect(try await world.context.push().pushed == 1)
        #expect(world.wire.lines == ["POST /tables/TodoItem"])
        let body = try #require(world.wire.exchanges.first).body
        #expect(body["id"] == .string("a") && body["text"] == .string("milk"))
        #expect(Set(body.keys).isDisjoint(with: ["version", "updatedAt", "createdAt", "deleted"]))
        #expect(try await world.todos.read("a")?.version != "mine", "the answer is stored")
    }

    /// The original could not send bytes: a push left such an item behind with an error.
    @Test("values of every type come back from the server as they were, bytes too")
    func columnTypes() async throws {
        struct Everything: SyncItem, Equatable {
            var id = ""
            var small: Int16 = -32_768
            var large: Int64 = 1 << 52
            var double = 0.1
            var decimal = Decimal(string: "12345678.9")!
            var date = Date(timeIntervalSince1970: 1_700_000_000.123)
            var flag: Bool? = true
            var bytes: Data? = Data([0, 1, 255])
        }
        let emulator = Emulator(EmulatorConfiguration(dialect: .azureMobileApps, tables: ["Everything"]))
        let schema = try StoreSchema([TableDefinition(Everything.self)])
        let stores = (MemoryStore(schema), MemoryStore(schema))
        let context = try OriginalWorld.context(stores.0, emulator, Wire())
        let item = try await context.table(Everything.self).insert(Everything(id: "a"))
        #expect(try await context.push().pushed == 1)
        let other = try OriginalWorld.context(stores.1, emulator, Wire()).table(Everything.self)
        try await other.pull()
        #expect(try await other.read("a") == item)
    }

    @Test("a second push sends the second insert only")
    func insertPushInsertPush() async throws {
        let world = try OriginalWorld()
        for id in ["a", "b"] {
            try await world.todos.insert(TodoItem(id: id, text: id))
            #expect(try await world.context.push().pushed == 1)
        }
        #expect(world.wire.lines == ["POST /tables/TodoItem", "POST /tables/TodoItem"])
        #expect(world.onServer == ["a": "a", "b": "b"])
    }

    @Test("an item that is here cannot be inserted, whether it waits or was pushed")
    func insertTwice() async throws {
        let world = try OriginalWorld()
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        for _ in 0..<2 {
            let code = try await world.refusal { try await world.todos.insert(TodoItem(id: "A", text: "cream")) }
            #expect(code == .invalidAction)
            _ = try await world.context.push()
        }
    }

    /// In the original the row stayed when its operation could not be written, and was never sent.
    @Test(
        "a store that fails at an insert leaves neither row nor operation",
        arguments: [StoreFault.Moment.beforeClosure, .beforeCommit]
    )
    func failingStore(_ moment: StoreFault.Moment) async throws {
        let world = try OriginalWorld()
        let store = FaultyStore(world.store) { $0.writes ? .fails(moment) : nil }
        let todos = try OriginalWorld.context(store, world.emulator, world.wire).table(TodoItem.self)
        await #expect(throws: (any Error).self) { try await todos.insert(TodoItem(id: "a", text: "milk")) }
        #expect(try await world.texts().isEmpty)
        #expect(try await world.kinds().isEmpty)
    }
}
