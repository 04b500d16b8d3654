import RemoteContract
import SyncContract
import Synchronization
import Testing

@testable import OfflineSync

/// What a pull brings.
private final class Page: Sendable {
    private let page = Mutex(PullPage(records: []))

    var value: PullPage {
        get { page.withLock { $0 } }
        set { page.withLock { $0 = newValue } }
    }
}

@Suite("A purge of a whole table that keeps the progress of pulls", .timeLimit(.minutes(3)))
struct PurgeWithProgressTests {
    private let all = Query("TodoItem")
    private let page = Page()

    /// A context whose pulls bring the page from a cursor that rows below it have passed.
    private func context(assignsIDs: Bool = false) throws -> (SyncContext, ScriptedRemote) {
        let passes: @Sendable (Record, String) -> Bool = { row, cursor in
            (row.updatedAt?.milliseconds ?? 0) < Int64(cursor) ?? 0
        }
        let remote = ScriptedRemote(passes: passes) { [page] _, _ in page.value }
        let table = TableDefinition(todoTable.name, columns: todoTable.columns, assignsIDs: assignsIDs)
        return (SyncContext(store: try makeStore(table), remote: remote), remote)
    }
}

extension PurgeWithProgressTests {
    @Test("leaves what an earlier purge keeps away where it is")
    func earlierPurge() async throws {
        let (context, _) = try context()
        page.value = PullPage(records: [serverRow("a", stamp: 5_000), serverRow("b", stamp: 9_000)], cursor: "4000")
        try await context.pull(all, queryID: "one")
        try await context.purge(all.filtered(by: Column("id") == "a"))
        try await context.purge(all, resettingDeltaTokens: false)
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context).isEmpty)
    }

    @Test("keeps rows away from each pull, also where the name of one and an id read like those of another")
    func namesThatRunTogether() async throws {
        let (context, _) = try context()
        let rows = [serverRow("1x", stamp: 5_000), serverRow("x", stamp: 5_000)]
        page.value = PullPage(records: rows, cursor: "4000")
        for name in ["a", "a1"] { try await context.pull(all, queryID: name) }
        #expect(try await context.purge(all, resettingDeltaTokens: false) == 2)
        for name in ["a", "a1"] { try await context.pull(all, queryID: name) }
        #expect(try await texts(context).isEmpty)
    }

    @Test(
        "has a row come that is marked to be fetched: what was here is not what the server has",
        arguments: [false, true]
    )
    func marked(assignsIDs: Bool) async throws {
        let (context, remote) = try context(assignsIDs: assignsIDs)
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)], cursor: "6000")
        try await context.pull(all, queryID: "one")
        let id = try #require(try await texts(context).keys.first)
        #expect((id == "a") != assignsIDs)
        try await context.store.write { try ConfigurationTable.requestRefetch(of: id, in: "TodoItem", &$0) }
        remote.put(serverRow("a", "newer", version: "v2", stamp: 5_500))
        try await context.purge(all, resettingDeltaTokens: false)
        page.value = PullPage(records: [], cursor: "6000")
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == [id: "newer"])
    }

    @Test("has no row come that is marked to be fetched and that is what was here", arguments: [false, true])
    func markedAsItWas(assignsIDs: Bool) async throws {
        let (context, remote) = try context(assignsIDs: assignsIDs)
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)], cursor: "6000")
        try await context.pull(all, queryID: "one")
        let id = try #require(try await texts(context).keys.first)
        remote.put(serverRow("a", stamp: 5_000))
        try await context.store.write { try ConfigurationTable.requestRefetch(of: id, in: "TodoItem", &$0) }
        try await context.purge(all, resettingDeltaTokens: false)
        page.value = PullPage(records: [], cursor: "6000")
        for _ in 0..<2 { try await context.pull(all, queryID: "one") }
        #expect(try await texts(context).isEmpty)
        #expect(remote.askedByID == ["a"])
    }

    @Test("of some rows has those come that are marked to be fetched and that are not what was here")
    func markedOfACondition() async throws {
        let (context, remote) = try context()
        page.value = PullPage(records: [serverRow("a", stamp: 5_000), serverRow("b", stamp: 5_000)], cursor: "6000")
        try await context.pull(all, queryID: "one")
        for id in ["a", "b"] {
            try await context.store.write { try ConfigurationTable.requestRefetch(of: id, in: "TodoItem", &$0) }
        }
        remote.put(serverRow("a", stamp: 5_000))
        remote.put(serverRow("b", "newer", version: "v2", stamp: 5_500))
        #expect(try await context.purge(all.ordered(by: "id", .descending).limited(to: 1)) == 1)
        page.value = PullPage(records: [], cursor: "6000")
        try await context.pull(all, queryID: "one")
        #expect(try await texts(context) == ["a": "milk", "b": "newer"])
        #expect(remote.askedByID == ["a", "b"])
    }

    @Test("goes on naming the rows that do not fit; a purge from the beginning forgets them until they come")
    func setAside() async throws {
        let (context, _) = try context()
        let row = SetAsideRow(id: "x", reason: "on purpose")
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)], setAside: [row], cursor: "6000")
        try await context.pull(all, queryID: "one")
        try await context.purge(all, resettingDeltaTokens: false)
        #expect(try await context.setAsideRows().map(\.id) == ["x"])
        try await context.purge(all)
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test(
        "has no row come that was set aside for a while and that is what was here, but one that is newer",
        arguments: [false, true],
        [false, true]
    )
    func setAside(assignsIDs: Bool, isNewer: Bool) async throws {
        let (context, _) = try context(assignsIDs: assignsIDs)
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)], cursor: "6000")
        try await context.pull(all, queryID: "one")
        let id = try #require(try await texts(context).keys.first)
        var row = SetAsideRow(id: "a", reason: "on purpose")
        row.mayPass = true
        page.value = PullPage(records: [], setAside: [row])
        try await context.pull(all, queryID: "one")
        #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
        try await context.purge(all, resettingDeltaTokens: false)
        let found = isNewer ? serverRow("a", "newer", version: "v2", stamp: 5_500) : serverRow("a", stamp: 5_000)
        page.value = PullPage(records: [found])
        try await context.retrySetAsideRows()
        #expect(try await texts(context) == (isNewer ? [id: "newer"] : [:]))
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("has no row stay among those set aside that only a pull with parameters meets, and that is what was here")
    func setAsideWithParameters() async throws {
        let areQuestions = Switch()
        let passes: @Sendable (Record, String) -> Bool = { _, _ in true }
        let remote = ScriptedRemote(passes: passes) { [page] request, _ in
            areQuestions.isOn && request.predicate == nil ? PullPage(records: []) : page.value
        }
        let context = SyncContext(store: try makeStore(), remote: remote)
        let options = PullOptions(order: .pullOnly, parameters: ["archived": "1"])
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)], cursor: "6000")
        try await context.pull(all, queryID: "one", options: options)
        var row = SetAsideRow(id: "a", reason: "on purpose")
        row.mayPass = true
        page.value = PullPage(records: [], setAside: [row])
        try await context.pull(all, queryID: "one", options: options)
        try await context.purge(all, resettingDeltaTokens: false)
        // Who asks without them is shown nothing, which says nothing.
        page.value = PullPage(records: [])
        try await context.retrySetAsideRows()
        areQuestions.isOn = true
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)])
        try await context.pull(all, queryID: "one", options: options)
        #expect(try await texts(context).isEmpty)
        #expect(try await context.setAsideRows().isEmpty)
    }

    @Test("goes on naming a row that was set aside for good, though nothing tells what was here")
    func setAsideWithoutVersion() async throws {
        let (context, _) = try context()
        page.value = PullPage(records: [Record(id: "a", ["text": "milk"])], cursor: "6000")
        try await context.pull(all, queryID: "one")
        page.value = PullPage(records: [], setAside: [SetAsideRow(id: "a", reason: "on purpose")])
        try await context.pull(all, queryID: "one")
        try await context.purge(all, resettingDeltaTokens: false)
        #expect(try await context.setAsideRows().map(\.itemID) == ["a"])
    }

    @Test("has no row come that is marked to be fetched, is what was here, and whose answer was cut off once")
    func markedAndCutOff() async throws {
        let (context, remote) = try context()
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)], cursor: "6000")
        try await context.pull(all, queryID: "one")
        try await context.store.write { try ConfigurationTable.requestRefetch(of: "a", in: "TodoItem", &$0) }
        try await context.purge(all, resettingDeltaTokens: false)
        remote.beforeNextLookUp { throw RemoteError(.invalidResponse, "cut off, on purpose", status: 200) }
        page.value = PullPage(records: [], cursor: "6000")
        #expect(try await context.pull(all, queryID: "one").notFetched == 1)
        page.value = PullPage(records: [serverRow("a", stamp: 5_000)])
        try await context.retrySetAsideRows()
        #expect(try await texts(context).isEmpty)
        #expect(try await context.setAsideRows().isEmpty)
    }
}
