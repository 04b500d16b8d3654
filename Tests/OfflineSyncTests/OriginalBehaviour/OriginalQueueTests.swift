import DatasyncEmulator
import OfflineSync
import StoreConformance
import SyncContract
import Testing

@Suite("As in the original: the queue and the store under it")
struct OriginalQueueTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    @Test("how many changes wait is asked of the store")
    func count() async throws {
        for id in ["a", "b"] { try await world.todos.insert(TodoItem(id: id, text: id)) }
        #expect(try await world.context.status().pending == 2)
        _ = try await world.context.push()
        #expect(try await world.context.status().pending == 0)
    }

    @Test("what waited before a restart is sent after it, in its order")
    func restart() async throws {
        for id in ["a", "b"] { try await world.todos.insert(TodoItem(id: id, text: id)) }
        let restarted = try world.restarted()
        try await restarted.table(TodoItem.self).insert(TodoItem(id: "c", text: "c"))
        #expect(try await restarted.operations().map(\.itemID) == ["a", "b", "c"])
        #expect(try await restarted.push().pushed == 3)
        #expect(world.onServer.count == 3)
    }

    /// The original used the numbers of operations that were gone again after a restart, and an error that was left over
    /// belonged to another operation then.
    @Test("a number is used once, also over restarts")
    func numbers() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "a"))
        let first = try #require(try await world.context.operations().first).id
        _ = try await world.context.push()
        let restarted = try world.restarted()
        try await restarted.table(TodoItem.self).insert(TodoItem(id: "b", text: "b"))
        #expect(try #require(try await restarted.operations().first).id > first)
    }

    /// The original took an error of the store for an empty queue: operations doubled, edits were overwritten.
    @Test("an error of the store is told and changes nothing, whichever of its calls it is", arguments: 1...6)
    func failingStore(_ number: Int) async throws {
        try await world.share("a")
        try await world.change("a", "theirs")
        let store = FaultyStore(world.store) { $0.number == number ? .fails(.beforeCommit) : nil }
        let context = try OriginalWorld.context(store, world.emulator, world.wire)
        let todos = try context.table(TodoItem.self)
        for _ in 0..<2 {
            do {
                try await todos.update("a") { $0.text = "mine" }
                break
            } catch let error as StoreError {
                #expect(store.faultCount == 1, "\(error)")
            }
        }
        for _ in 0..<2 {
            do {
                try await todos.pull()
            } catch is StoreError {
                #expect(store.faultCount == 1)
            }
        }
        #expect(try await world.texts() == ["a": "mine"], "a pull goes over no change that waits")
        #expect(try await world.kinds() == [.update])
        #expect(try await world.onlyError().serverItem?.text == "theirs")
        #expect(try await world.store.verifyQueue().isEmpty)
    }

    /// In the original a kill between the server's answer and its last write left an operation that was sent again, as a
    /// duplicate or a conflict with itself, for ever.
    @Test("an answer that the store could not record is found again", arguments: ["insert", "update", "delete"])
    func answerNotRecorded(_ kind: String) async throws {
        if kind != "insert" { try await world.share() }
        let isAnswered = Switch()
        let store = FaultyStore(world.store) { isAnswered.isOn && $0.writes ? .fails(.beforeCommit) : nil }
        let context = try OriginalWorld.context(store, world.emulator, world.wire)
        let todos = try context.table(TodoItem.self)
        switch kind {
        case "insert": try await todos.insert(TodoItem(id: "a", text: "cream"))
        case "update": try await todos.update("a") { $0.text = "cream" }
        default: try await todos.delete("a")
        }
        world.wire.after { _ in isAnswered.isOn = true }
        await #expect(throws: StoreError.self) { _ = try await context.push() }
        #expect(try await world.kinds().count == 1)
        world.wire.clearHooks()
        #expect(try await world.restarted().push().notTaken.isEmpty)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == world.onServer)
    }
}
