import DatasyncEmulator
import DatasyncHTTP
import ItemCoding
import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Rows that were deleted here and not on the server")
struct DeletedItemsTests {
    struct TodoItem: SyncItem, Equatable {
        var id = ""
        var text: String
        var syncState = SyncState.synced
    }

    @Test("are listed as they were, in the order of the operations, until their deletion was sent or taken back")
    func untilSent() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            for id in ["a", "b", "c"] { try await laptop.table.insert(["text": .string("milk \(id)")], id: id) }
            _ = try await laptop.context.push()
            #expect(try await laptop.table.deletedItems().isEmpty)
            try await laptop.table.update(Record(id: "b", ["text": "cream"]))
            for id in ["a", "b", "c"] { try await laptop.table.delete(id) }
            #expect(try await laptop.table.deletedItems().map(\.id) == ["b", "a", "c"])
            #expect(try await laptop.table.deletedItems().first?["text"] == "cream")
            try await laptop.table.undoDelete("b")
            #expect(try await laptop.table.deletedItems().map(\.id) == ["a", "c"])
            // Another device has changed one: its deletion is kept, and the row still among them.
            try await world.phone.pull()
            try await world.phone.table.update(Record(id: "a", ["text": "butter"]))
            _ = try await world.phone.context.push()
            _ = try await laptop.context.push()
            let left = try await laptop.table.deletedItems()
            #expect(left.map(\.id) == ["a"] && left.first?.syncState == .conflicted)
        }
    }

    @Test("come as items with their state; what was never sent is not among them")
    func items() async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition(TodoItem.self)]))
        let todos = try SyncContext(store: store, remote: UnavailableRemote.unreachable).table(TodoItem.self)
        try await store.upsert([Record(id: "a", ["text": "milk", "version": "1"])], table: "TodoItem")
        try await todos.delete("a")
        let mistake = try await todos.insert(TodoItem(text: "mlik"))
        try await todos.delete(mistake.id)
        #expect(try await todos.deletedItems() == [TodoItem(id: "a", text: "milk", syncState: .pending)])
    }

    @Test("a deletion of an item says which version it is based on when it is told")
    func version() async throws {
        let store = MemoryStore(try StoreSchema([TableDefinition(TodoItem.self)]))
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let todos = try context.table(TodoItem.self)
        try await store.upsert([Record(id: "a", ["text": "milk", "version": "2"])], table: "TodoItem")
        try await todos.delete("a", version: "1")
        #expect(try await context.operations().map(\.baseVersion) == ["1"])
    }

    @Test("do not have those whose insert was given up while it was under way")
    func givenUp() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk"], id: "a")
            world.emulator.inject(.applyThenDrop { $0.method == "POST" })
            await #expect(throws: SyncError.self) { try await laptop.context.push() }
            try await laptop.table.revert("a")
            #expect(try await laptop.context.operations().map(\.isUndo) == [true])
            #expect(try await laptop.table.deletedItems().isEmpty)
        }
    }
}
