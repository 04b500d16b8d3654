import DatasyncEmulator
import ItemCoding
import OfflineSync
import SyncContract
import Testing

@Suite("As in the original: purging")
struct OriginalPurgeTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    @Test("a condition purges its rows and no others, and tells the server nothing")
    func condition() async throws {
        try await world.make("a", "b", "c")
        try await world.todos.pull()
        world.wire.clear()
        try await world.todos.where { $0.text != "b" }.purge()
        #expect(try await world.texts() == ["b": "b"])
        #expect(world.wire.lines.isEmpty && world.onServer.count == 3)
    }

    @Test("changes that wait in another table are no hindrance")
    func otherTable() async throws {
        try await world.share("a")
        try await world.notes.insert(OriginalWorld.Note(id: "n", text: "n"))
        try await world.todos.purge()
        #expect(try await world.texts().isEmpty)
        #expect(try await world.kinds() == [.insert])
    }

    @Test("a change that waits in the table refuses it, and nothing is removed")
    func waiting() async throws {
        try await world.share("a")
        try await world.todos.insert(TodoItem(id: "b", text: "b"))
        #expect(try await world.refusal { try await world.todos.purge() } == .purgeAbortedPendingChanges)
    }

    /// The original refused it for a change of any row of the table.
    @Test("a condition is refused for changes of its own rows only")
    func waitingElsewhere() async throws {
        try await world.share("a")
        try await world.share("b", "bread")
        try await world.todos.update("b") { $0.complete = true }
        try await world.todos.where { $0.text == "milk" }.purge()
        #expect(try await world.texts() == ["b": "bread"])
        let bread = world.todos.where { $0.text == "bread" }
        #expect(try await world.refusal { try await bread.purge() } == .purgeAbortedPendingChanges)
    }

    /// In the original the token stayed, and the next pull gave an empty list.
    @Test("a table that was purged comes back with its next pull")
    func tokens() async throws {
        try await world.make("a", "b")
        try await world.todos.pull(queryID: "all")
        try await world.todos.purge()
        #expect(try await world.todos.pull(queryID: "all").received == 2)
    }

    @Test("rows of a condition stay away until they change, because the token stays")
    func tokensOfCondition() async throws {
        try await world.make("a", "b")
        try await world.todos.pull(queryID: "all")
        try await world.todos.where { $0.text == "a" }.purge()
        #expect(try await world.todos.pull(queryID: "all").received == 0)
        try await world.change("a", "new")
        #expect(try await world.todos.pull(queryID: "all").received == 1)
    }

    @Test("a forced purge gives up changes, their errors, the tokens and the rows, and says how many changes")
    func forced() async throws {
        for id in ["a", "b", "c"] { try await world.share(id) }
        try await world.todos.pull(queryID: "all")
        try await world.change("a", "theirs")
        try await world.todos.update("a") { $0.text = "mine" }
        _ = try await world.context.push()
        try await world.todos.insert(TodoItem(id: "d", text: "d"))
        try await world.notes.insert(OriginalWorld.Note(id: "n", text: "n"))
        #expect(try await world.todos.forcePurge() == 2)
        #expect(try await world.texts().isEmpty)
        #expect(try await world.context.operationErrors().isEmpty)
        #expect(try await world.context.operations().map(\.table) == ["Note"])
        #expect(try await world.todos.pull(queryID: "all").received == 3)
    }

    /// The original refused while one of the table's operations was under way, and had removed others by then.
    @Test("a forced purge waits for the push that is under way, and leaves nothing of it behind")
    func forcedDuringPush() async throws {
        try await world.todos.insert(TodoItem(id: "a", text: "a"))
        let (todos, context, started) = (world.todos, world.context, AsyncStream.makeStream(of: Void.self))
        let (released, release) = AsyncStream.makeStream(of: Void.self)
        world.wire.after { _ in
            started.continuation.finish()
            for await _ in released {}
        }
        async let pushed = context.push()
        for await _ in started.stream {}
        let purge = Task { try await todos.forcePurge() }
        #expect(try await world.kinds() == [.insert])
        release.finish()
        #expect(try await pushed.pushed == 1)
        #expect(try await purge.value == 0, "the change was taken before")
        #expect(try await world.texts().isEmpty)
        #expect(world.onServer == ["a": "a"])
    }
}
