import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// Fresh rows that do not fit their table.
@Suite("Rows that are set aside while everything is brought anew")
struct ResetSetAsideTests {
    let server = HistoryServer()
    let store: MemoryStore
    let context: SyncContext
    let all = [FreshPull(Query("TodoItem"))]

    init() throws {
        store = try makeStore()
        context = SyncContext(store: store, remote: server)
    }

    @Test("are named, hold no others up, and leave what was here in their place")
    func named() async throws {
        for id in "abcd" { server.write("\(id)", "\(id)") }
        // One of before, which fits by now, one that fits no more, and one that is new and does not.
        server.unfit("c")
        try await context.pull(Query("TodoItem"))
        #expect(try await context.setAsideRows().map(\.itemID) == ["c"])
        server.reset(to: ["a": "other", "b": "b", "c": "c", "x": "x"])
        server.unfit("a", "x")
        _ = try await context.reset(onto: all, discardsChanges: false)
        #expect(try await context.setAsideRows().map(\.itemID) == ["a", "x"])
        #expect(try await context.setAsideRows().map(\.reason) == ["text does not fit", "text does not fit"])
        #expect(try await texts(context) == ["a": "a", "b": "b", "c": "c"])
        try await context.endReset()
        server.unfit()
        #expect(try await context.retrySetAsideRows().received == 2)
        #expect(try await texts(context) == server.texts)
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("are those that came before a column was declared that they do not fit", arguments: [false, true])
    func declaredSince(_ isWaiting: Bool) async throws {
        for id in "abcd" { server.write("\(id)", "\(id)") }
        try await context.pull(Query("TodoItem"))
        if isWaiting { try await context.table("TodoItem").update(Record(id: "a", ["text": "mine"])) }
        server.reset(to: ["a": "other", "b": "B", "c": "c", "d": "D"], parents: ["a": "secret"])
        server.onPages { page in
            if page == 2 { throw RemoteError(.unreachable, "on purpose") }
        }
        _ = try await syncErrorCode { _ = try await context.reset(onto: all, discardsChanges: false) }
        server.onPages(nil)
        let declared = TableDefinition("TodoItem", columns: todoTable.columns + [.init("parent", .int64)])
        let reopened = try await store.reopened(with: StoreSchema([declared]))
        let again = SyncContext(store: reopened, remote: server)
        let report = try await again.reset(onto: all, discardsChanges: false)
        #expect(report.waiting == (isWaiting ? 1 : 0) && report.recovered == report.waiting)
        #expect(server.pages == 1, "it goes on where it was")
        #expect(try await again.setAsideRows().map(\.itemID) == ["a"])
        let reason = try #require(try await again.setAsideRows().first?.reason)
        #expect(reason.contains("parent") && !reason.contains("secret"))
        #expect(try await texts(again) == ["a": isWaiting ? "mine" : "a", "b": "B", "c": "c", "d": "D"])
        try await again.endReset()
        #expect(try await reopened.verifyQueue().isEmpty)
    }

    @Test("that wait to be changed are looked up before anything is sent over them", arguments: [false, true])
    func waiting(_ discards: Bool) async throws {
        for id in "ab" { server.write("\(id)", "\(id)") }
        try await context.pull(Query("TodoItem"))
        try await context.table("TodoItem").update(Record(id: "a", ["text": "mine"]))
        server.reset(to: ["a": "theirs", "b": "b"])
        server.unfit("a")
        let report = try await context.reset(onto: all, discardsChanges: discards)
        #expect(report.waiting == 1 && (discards ? report.discarded : report.recovered) == 1)
        #expect(try await texts(context)["a"] == (discards ? "a" : "mine"))
        try await context.endReset()
        server.unfit()
        #expect(try await context.push().conflicts.count == (discards ? 0 : 1))
        #expect(server.texts == ["a": "theirs", "b": "b"], "nobody here has seen it")
        for error in try await context.operationErrors() { try await context.resolve(error, with: .keepMine) }
        _ = try await context.push()
        _ = try await context.retrySetAsideRows()
        try await context.pull(Query("TodoItem"))
        #expect(server.texts["a"] == (discards ? "theirs" : "mine"))
        #expect(try await texts(context) == server.texts)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("are asked for by the next pull when the server has failed on them for a while")
    func failedForAWhile() async throws {
        for id in "ab" { server.write("\(id)", "\(id)") }
        try await context.pull(Query("TodoItem"))
        server.reset(to: ["a": "other", "b": "b"])
        server.unfit("a")
        _ = try await context.reset(onto: all, discardsChanges: false)
        try await context.endReset()
        server.unfit()
        try await context.pull(Query("TodoItem"))
        #expect(try await texts(context) == ["a": "other", "b": "b"])
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("stay named when a pull with parameters has brought them, and one without is not shown them")
    func metWithParameters() async throws {
        server.write("a", "a")
        server.reset(to: ["a": "other"])
        server.unfit("a")
        let options = PullOptions(order: .pullOnly, parameters: ["project": "2"])
        _ = try await context.reset(onto: [FreshPull(Query("TodoItem"), options: options)], discardsChanges: false)
        try await context.endReset()
        #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
        #expect(try await context.setAsideRows().map(\.reason) == ["text does not fit"])
        server.remove("a")
        for _ in 0..<2 {
            try await context.pull(Query("TodoItem"))
            try await context.retrySetAsideRows()
            #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
        }
    }

    @Test("met by a pull without parameters first, they leave the list once they are gone")
    func metWithoutParametersFirst() async throws {
        server.write("a", "a")
        server.reset(to: ["a": "other"])
        server.unfit("a")
        let pulls =
            [FreshPull(Query("TodoItem"))]
            + [FreshPull(Query("TodoItem"), options: PullOptions(parameters: ["project": "2"]))]
        _ = try await context.reset(onto: pulls, discardsChanges: false)
        try await context.endReset()
        #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
        server.remove("a")
        try await context.pull(Query("TodoItem"), options: .init(reconciles: true))
        #expect(try await context.setAsideRows().isEmpty)
    }
}
