import OfflineSync
import RemoteContract
import Synchronization
import SyncContract
import Testing

/// Lets a test hold a request up, and waits for it.
final class Barrier: Sendable {
    private let reached = AsyncStream.makeStream(of: Void.self)
    private let opened = AsyncStream.makeStream(of: Void.self)

    /// Says that this place was reached, and waits until it is opened or the task is cancelled.
    func wait() async throws {
        reached.continuation.yield()
        for await _ in opened.stream { return }
        try Task.checkCancellation()
    }

    func isReached() async { for await _ in reached.stream { return } }
    func open() { opened.continuation.yield() }
}

/// Lets others go on; ends with the test when that takes too long.
func yielding() async throws {
    try Task.checkCancellation()
    await Task.yield()
}

@Suite("A page that an answer has overtaken", .timeLimit(.minutes(3)))
struct OvertakenPageTests {
    private let query = Query("TodoItem")

    @Test("fetched ahead before an own write was answered, it does not undo the answer")
    func fetchedAhead() async throws {
        let (first, pushing) = (Barrier(), Barrier())
        let remote = ScriptedRemote { request, number in
            if number == 1 { try await first.wait() }
            guard request.position == .next("1") else { return PullPage(records: [serverRow("z")], next: .next("1")) }
            return PullPage(records: [serverRow("mine", "before", version: "v0")], cursor: "c")
        }
        let context = SyncContext(store: try makeStore(), remote: HeldWrites(remote, pushing))
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        await first.isReached()
        try await context.table("TodoItem").insert(["text": "mine"], id: "mine")
        async let push = context.push()
        await pushing.isReached()
        // The first page waits for its turn, and the one behind it is fetched ahead of the answer.
        first.open()
        while remote.requests.count < 2 { try await yielding() }
        pushing.open()
        #expect(try await push.pushed == 1)
        _ = try await pull
        #expect(try await texts(context) == ["z": "milk", "mine": "mine"])
        #expect(remote.askedByID == ["mine"])
        try await context.table("TodoItem").update(Record(id: "mine", ["text": "edited"]))
        pushing.open()
        let report = try await context.push()
        #expect(report.pushed == 1 && report.conflicts.isEmpty, "no conflict with oneself")
    }

    @Test("an own write is answered between the request for a page and its turn", arguments: [true, false])
    func pushBetween(_ pageIsNewer: Bool) async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, _ in
            guard request.position == .next("1") else { return PullPage(records: [], next: .next("1")) }
            // What the server had when the page was asked for; the answer takes its time.
            let page = PullPage(records: [serverRow("a", "seen", version: pageIsNewer ? "x9" : "v2")], cursor: "c")
            try await barrier.wait()
            return page
        }
        let store = try makeStore()
        try await store.upsert([serverRow("a", "old")], table: "TodoItem")
        remote.put(serverRow("a", "old"))
        let context = SyncContext(store: store, remote: remote)
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        // The pull does not keep the push waiting.
        try await context.table("TodoItem").update(Record(id: "a", ["text": "mine"]))
        #expect(try await context.push().pushed == 1)
        if pageIsNewer { remote.put(serverRow("a", "seen", version: "x9")) }
        barrier.open()
        let report = try await pull
        #expect(remote.askedByID == ["a"], "only the server can say which is newer")
        #expect(try await texts(context) == ["a": pageIsNewer ? "seen" : "mine"])
        #expect(report.received == (pageIsNewer ? 1 : 0))
        let marks = Query(SystemTables.configuration.name).filtered(by: Column("keyType") == 1_000)
        #expect(try await store.read(marks).records.isEmpty, "and it is asked for once")
        let version = try await store.read(table: "TodoItem", itemID: "a")?.version
        #expect(version == (pageIsNewer ? "x9" : "w1"))
    }

    @Test("a row that is asked for by id while an own write is answered is asked for once more")
    func lookUp() async throws {
        let (page, asking) = (Barrier(), Barrier())
        let remote = ScriptedRemote { _, number in
            guard number < 3 else { return PullPage(records: []) }
            guard number == 2 else { return PullPage(records: [], next: .next("1")) }
            try await page.wait()
            return PullPage(records: [serverRow("a", "seen", version: "v2")], cursor: "c")
        }
        remote.beforeNextLookUp { try await asking.wait() }
        let store = try makeStore()
        try await store.upsert([serverRow("a", "old")], table: "TodoItem")
        remote.put(serverRow("a", "old"))
        let context = SyncContext(store: store, remote: remote)
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        for (barrier, text) in [(page, "mine"), (asking, "mine again")] {
            await barrier.isReached()
            try await context.table("TodoItem").update(Record(id: "a", ["text": .string(text)]))
            #expect(try await context.push().pushed == 1)
            // The row that is found by id is of others, who have written it since.
            if text == "mine again" { remote.put(serverRow("a", "theirs", version: "x9")) }
            barrier.open()
        }
        _ = try await pull
        #expect(try await texts(context) == ["a": "mine again"], "it may as well be older")
        _ = try await context.pull(query, options: .init(order: .pullOnly))
        #expect(remote.askedByID == ["a", "a"])
        #expect(try await texts(context) == ["a": "theirs"])
    }

    @Test("a page that shows another row under the version that was written is asked for by id")
    func sameVersionOfAnotherRow() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, _ in
            guard request.position == .next("1") else { return PullPage(records: [], next: .next("1")) }
            try await barrier.wait()
            return PullPage(records: [serverRow("a", "theirs", version: "w1", stamp: 7_000)], cursor: "c")
        }
        let store = try makeStore()
        let context = SyncContext(store: store, remote: remote)
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        try await context.table("TodoItem").insert(["text": "mine"], id: "a")
        _ = try await context.push()
        try await store.upsert([serverRow("a", "mine", version: "w1", stamp: 5_000)], table: "TodoItem")
        remote.put(serverRow("a", "theirs", version: "w1", stamp: 7_000))
        barrier.open()
        _ = try await pull
        #expect(remote.askedByID == ["a"])
        #expect(try await texts(context) == ["a": "theirs"])
    }

    @Test("a page that shows what was written already needs no further request")
    func sameVersion() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, _ in
            guard request.position == .next("1") else { return PullPage(records: [], next: .next("1")) }
            try await barrier.wait()
            return PullPage(records: [serverRow("a", "mine", version: "w1")], cursor: "c")
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        try await context.table("TodoItem").insert(["text": "mine"], id: "a")
        _ = try await context.push()
        barrier.open()
        #expect(try await pull.received == 0)
        #expect(remote.askedByID.isEmpty)
    }

    @Test("after an own deletion there is no version to compare: the row does not come back")
    func deleted() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, _ in
            guard request.position == .next("1") else { return PullPage(records: [], next: .next("1")) }
            let page = PullPage(records: [serverRow("a", "old")], cursor: "c")
            try await barrier.wait()
            return page
        }
        let store = try makeStore()
        try await store.upsert([serverRow("a", "old")], table: "TodoItem")
        remote.put(serverRow("a", "old"))
        let context = SyncContext(store: store, remote: remote)
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        try await context.table("TodoItem").delete("a")
        _ = try await context.push()
        barrier.open()
        _ = try await pull
        #expect(try await texts(context).isEmpty)
    }

    @Test("the next page is asked for while one waits for its turn, and no other")
    func oneAhead() async throws {
        let (barrier, pushing) = (Barrier(), Barrier())
        let remote = ScriptedRemote { request, number in
            if number == 1 { try await barrier.wait() }
            return PullPage(records: [serverRow("r\(number)")], next: number < 5 ? .next("\(number)") : nil)
        }
        let store = try makeStore()
        let server = HeldWrites(remote, pushing)
        let context = SyncContext(store: store, remote: server)
        async let pull = context.pull(query, options: .init(order: .pullOnly))
        await barrier.isReached()
        try await context.table("TodoItem").insert(["text": "mine"], id: "mine")
        async let push = context.push()
        await pushing.isReached()
        barrier.open()
        while remote.requests.count < 2 { try await yielding() }
        for _ in 0..<200 { await Task.yield() }
        #expect(remote.requests.count == 2, "memory for one page more")
        #expect(try await texts(context) == ["mine": "mine"])
        pushing.open()
        #expect(try await push.pushed == 1)
        #expect(try await pull.received == 5)
    }

    @Test("cancelled while a page is fetched ahead, the pull ends at once and keeps what was applied")
    func cancelled() async throws {
        let barrier = Barrier()
        let remote = ScriptedRemote { request, number in
            if number == 3 { try await barrier.wait() }
            return PullPage(records: [serverRow("r\(number)")], next: .next("\(number)"), cursor: "\(number)")
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let pull = Task { try await context.pull(query) }
        await barrier.isReached()
        while try await texts(context).count < 2 { try await yielding() }
        pull.cancel()
        await #expect(throws: CancellationError.self) { try await pull.value }
        #expect(try await texts(context).count == 2)
        _ = try? await context.pull(query, options: .init(maximumRows: 1))
        #expect(remote.requests.last?.position == .changes(since: "2"))
    }
}

/// Holds every change of a row up.
private struct HeldWrites: SyncRemote {
    let remote: ScriptedRemote
    let barrier: Barrier

    init(_ remote: ScriptedRemote, _ barrier: Barrier) { (self.remote, self.barrier) = (remote, barrier) }

    var replacesWholeRows: Bool { remote.replacesWholeRows }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await barrier.wait()
        return try await remote.insert(record, into: table)
    }
    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await remote.update(record, in: table, version: version, restoring: restoring)
    }
    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await remote.delete(id, from: table, version: version)
    }
    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await remote.record(id, in: table)
    }
    func confirm(_ table: TableDefinition) async throws {}
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await remote.page(query, of: table, at: position, pageSize: pageSize)
    }
}
