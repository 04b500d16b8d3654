import DatasyncEmulator
import OfflineSync
import SyncContract
import Testing

@Suite("As in the original: pushing")
struct OriginalPushTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    private func pushCode() async throws -> SyncError.Code? {
        try await syncErrorCode { _ = try await world.context.push() }
    }

    @Test("operations are sent in the order of their numbers, over all tables")
    func order() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "a"))
        try await world.notes.insert(OriginalWorld.Note(id: "n", text: "n"))
        try await world.todos.insert(TodoItem(id: "b", text: "b"))
        try await world.todos.update("a") { $0.text = "c" }
        #expect(try await world.context.push().pushed == 3)
        #expect(world.wire.lines == ["POST /tables/TodoItem", "POST /tables/Note", "POST /tables/TodoItem"])
    }

    @Test("no network ends the push, and the queue is as it was")
    func noNetwork() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        world.wire.before { _ in throw Wire.Lost() }
        #expect(try await pushCode() == .pushAbortedNetwork)
        #expect(try await world.kinds() == [.insert])
        world.wire.clearHooks()
        #expect(try await world.context.push().pushed == 1)
    }

    @Test("what was not taken before a push ended is in its error, and the rest was not tried")
    func networkAfterConflict() async throws {
        for id in ["a", "b", "c", "d"] { try await world.share(id) }
        try await world.change("a", "theirs")
        for id in ["a", "b", "c", "d"] { try await world.todos.update(id) { $0.text = "mine" } }
        world.emulator.inject(.drop(times: 100) { $0.path.hasSuffix("/c") })
        let error = await #expect(throws: SyncError.self) { _ = try await world.context.push() }
        #expect(error?.code == .pushAbortedNetwork)
        #expect(error?.push?.pushed == 1 && error?.push?.conflicts.map(\.itemID) == ["a"])
        #expect(try await world.kinds().count == 3)
        #expect(!world.wire.lines.contains("PATCH /tables/TodoItem/d"))
    }

    @Test("401 ends the push")
    func authentication() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        world.emulator.inject(.respond(EmulatorResponse(401)))
        #expect(try await pushCode() == .pushAbortedAuthentication)
        #expect(try await world.todos.operationErrors().isEmpty)
        #expect(try await world.context.push().pushed == 1)
    }

    @Test("412 with the server's row is a conflict that has both sides, and the push goes on")
    func conflict() async throws {
        for id in ["a", "b"] { try await world.share(id) }
        try await world.change("a", "theirs")
        for id in ["a", "b"] { try await world.todos.update(id) { $0.text = "mine" } }
        let report = try await world.context.push()
        #expect(report.pushed == 1 && report.conflicts.map(\.itemID) == ["a"])
        let error = try await world.onlyError()
        #expect(error.status == 412 && error.isConflict && error.kind == .update)
        #expect(error.item?.text == "mine" && error.serverItem?.text == "theirs" && error.baseItem?.text == "milk")
    }

    /// The original took it for success: the change was lost.
    @Test("412 without a row is a conflict as well, whose row is fetched")
    func conflictWithoutRow() async throws {
        try await world.share()
        try await world.change("a", "theirs")
        try await world.todos.update("a") { $0.text = "mine" }
        world.emulator.inject(.respond(EmulatorResponse(412)) { $0.method == "PATCH" })
        #expect(try await world.context.push().conflicts.count == 1)
        #expect(try await world.onlyError().serverItem?.text == "theirs")
        #expect(try await world.todos.read("a")?.text == "mine")
    }

    /// To the original it was an error like any other, and came again with every push.
    @Test("an insert of an id that the server has is a conflict")
    func duplicate() async throws {
        try await world.make("a")
        try await world.todos.insert(TodoItem(id: "a", text: "mine"))
        #expect(try await world.context.push().conflicts.count == 1)
        let error = try await world.onlyError()
        #expect(error.kind == .insert && error.item?.text == "mine" && error.serverItem?.text == "a")
    }

    /// To the original these were errors that came again with every push.
    @Test("a delete of what the server has deleted or never had is done", arguments: [404, 410])
    func deletedThere(_ status: Int) async throws {
        try await world.share()
        try await world.elsewhere("DELETE", "a")
        try await world.todos.delete("a")
        if status == 410 { world.emulator.inject(.respond(EmulatorResponse(410)) { $0.method == "DELETE" }) }
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(try await world.kinds().isEmpty)
    }

    /// The original sent it again with every push.
    @Test(
        "what the server refuses is kept with its words, and waits for an edit; the push goes on",
        arguments: [400, 422]
    )
    func refusal(_ status: Int) async throws {
        for id in ["a", "b"] { try await world.todos.insert(TodoItem(id: id, text: id)) }
        let words: JSONValue = ["error": "no milk today"]
        world.emulator.inject(.respond(.json(status, words)))
        let report = try await world.context.push()
        #expect(report.pushed == 1 && report.failures.count == 1)
        let error = try await world.onlyError()
        #expect(error.status == status && !error.isConflict && error.message.contains("no milk today"))
        #expect(try await world.context.push().requests == 0)
        try await world.todos.update("a") { $0.text = "bread" }
        #expect(try await world.context.push().pushed == 1)
    }

    @Test("500 lets the push go on, and the next one sends the operation again")
    func serverFailure() async throws {
        for id in ["a", "b"] { try await world.todos.insert(TodoItem(id: id, text: id)) }
        world.emulator.inject(.respond(EmulatorResponse(500)))
        #expect(try await world.context.push().pushed == 1)
        #expect(try await world.context.push().pushed == 1)
        #expect(world.onServer == ["a": "a", "b": "b"])
    }

    /// In the original the errors of a push were deleted before the app got them: who crashed then had lost them.
    @Test("errors are there after the push and after a restart, until they are settled")
    func errorsStay() async throws {
        try await world.share()
        try await world.change("a", "theirs")
        try await world.todos.update("a") { $0.text = "mine" }
        _ = try await world.context.push()
        let restarted = try world.restarted()
        #expect(try await restarted.push().conflicts.count == 1)
        let error = try #require(try await restarted.table(TodoItem.self).operationErrors().first)
        try await restarted.resolve(error, with: .keepMine)
        #expect(try await restarted.push().pushed == 1)
        #expect(world.onServer == ["a": "mine"])
    }

    /// The original kept an operation whose answer had no row, and sent it again.
    @Test("an answer without a row is an answer: nothing is sent twice, and the next change is no conflict")
    func answerWithoutRow() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "milk"))
        world.emulator.inject(.applyThenRespond(EmulatorResponse(201)))
        _ = try await world.context.push()
        try await world.todos.update("a") { $0.text = "cream" }
        #expect(try await world.context.push().notTaken.isEmpty)
        #expect(try await world.kinds().isEmpty)
        #expect(world.onServer == ["a": "cream"])
        #expect(world.wire.lines.filter { $0.hasPrefix("POST") }.count == 1)
    }
}
