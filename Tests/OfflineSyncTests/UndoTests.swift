import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("Changes taken back without a network")
struct UndoTests {
    private let store: MemoryStore
    private let context: SyncContext
    private let table: SyncTable<Record>
    private let row = Record(id: "a", ["text": "milk", "complete": false, "version": "1", "note": "kept"])

    init() throws {
        let definition = TableDefinition(
            "TodoItem",
            columns: todoTable.columns + [.init("note", .string, isLocal: true)]
        )
        store = try makeStore(definition)
        context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        table = try context.table("TodoItem")
    }

    @Test("revert brings back the row as the server last had it, and leaves what is only here")
    func revertUpdate() async throws {
        try await store.upsert([row], table: "TodoItem")
        try await table.update(Record(id: "a", ["text": "cream", "complete": .null]))
        try await table.update(Record(id: "a", ["note": "new"]))
        try await table.revert("a")
        #expect(try await table.read("a")?["text"] == "milk")
        #expect(try await table.read("a")?["complete"] == false)
        #expect(try await table.read("a")?["note"] == "new")
        #expect(try await context.operations().isEmpty)
    }

    @Test("revert brings back a deleted row, and removes one that the server never had")
    func revertDeleteAndInsert() async throws {
        try await store.upsert([row], table: "TodoItem")
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await table.delete("a")
        try await table.revert("a")
        #expect(try await table.read("a")?["text"] == "milk")
        #expect(try await table.read("a")?["note"] == "kept")
        try await table.insert(["text": "new"], id: "b")
        try await table.revert("b")
        #expect(try await table.read("b") == nil)
        #expect(try await context.operations().isEmpty)
        try await table.revert("nothing waits for this")
    }

    @Test("revert drops what the server has said of a change, also while that may still arrive")
    func revertRefused() async throws {
        let server = GroupServer { _ in throw RemoteError(.refused, "too large", status: 413) }
        let context = SyncContext(store: store, remote: server)
        let table = try context.table("TodoItem")
        try await table.insert(["text": "milk"], id: "a")
        #expect(try await context.push().failures.count == 1)
        try await table.revert("a")
        #expect(try await context.operationErrors().isEmpty)
        #expect(try await context.operations().map(\.isUndo) == [true])
    }

    @Test("the deletion of an item that is not here, taken back, makes no empty one of it")
    func deletionOfNothing() async throws {
        try await table.delete("gone", version: "1")
        #expect(try await context.operations().count == 1)
        try await table.undoDelete("gone")
        #expect(try await table.read("gone") == nil)
        #expect(try await context.operations().isEmpty)
    }

    @Test("such a deletion, taken back while a push asks what has become of it, brings the server's row")
    func deletionOfNothingUnderWay() async throws {
        for number in 1...12 {
            let (server, store) = (GroupServer(), try makeStore())
            let context = SyncContext(store: store, remote: server)
            let table = try context.table("TodoItem")
            server.change("a", "milk")
            try await table.delete("a", version: "1")
            server.script = { _ in throw RemoteError(.serverFailure, "no answer", status: 500) }
            #expect(try await context.push().failures.count == 1)
            server.script = { _ in }
            let edited = EditedStore(base: store, number: number) { try await table.revert("a") }
            #expect(try await SyncContext(store: edited, remote: server).push().notTaken.isEmpty, "write \(number)")
            // Where the push was over before that.
            try await edited.edit()
            #expect(try await context.push().notTaken.isEmpty)
            #expect(try await context.operations().isEmpty, "write \(number)")
            #expect(try await texts(context) == server.texts, "write \(number)")
        }
    }

    @Test("an item whose making was given up can be deleted instead, when the server refuses to take it back")
    func deletedInstead() async throws {
        let server = GroupServer { _ in throw RemoteError(.unreachable, "no answer") }
        let context = SyncContext(store: store, remote: server)
        let table = try context.table("TodoItem")
        try await table.insert(["text": "milk"], id: "a")
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
        try await table.revert("a")
        server.script = { _ in throw RemoteError(.refused, "too large", status: 413) }
        #expect(try await context.push().failures.count == 1)
        try await context.resolve(try #require(try await context.operationErrors().first), with: .deleteInstead)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("undoDelete takes back the deletion only, and what waited before it waits again")
    func undoDelete() async throws {
        try await store.upsert([row], table: "TodoItem")
        try await table.update(Record(id: "a", ["text": "cream"]))
        try await table.delete("a")
        try await table.undoDelete("a")
        #expect(try await table.read("a")?["text"] == "cream")
        #expect(try await context.operations().map(\.kind) == [.update])
        try await table.revert("a")
        #expect(try await table.read("a")?["text"] == "milk")
        try await table.delete("a")
        try await table.undoDelete("a")
        #expect(try await table.read("a")?["note"] == "kept")
        #expect(try await context.operations().isEmpty)
        #expect(try await syncErrorCode { try await table.undoDelete("a") } == .invalidAction)
    }

    @Test("an insert that a deletion has cancelled comes back in its place, until the next push starts")
    func undoCancelled() async throws {
        try await table.insert(["text": "first"], id: "a")
        try await table.insert(["text": "second"], id: "b")
        try await table.delete("a")
        #expect(try await context.operations().map(\.itemID) == ["b"])
        try await table.undoDelete("a")
        #expect(try await context.operations().map(\.itemID) == ["a", "b"])
        #expect(try await table.read("a")?["text"] == "first")
        try await table.delete("a")
        _ = try await syncErrorCode { _ = try await context.push() }
        #expect(try await syncErrorCode { try await table.undoDelete("a") } == .invalidAction)
        #expect(try await store.verifyQueue().isEmpty)
    }

    @Test("an item deleted and inserted again keeps what its row is based on, and reverts to it")
    func insertAgain() async throws {
        try await store.upsert([row], table: "TodoItem")
        try await table.delete("a")
        try await table.insert(["text": "again"], id: "a")
        let operation = try #require(try await context.operations().first)
        #expect(operation.kind == .update && operation.baseVersion == "1" && operation.baseItem?["text"] == "milk")
        try await table.revert("a")
        #expect(try await table.read("a")?["text"] == "milk")
    }
}
