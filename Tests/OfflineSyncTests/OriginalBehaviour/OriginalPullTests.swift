import DatasyncEmulator
import ItemCoding
import OfflineSync
import ReferenceStore
import StoreConformance
import SyncContract
import Testing

@Suite("As in the original: pulling")
struct OriginalPullTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    private func refusal(_ pull: () async throws -> Void) async throws -> SyncError.Code? {
        let code = try await world.refusal(pull)
        #expect(world.wire.lines.isEmpty, "refused before anything was asked")
        return code
    }

    @Test("brings the rows, asks for tombstones as well, and removes what is deleted there")
    func pull() async throws {
        try await world.make("a", "b", "c")
        #expect(try await world.todos.pull().received == 3)
        try await world.elsewhere("DELETE", "b")
        #expect(try await world.todos.pull().deleted == 1)
        #expect(try await world.texts() == world.onServer)
        #expect(world.wire.exchanges.allSatisfy { $0.options["__includeDeleted"] == "true" })
    }

    @Test("of a table without versions works as well")
    func withoutVersions() async throws {
        try await world.make("a", "b")
        let table = TableDefinition("TodoItem", columns: [.init("text", .string)], systemProperties: [.updatedAt])
        let context = try OriginalWorld.context(MemoryStore(try StoreSchema([table])), world.emulator, world.wire)
        #expect(try await context.pull(Query("TodoItem")).received == 2)
        #expect(try await context.pull(Query("TodoItem")).received == 0)
    }

    @Test("sends first what waits, and what was sent is not news")
    func pushesFirst() async throws {
        try await world.make("a")
        try await world.todos.insert(TodoItem(id: "mine", text: "mine"))
        let report = try await world.todos.pull()
        #expect(report.push?.pushed == 1 && report.received == 1)
        #expect(world.wire.lines.first == "POST /tables/TodoItem")
        #expect(try await world.texts() == world.onServer)
    }

    @Test("sends nothing first when nothing waits in its tables")
    func pushesWhatConcernsIt() async throws {
        try await world.notes.insert(OriginalWorld.Note(id: "n", text: "n"))
        #expect(try await world.todos.pull().push == nil)
        #expect(try await world.kinds() == [.insert])
    }

    /// In the original a change that was not taken, in whatever table, was an error of the pull, which did not begin.
    @Test("goes on after what the push before it did not get taken, and says so")
    func goesOnAfterConflict() async throws {
        try await world.share("a")
        try await world.make("b")
        try await world.change("a", "theirs")
        try await world.todos.update("a") { $0.text = "mine" }
        let report = try await world.todos.pull()
        #expect(report.notTaken.map(\.itemID) == ["a"] && report.received == 1 && report.skipped == 1)
        #expect(try await world.texts() == ["a": "mine", "b": "b"])
    }

    @Test("does not begin when its push has ended early")
    func pushAborted() async throws {
        try await world.make("b")
        try await world.todos.insert(TodoItem(id: "a", text: "a"))
        world.emulator.inject(.respond(EmulatorResponse(401)))
        #expect(try await syncErrorCode { try await world.todos.pull() } == .pushAbortedAuthentication)
        #expect(world.wire.lines == ["POST /tables/TodoItem"])
    }

    @Test("carries parameters of the app's own with every page")
    func parameters() async throws {
        try await world.make("a", "b", "c")
        try await world.todos.pull(options: .init(parameters: ["mood": "a b&c"], pageSize: 1))
        #expect(world.wire.lines.count > 1)
        #expect(world.wire.exchanges.allSatisfy { $0.options["mood"] == "a b&c" })
    }

    @Test("takes no parameter that is the protocol's own", arguments: ["__includeDeleted", "__INCLUDEDELETED", "$top"])
    func protocolParameters(_ name: String) async throws {
        let options = PullOptions(parameters: [name: "1"])
        #expect(try await refusal { try await world.todos.pull(options: options) } == .invalidParameter)
    }

    @Test(
        "asks for as many rows at a time as the options say, and leaves what is below 1 to the server",
        arguments: [-1, 0, 1, 30]
    )
    func pageSize(_ size: Int) async throws {
        try await world.make("a", "b")
        #expect(try await world.todos.pull(options: .init(pageSize: size)).received == 2)
        #expect(world.wire.exchanges.first?.options["$top"] == (size < 1 ? nil : "\(size)"))
    }

    @Test("brings every row from a server that gives fewer at a time than it is asked for")
    func smallerPages() async throws {
        let world = try OriginalWorld(pageSize: 3)
        try await world.make((0..<10).map { "i\($0)" })
        #expect(try await world.todos.pull(options: .init(pageSize: 50)).received == 10)
    }

    /// In the original any pull without a name took a limit, and went through the table by counting.
    @Test("of everything may have a limit, which is the number of rows that come", arguments: [25, 100, 148, 1_000])
    func limit(_ limit: Int) async throws {
        try await world.make((0..<125).map { "i\($0)" })
        let some = world.todos.limited(to: limit)
        #expect(try await some.pull(options: .init(reconciles: true)).received == min(limit, 125))
        #expect(try await world.todos.count() == min(limit, 125))
    }

    @Test("takes no order, offset, limit, selection or total count with a name")
    func refusedQueries() async throws {
        let all = Query("TodoItem")
        var (offset, counting) = (all, all)
        offset.offset = 12
        counting.includesTotalCount = true
        for query in [
            all.ordered(by: "text"), all.limited(to: 5), all.selecting(["text"]), offset, counting,
        ] {
            #expect(try await refusal { try await world.context.pull(query, queryID: "q") } == .invalidParameter)
        }
        #expect(try await refusal { try await world.context.pull(all, queryID: "") } == .invalidParameter)
    }

    @Test("leaves what is inserted meanwhile waiting")
    func insertDuringPull() async throws {
        try await world.make("a", "b")
        let (todos, once) = (world.todos, Once())
        world.wire.after { _ in try await once { try await todos.insert(TodoItem(id: "mine", text: "mine")) } }
        #expect(try await todos.pull().received == 2)
        #expect(try await world.kinds() == [.insert])
        #expect(try await world.texts() == ["a": "a", "b": "b", "mine": "mine"])
    }

    @Test("leaves a row alone that is inserted meanwhile in another casing")
    func otherCasing() async throws {
        try await world.make("one", "two")
        let (todos, once) = (world.todos, Once())
        world.wire.after { _ in try await once { try await todos.insert(TodoItem(id: "ONE", text: "mine")) } }
        let report = try await todos.pull()
        #expect(report.received == 1 && report.skipped == 1)
        #expect(try await world.texts() == ["ONE": "mine", "two": "two"])
    }

    /// In the original the token passed the row, which was then not asked for again.
    @Test("leaves a row alone that is changed meanwhile, and forgets no row that it has passed over")
    func updateDuringPull() async throws {
        try await world.make("a", "b")
        try await world.todos.pull()
        try await world.change("a", "theirs")
        let (todos, once) = (world.todos, Once())
        world.wire.after { _ in try await once { try await todos.update("a") { $0.text = "mine" } } }
        #expect(try await todos.pull().skipped == 1)
        #expect(try await world.texts() == ["a": "mine", "b": "b"])
        try await todos.revert("a")
        try await todos.pull()
        #expect(try await world.texts() == ["a": "theirs", "b": "b"])
    }

    @Test("a store that fails ends a pull with its error before anything is asked", arguments: [true, false])
    func failingStore(_ hasName: Bool) async throws {
        try await world.make("a")
        let store = FaultyStore(world.store) { _ in .fails(.beforeClosure) }
        let context = try OriginalWorld.context(store, world.emulator, world.wire)
        let todos = try context.table(TodoItem.self)
        await #expect(throws: (any Error).self) { try await todos.pull(queryID: hasName ? "all" : nil) }
        #expect(world.wire.lines.isEmpty)
    }

    @Test("a text that looks like a date stays a text")
    func dateShapedText() async throws {
        let text = "2014-11-19T10:00:00.000Z"
        try await world.elsewhere("POST", nil, ["id": "a", "text": .string(text)])
        try await world.todos.pull()
        #expect(try await world.texts() == ["a": text])
        try await world.todos.update("a") { $0.complete = true }
        _ = try await world.context.push()
        #expect(world.onServer == ["a": text])
    }
}
