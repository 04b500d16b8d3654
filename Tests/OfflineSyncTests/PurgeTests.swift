import DatasyncEmulator
import DatasyncHTTP
import OfflineSync
import RemoteContract
import Synchronization
import SyncContract
import Testing

@Suite("Purging", .timeLimit(.minutes(3)))
struct PurgeTests {
    private let done = Query("TodoItem").filtered(by: Column("complete") == true)

    /// The laptop holds four rows, two of which are done.
    private func withRows(
        _ dialect: DatasyncDialect = .datasync,
        age: Int64 = 0,
        _ body: (SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.with(dialect, age: age) { world in
            for id in ["a", "b", "c", "d"] {
                try await world.phone.table.insert(["text": .string(id), "complete": .bool(id < "c")], id: id)
            }
            _ = try await world.phone.context.push()
            try await world.laptop.pull()
            try await body(world)
        }
    }

    @Test(
        "the rows of a condition stay away, also those that the next pull asks for again",
        arguments: DatasyncDialect.allCases,
        [0, 60_000] as [Int64]
    )
    func condition(_ dialect: DatasyncDialect, _ age: Int64) async throws {
        try await withRows(dialect, age: age) { world in
            let laptop = world.laptop
            #expect(try await laptop.context.purge(done) == 2)
            for _ in 0..<3 {
                #expect(try await laptop.pull().received == 0)
                #expect(Set(try await laptop.texts().keys) == ["c", "d"])
            }
            try await world.phone.table.update(Record(id: "a", ["text": "changed"]))
            _ = try await world.phone.context.push()
            try await laptop.pull()
            #expect(try await laptop.texts() == ["a": "changed", "c": "c", "d": "d"], "a change brings a row back")
            try await laptop.pull()
            #expect(try await laptop.text("a") == "changed")
            try await laptop.context.pull(laptop.table, options: .init(reconciles: true))
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("a whole table starts anew: purge and pull do not give an empty list", arguments: [false, true])
    func wholeTable(_ isForced: Bool) async throws {
        try await withRows(age: 60_000) { world in
            let laptop = world.laptop
            try await laptop.context.purge(done)
            if isForced { try await laptop.table.forcePurge() } else { try await laptop.table.purge() }
            #expect(try await laptop.texts().isEmpty)
            #expect(try await laptop.pull().received == 4)
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("told otherwise, a table stays empty and a condition starts anew")
    func otherwise() async throws {
        try await withRows { world in
            let laptop = world.laptop
            try await laptop.context.purge(done, resettingDeltaTokens: true)
            try await laptop.pull()
            #expect(try await laptop.texts().count == 4)
            try await laptop.table.purge(resettingDeltaTokens: false)
            try await laptop.pull()
            #expect(try await laptop.texts().isEmpty)
        }
    }

    @Test("what is kept away is remembered until the cursor has passed it, and no longer")
    func remembered() async throws {
        let page = Mutex(
            PullPage(records: [serverRow("a", stamp: 5_000), serverRow("b", stamp: 9_000)], cursor: "4000")
        )
        let passes: @Sendable (Record, String) -> Bool = { row, cursor in
            (row.updatedAt?.milliseconds ?? 0) < Int64(cursor) ?? 0
        }
        let remote = ScriptedRemote(passes: passes) { _, _ in page.withLock { $0 } }
        let store = try makeStore()
        let context = SyncContext(store: store, remote: remote)
        func remembered() async throws -> Int {
            try await store.read(
                Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 1_021)
            )
            .records.count
        }
        let all = Query("TodoItem")
        try await context.pull(all, queryID: "one")
        try await context.purge(all, resettingDeltaTokens: false)
        #expect(try await remembered() == 2)
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context).isEmpty)
        page.withLock { $0.cursor = "6000" }
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context).isEmpty)
        #expect(try await remembered() == 1)
        page.withLock { $0 = PullPage(records: [serverRow("b", "new", version: "v2", stamp: 9_500)], cursor: "6000") }
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == ["b": "new"])
        #expect(try await remembered() == 0)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("a row stays away whose stamp is finer than milliseconds, and comes with another such stamp")
    func finerStamps() async throws {
        func row(_ text: String, _ stamp: String) throws -> Record {
            var row = serverRow("a", text)
            row["updatedAt"] = .date(try #require(Timestamp("2023-11-14T22:13:20.\(stamp)Z")))
            return row
        }
        let page = Mutex(PullPage(records: [try row("milk", "1234567")], cursor: "4000"))
        let passes: @Sendable (Record, String) -> Bool = { _, _ in false }
        let remote = ScriptedRemote(passes: passes) { _, _ in page.withLock { $0 } }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let all = Query("TodoItem")
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == ["a": "milk"])
        try await context.purge(all, resettingDeltaTokens: false)
        for _ in 0..<2 {
            #expect(try await context.pull(all, queryID: "one").received == 0)
            #expect(try await texts(context).isEmpty)
        }
        let other = try row("anew", "1234568")
        page.withLock { $0 = PullPage(records: [other], cursor: "4000") }
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == ["a": "anew"])
    }

    @Test("a row that was made anew under the version of a purged one comes")
    func madeAnew() async throws {
        let page = Mutex(PullPage(records: [serverRow("a", stamp: 5_000)], cursor: "4000"))
        let passes: @Sendable (Record, String) -> Bool = { row, cursor in
            (row.updatedAt?.milliseconds ?? 0) < Int64(cursor) ?? 0
        }
        let remote = ScriptedRemote(passes: passes) { _, _ in page.withLock { $0 } }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let all = Query("TodoItem")
        try await context.pull(all, queryID: "one")
        try await context.purge(all, resettingDeltaTokens: false)
        page.withLock { $0 = PullPage(records: [serverRow("a", "anew", stamp: 7_000)], cursor: "8000") }
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == ["a": "anew"])
    }

    @Test("a pull under another name, or from the beginning, brings what was purged")
    func otherQuery() async throws {
        try await withRows { world in
            let laptop = world.laptop
            try await laptop.context.purge(done)
            #expect(try await laptop.context.pull(laptop.table, queryID: "new").received == 2)
            try await laptop.context.purge(done)
            try await laptop.context.resetDeltaToken(of: laptop.table, queryID: "all")
            #expect(try await laptop.pull().received == 2)
        }
    }

    @Test("of a condition, only changes of its rows stand in the way")
    func waiting() async throws {
        try await withRows { world in
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "c", ["text": "mine"]))
            try await laptop.context.purge(done)
            #expect(Set(try await laptop.texts().keys) == ["c", "d"])
            let rest = Query("TodoItem").filtered(by: Column("complete") == false)
            #expect(
                try await syncErrorCode { try await laptop.context.purge(rest) } == .purgeAbortedPendingChanges
            )
            let refused = try #require(await #expect(throws: SyncError.self) { try await laptop.table.purge() })
            #expect(refused.code == .purgeAbortedPendingChanges)
            // A push alone does not help where the server does not take a change.
            #expect(refused.message.contains("(1); push them and settle what the server does not take, or force"))
            #expect(Set(try await laptop.texts().keys) == ["c", "d"])
        }
    }

    @Test("forced by a query, it takes what matches with its changes, and no more", arguments: DatasyncDialect.allCases)
    func forced(_ dialect: DatasyncDialect) async throws {
        try await withRows(dialect) { world in
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            try await laptop.table.update(Record(id: "c", ["text": "mine"]))
            try await laptop.table.delete("d")
            #expect(try await laptop.context.forcePurge(done) == 1)
            #expect(try await laptop.context.operations().map(\.itemID) == ["c", "d"])
            #expect(try await laptop.texts() == ["c": "mine"])
            try await laptop.pull()
            #expect(try await laptop.texts() == ["c": "mine"], "tokens are kept, and nothing comes back")
            #expect(world.onServer() == ["a": "a", "b": "b", "c": "mine"])
            #expect(try await laptop.context.forcePurge(laptop.table.query) == 0)
            try await laptop.pull()
            #expect(try await laptop.texts() == world.onServer())
        }
    }

    @Test("forced behind the first rows, it leaves them and their changes")
    func forcedBehindOthers() async throws {
        try await withRows { world in
            let laptop = world.laptop
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            #expect(try await laptop.context.forcePurge(laptop.table.query.ordered(by: "id").skipping(1)) == 0)
            #expect(try await laptop.texts() == ["a": "mine"])
            #expect(try await laptop.context.operations().map(\.itemID) == ["a"])
            try await laptop.pull()
            #expect(try await laptop.texts() == ["a": "mine"], "tokens are kept, and nothing comes back")
        }
    }

    @Test("forced, it has the row come that others have made under the id of an insert that is given up")
    func forcedOverTheirInsert() async throws {
        try await withRows(age: 60_000) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "mine", "complete": true], id: "x")
            try await world.phone.table.insert(["text": "theirs", "complete": true], id: "x")
            _ = try await world.phone.context.push()
            let pullOnly = PullOptions(order: .pullOnly)
            #expect(try await laptop.context.pull(laptop.table, queryID: "all", options: pullOnly).skipped == 1)
            #expect(try await laptop.context.forcePurge(done) == 1)
            try await laptop.pull()
            #expect(try await laptop.texts() == ["c": "c", "d": "d", "x": "theirs"])
        }
    }

    @Test("forced, it leaves nothing out that came while the changes waited, and has nothing else come")
    func forcedOverNews() async throws {
        try await withRows(age: 60_000) { world in
            let laptop = world.laptop
            for id in ["a", "b"] { try await laptop.table.update(Record(id: .string(id), ["text": "mine"])) }
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            let pullOnly = PullOptions(order: .pullOnly)
            #expect(try await laptop.context.pull(laptop.table, queryID: "all", options: pullOnly).skipped == 1)
            #expect(try await laptop.context.forcePurge(done) == 2)
            for _ in 0..<2 {
                try await laptop.pull()
                #expect(try await laptop.texts() == ["a": "theirs", "c": "c", "d": "d"])
            }
        }
    }

    @Test("waits for the pull that is under way, and is not undone by it")
    func duringPull() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, number in
            if number == 2 { try await barrier.wait() }
            if number > 2 { return PullPage(records: [serverRow("a"), serverRow("b")], cursor: "9") }
            return PullPage(
                records: [serverRow(number == 1 ? "a" : "b")],
                next: number == 1 ? .next("1") : nil,
                cursor: "\(number)"
            )
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        async let pull = context.pull(Query("TodoItem"))
        await barrier.isReached()
        async let purge = context.purge(Query("TodoItem"))
        barrier.open()
        _ = try await pull
        #expect(try await purge == 2)
        #expect(try await texts(context).isEmpty)
        try await context.pull(Query("TodoItem"))
        #expect(remote.requests.last?.position == .changes(since: nil))
        #expect(try await texts(context).count == 2)
    }

    @Test("that keeps the progress has everything come again under another condition of the same name")
    func otherConditionOfTheName() async throws {
        let page = PullPage(records: [serverRow("a", stamp: 5_000), serverRow("b", stamp: 9_000)], cursor: "4000")
        let context = SyncContext(store: try makeStore(), remote: ScriptedRemote { _, _ in page })
        let all = Query("TodoItem")
        try await context.pull(all, queryID: "one")
        try await context.purge(all, resettingDeltaTokens: false)
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context).isEmpty)
        try await context.pull(all.filtered(by: Column("text") != ""), queryID: "one")
        #expect(try await texts(context).keys.sorted() == ["a", "b"])
    }

    @Test("of rows without versions keeps away those that are as they were, by their stamps")
    func withoutVersions() async throws {
        func row(_ text: String, _ stamp: Int64) -> Record {
            var row = serverRow("a", text, stamp: stamp)
            row["version"] = nil
            return row
        }
        let page = Mutex(PullPage(records: [row("old", 5_000)], cursor: "4000"))
        let context = SyncContext(store: try makeStore(), remote: ScriptedRemote { _, _ in page.withLock { $0 } })
        let all = Query("TodoItem")
        try await context.pull(all, queryID: "one")
        try await context.purge(all, resettingDeltaTokens: false)
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context).isEmpty)
        page.withLock { $0.records = [row("new", 9_500)] }
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == ["a": "new"])
    }

    @Test(
        "forced, it takes no late request of its own for one of others",
        arguments: DatasyncDialect.allCases,
        [true, false]
    )
    func forcedUnderWay(_ dialect: DatasyncDialect, _ isWhole: Bool) async throws {
        try await SyncWorld.with(dialect, age: 60_000) { world in
            let laptop = world.laptop
            try await world.shareItem()
            try await laptop.table.update(Record(id: "a", ["text": "given up"]))
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            if isWhole {
                try await laptop.context.forcePurge("TodoItem")
            } else {
                try await laptop.context.forcePurge(laptop.table.query.filtered(by: Column("id") == "a"))
            }
            try await laptop.table.pull(options: .init(reconciles: true))
            #expect(try await laptop.text("a") == "milk")
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            await laptop.server.deliver()
            #expect(world.onServer() == ["a": "given up"])
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "mine"])
        }
    }

    @Test("forced, it keeps a row away that an editor of an older state was saved over")
    func forcedOverOlderEditor() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.shareItem()
            let seen = try #require(try await laptop.table.read("a"))
            try await world.phone.table.update(Record(id: "a", ["text": "theirs"]))
            _ = try await world.phone.context.push()
            try await laptop.pull()
            var edited = seen
            edited["text"] = "older"
            try await laptop.table.update(edited)
            #expect(try await laptop.context.forcePurge(laptop.table.query.filtered(by: Column("id") == "a")) == 1)
            try await laptop.pull()
            #expect(try await laptop.texts().isEmpty)
        }
    }

    @Test("forced, it has no row come that is again what the change was based on")
    func forcedOverOldNews() async throws {
        try await withRows(age: 60_000) { world in
            let (phone, laptop) = (world.phone, world.laptop)
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            for text in ["soy", "a"] {
                try await phone.table.update(Record(id: "a", ["text": .string(text)]))
                #expect(try await phone.context.push().pushed == 1)
                _ = try await laptop.table.pull(options: .init(order: .pullOnly))
            }
            #expect(try await laptop.context.forcePurge(done) == 1)
            #expect(try await laptop.pull().received == 0)
            #expect(try await laptop.text("a") == nil)
        }
    }

    @Test(
        "forced, it leaves an insert on its way, which the deletion of another one with its id takes back",
        arguments: DatasyncDialect.allCases
    )
    func insertUnderWay(_ dialect: DatasyncDialect) async throws {
        try await SyncWorld.with(dialect) { world in
            let laptop = world.laptop
            try await laptop.table.insert(["text": "milk", "complete": false], id: "x")
            laptop.server.intercept(.late)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.forcePurge()
            try await laptop.table.insert(["text": "bread", "complete": false], id: "x")
            try await laptop.table.delete("x")
            #expect(try await laptop.context.push().notTaken.isEmpty)
            await laptop.server.deliver()
            try await laptop.pull()
            #expect(world.onServer().isEmpty)
            #expect(try await laptop.texts().isEmpty)
        }
    }

    @Test("forced, it leaves a change on its way, which an insert and its deletion have nothing to do with")
    func updateUnderWay() async throws {
        try await SyncWorld.with(.datasync) { world in
            let laptop = world.laptop
            try await world.shareItem()
            try await laptop.table.update(Record(id: "a", ["text": "mine"]))
            laptop.server.intercept(.answerLost)
            _ = try await syncErrorCode { _ = try await laptop.context.push() }
            try await laptop.table.forcePurge()
            try await laptop.table.insert(["text": "bread", "complete": false], id: "a")
            try await laptop.table.delete("a")
            #expect(try await laptop.context.operations().isEmpty)
            #expect(try await laptop.context.push().notTaken.isEmpty)
            #expect(world.onServer() == ["a": "mine"])
        }
    }
}
