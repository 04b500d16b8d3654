import DatasyncEmulator
import ItemCoding
import OfflineSync
import SyncContract
import Testing

@Suite("As in the original: pulling what has changed")
struct OriginalIncrementalPullTests {
    typealias TodoItem = OriginalWorld.TodoItem

    private let world: OriginalWorld

    init() throws { world = try OriginalWorld() }

    private var lastFilter: String? { world.wire.exchanges.last?.options["$filter"] }

    /// The original asked twice: once for rows from the last stamp on, once more after them.
    @Test("the first pull brings everything, and an idle one is a request that brings nothing")
    func idle() async throws {
        try await world.make("a", "b", "c")
        #expect(try await world.todos.pull(queryID: "all").received == 3)
        let idle = try await world.todos.pull(queryID: "all")
        #expect(idle.received == 0 && idle.requests == 1)
        #expect(try #require(lastFilter).contains("updatedAt ge"))
    }

    @Test("goes on from the token that was kept, after a restart too")
    func restart() async throws {
        try await world.make("a", "b")
        try await world.todos.pull(queryID: "all")
        try await world.change("b", "new")
        let todos = try world.restarted().table(TodoItem.self)
        #expect(try await todos.pull(queryID: "all").received == 1)
        #expect(try await world.texts() == ["a": "a", "b": "new"])
    }

    /// In the original a row that was written late with an earlier stamp was never found: stamps are made before rows can
    /// be seen. Here young rows are asked for again.
    @Test("asks again for rows that are younger than the settling time")
    func overlap() async throws {
        let world = try OriginalWorld(age: 0)
        try await world.make("a")
        try await world.todos.pull(queryID: "all")
        let rows = world.emulator.rows(in: "TodoItem")
        let late: [String: JSONValue] = ["id": "late", "text": "late", "updatedAt": rows[0]["updatedAt"] ?? .null]
        try world.emulator.seed([late], in: "TodoItem")
        #expect(try await world.todos.pull(queryID: "all").received == 1)
        #expect(try await world.texts() == ["a": "a", "late": "late"])
    }

    /// The original continued inside of a stamp by counting rows, and lost one when a row left it in between.
    @Test("more rows of one stamp than a page has all come", arguments: [1, 2, 7])
    func sharedStamp(_ pageSize: Int) async throws {
        let stamp: JSONValue = "2014-11-19T10:00:00.000Z"
        let rows: [[String: JSONValue]] = (0..<10)
            .map { number in
                let id = JSONValue.string("i\(number)")
                return ["id": id, "text": id, "updatedAt": number < 8 ? stamp : "2014-11-20T10:00:00.000Z"]
            }
        try world.emulator.seed(rows, in: "TodoItem")
        #expect(try await world.todos.pull(queryID: "all", options: .init(pageSize: pageSize)).received == 10)
        #expect(try await world.texts() == world.onServer)
        #expect(try await world.todos.pull(queryID: "all", options: .init(pageSize: pageSize)).received == 0)
    }

    @Test("a condition of the app's own is asked for beside the token")
    func condition() async throws {
        try await world.make("milk", "bread")
        let milk = world.todos.where { $0.text == "milk" }
        #expect(try await milk.pull(queryID: "milk").received == 1)
        try await milk.pull(queryID: "milk")
        let filter = try #require(lastFilter)
        #expect(filter.contains("text eq 'milk'") && filter.contains("updatedAt ge"))
        #expect(try await world.texts() == ["milk": "milk"])
    }

    /// The original went on from the token of the other condition, and rows were missing.
    @Test("a name that is used for another condition starts from the beginning")
    func otherCondition() async throws {
        try await world.make("milk", "bread")
        try await world.todos.where { $0.text == "milk" }.pull(queryID: "q")
        #expect(try await world.todos.where { $0.text == "bread" }.pull(queryID: "q").received == 1)
    }

    /// In the original a pull without a name brought everything, each time.
    @Test("without a name a pull is as incremental: table and condition are its name")
    func withoutName() async throws {
        try await world.make("a", "b")
        #expect(try await world.todos.pull().received == 2)
        try await world.todos.pull()
        #expect(try #require(lastFilter).contains("updatedAt ge"))
    }

    @Test("rows that left the condition stay, until a pull reconciles")
    func leftCondition() async throws {
        for id in ["a", "b"] as [JSONValue] {
            try await world.elsewhere("POST", nil, ["id": id, "text": id, "complete": false])
        }
        let open = world.todos.where { $0.complete == false }
        try await open.pull(queryID: "open")
        try await world.elsewhere("PATCH", "a", ["complete": true])
        #expect(try await open.pull(queryID: "open").deleted == 0)
        #expect(try await world.texts().count == 2)
        #expect(try await open.pull(options: .init(reconciles: true)).deleted == 1)
        #expect(try await world.texts() == ["b": "b"])
    }

    @Test("what ends a pull leaves the pages that came, and the next one goes on from there")
    func interrupted() async throws {
        try await world.make((0..<10).map { "i\($0)" })
        let options = PullOptions(pageSize: 3)
        world.wire.before { [wire = world.wire] _ in
            if wire.exchanges.filter({ $0.line.hasPrefix("GET") }).count >= 2 { throw Wire.Lost() }
        }
        let code = try await syncErrorCode { try await world.todos.pull(queryID: "all", options: options) }
        #expect(code == .pullAborted)
        let before = try await world.texts().count
        #expect(before >= 3 && before < 10)
        world.wire.clearHooks()
        #expect(try await world.todos.pull(queryID: "all", options: options).received == 10 - before)
        #expect(try await world.texts() == world.onServer)
    }

    /// In the original a page without stamps was undefined; a row without one never came.
    @Test("a row without a stamp comes with a pull of everything")
    func withoutStamp() async throws {
        try await world.make("a")
        world.emulator.inject(.respond(.json(200, [["id": "a", "text": "unstamped"]])))
        try await world.todos.pull(options: .init(reconciles: true))
        #expect(try await world.texts() == ["a": "unstamped"])
    }
}
