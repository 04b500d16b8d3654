import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

/// The original queued a second operation beside the one under way. Here both are one, which knows what it has sent.
@Suite("As in the original: changes of an item that is under way")
struct OriginalUnderWayTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    /// Changes an item when its next request has been answered, before the device hears of it.
    private func whileUnderWay(_ change: @escaping @Sendable () async throws -> Void) {
        let once = Once()
        world.wire.after { _ in try await once { try await change() } }
    }

    /// The original lost the new version, and met a conflict with itself.
    @Test("an update during an update stays, and the next push finds no conflict with its own first one")
    func updateDuringUpdate() async throws {
        try await world.share()
        try await world.todos.update("a") { $0.text = "cream" }
        whileUnderWay { [todos = world.todos] in try await todos.update("a") { $0.text = "soy" } }
        _ = try await world.context.push()
        #expect(try await world.texts() == ["a": "soy"], "the answer has not gone over the edit")
        #expect(try await world.context.push().conflicts.isEmpty)
        #expect(world.onServer == ["a": "soy"])
    }

    /// The original sent the second one without a condition, over whatever others had made of the row.
    @Test("an update during an insert is sent on condition of what the insert was answered")
    func updateDuringInsert() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        whileUnderWay { [todos = world.todos] in try await todos.update("a") { $0.text = "cream" } }
        _ = try await world.context.push()
        #expect(try await world.kinds() == [.update])
        try await world.change("a", "theirs")
        #expect(try await world.context.push().conflicts.count == 1)
        #expect(world.onServer == ["a": "theirs"])
    }

    /// In the original that was an operation without an item: an error at every push, for ever.
    @Test("a delete during an insert that fails leaves nothing that no push can send", arguments: [400, 500])
    func deleteDuringFailingInsert(_ status: Int) async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        world.emulator.inject(.respond(EmulatorResponse(status)))
        whileUnderWay { [todos = world.todos] in try await todos.delete("a") }
        _ = try await world.context.push()
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts().isEmpty)
        #expect(world.onServer.isEmpty)
    }

    @Test("a delete during an insert that is taken is sent by the next push")
    func deleteDuringInsert() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        whileUnderWay { [todos = world.todos] in try await todos.delete("a") }
        _ = try await world.context.push()
        #expect(try await world.texts().isEmpty)
        _ = try await world.context.push()
        #expect(try await world.kinds().isEmpty)
        #expect(world.onServer.isEmpty)
    }

    /// The original sent both again and had two conflicts of one item.
    @Test("an update during an update that meets a conflict is one conflict")
    func updateDuringConflict() async throws {
        try await world.share()
        try await world.change("a", "theirs")
        try await world.todos.update("a") { $0.text = "cream" }
        whileUnderWay { [todos = world.todos] in try await todos.update("a") { $0.text = "soy" } }
        _ = try await world.context.push()
        _ = try await world.context.push()
        let error = try await world.onlyError()
        #expect(error.item?.text == "soy" && error.serverItem?.text == "theirs")
    }

    /// The original sent the content of then twice.
    @Test("after a lost request, what was edited meanwhile is sent once")
    func updateDuringLostRequest() async throws {
        try await world.share()
        try await world.todos.update("a") { $0.text = "cream" }
        let (todos, once) = (world.todos, Once())
        world.wire.before { _ in
            try await once { try await todos.update("a") { $0.text = "soy" } }
            throw Wire.Lost()
        }
        #expect(try await syncErrorCode { _ = try await world.context.push() } == .pushAbortedNetwork)
        world.wire.clearHooks()
        #expect(try await world.context.push().pushed == 1)
        #expect(world.wire.lines.filter { $0.hasPrefix("PATCH") }.count == 1)
        #expect(world.onServer == ["a": "soy"])
    }

    /// The original sent it in the same push, which a busy writer could keep from ending.
    @Test("what is inserted during a push waits for the next one")
    func insertDuringPush() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "a"))
        whileUnderWay { [todos = world.todos] in try await todos.insert(TodoItem(id: "b", text: "b")) }
        #expect(try await world.context.push().pushed == 1)
        #expect(try await world.context.operations().map(\.itemID) == ["b"])
        #expect(try await world.context.push().pushed == 1)
    }

    /// In the original the deletion removed the operation, and the row stayed on the server for ever.
    @Test("an insert whose answer was lost and that is then deleted is deleted on the server")
    func deleteAfterLostAnswer() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        world.emulator.inject(.applyThenDrop())
        #expect(try await syncErrorCode { _ = try await world.context.push() } == .pushAbortedNetwork)
        try await world.todos.delete("a")
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(world.onServer.isEmpty)
    }

    /// In the original an insert of which the answer was lost was a duplicate at every push.
    @Test("what was taken and whose answer was lost is recognised", arguments: ["insert", "update", "delete"])
    func lostAnswer(_ kind: String) async throws {
        if kind != "insert" { try await world.share() }
        switch kind {
        case "insert": try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        case "update": try await world.todos.update("a") { $0.text = "milk!" }
        default: try await world.todos.delete("a")
        }
        world.emulator.inject(.applyThenDrop())
        #expect(try await syncErrorCode { _ = try await world.context.push() } == .pushAbortedNetwork)
        #expect(try await world.restarted().push().notTaken.isEmpty)
        #expect(try await world.kinds().isEmpty)
        #expect(try await world.texts() == world.onServer)
    }
}
