import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// Rows of the server that are kept beside changes. A column was not declared when they came, and now is, with another type
/// than that of their values.
@Suite("A row kept beside a change that does not fit its table any more")
struct UnfitBaseTests {
    private static let unfit = #"{"id":"a","text":"theirs","version":"v2","due":"soon"}"#
    private static let unfitTombstone = #"{"id":"a","version":"v2","deleted":true,"due":"soon"}"#

    private let store: MemoryStore
    private let remote: ScriptedRemote
    private let context: SyncContext
    private let table: SyncTable<Record>

    init() async throws {
        store = try makeStore()
        remote = ScriptedRemote(pages: [PullPage(records: [serverRow("b"), serverRow("a", "theirs", version: "v2")])])
        context = SyncContext(store: store, remote: remote)
        table = try context.table(todoTable.name)
        try await store.upsert([Record(id: "a", ["text": "milk", "version": "v1"])], table: table.name)
    }

    private func setOperation(_ fields: [String: String]) async throws {
        var operation = Record(id: 1)
        for (name, text) in fields { operation[name] = .bytes(Array(text.utf8)) }
        try await store.upsert([operation], table: SystemTables.operations.name)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("is not known as a base, and the change is sent all the same")
    func base() async throws {
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await setOperation(["properties": #"{"type":1,"base":\#(Self.unfit)}"#])
        #expect(try await context.operations().map(\.baseVersion) == ["v1"])
        try await table.update(Record(id: "a", ["complete": true]))
        _ = try await context.push()
        #expect(remote.row("a")?["text"] == "cream")
        #expect(try await context.operations().isEmpty)
    }

    @Test("stops neither a push nor a pull where the server has shown it, and is asked for when it is needed")
    func shown() async throws {
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await setOperation(["serverItem": Self.unfit])
        #expect(try await context.operations().first?.serverItem == nil)
        try await context.pull(table, options: .init(order: .pullOnly))
        #expect(try await texts(context) == ["a": "cream", "b": "milk"])

        try await setOperation(["serverItem": Self.unfit])
        remote.put(serverRow("a", "newest", version: "v3"))
        try await table.revert("a")
        #expect(try await context.operations().isEmpty)
        try await context.pull(table, options: .init(order: .pullOnly))
        #expect(remote.askedByID == ["a"])
    }

    @Test("is sent over where the server has shown it and nobody has written it since")
    func shownAndPushed() async throws {
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await setOperation(["serverItem": Self.unfit])
        #expect(try await context.push().notTaken.isEmpty)
        #expect(remote.row("a")?["text"] == "cream")
    }

    @Test("is a tombstone whatever it holds")
    func tombstone() async throws {
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await setOperation(["serverItem": Self.unfitTombstone])
        #expect(try await context.operations().first?.serverItem?.isDeleted == true)
    }

    @Test("is deleted, and comes back from the server when that is undone")
    func deleted() async throws {
        try await table.delete("a")
        try await setOperation(["properties": #"{"type":2,"item":\#(Self.unfit)}"#])
        #expect(try await context.operations().first?.deletedItem?["text"] == "theirs")
        try await table.undoDelete("a")
        #expect(try await context.operations().isEmpty)
        // What it holds in the other column is not known here.
        remote.put(serverRow("a", "theirs", version: "v2"))
        try await context.pull(table, options: .init(order: .pullOnly))
        #expect(try await texts(context) == ["a": "theirs", "b": "milk"])
    }

    @Test("is in conflict, which can be read and settled", arguments: [unfit, unfitTombstone])
    func conflict(_ row: String) async throws {
        remote.put(serverRow("a", "theirs", version: "v2"))
        try await table.update(Record(id: "a", ["text": "mine"]))
        #expect(try await context.push().conflicts.count == 1)
        let errors = SystemTables.operationErrors.name
        let stored = try #require(try await store.read(Query(errors)).records.first)
        let new =
            #"{"table":"TodoItem","itemId":"a","operation":1,"conflict":true,"statusCode":412,"description":"","#
            + #""item":{"id":"a","text":"mine","due":"soon"},"serverItem":\#(row)}"#
        try await store.upsert([Record(id: stored.id, ["properties": .bytes(Array(new.utf8))])], table: errors)
        try await setOperation(["serverItem": row])

        let error = try #require(try await context.push().conflicts.first)
        #expect(try await context.operationErrors().count == 1)
        #expect(error.item?["text"] == "mine" && error.isConflict)
        #expect(error.isDeletedOnServer == (row == Self.unfitTombstone))
        try await context.resolve(error, with: .takeServer)
        #expect(try await context.operations().isEmpty)
    }
}
