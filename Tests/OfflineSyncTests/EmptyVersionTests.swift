import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("A row whose version is an empty text")
struct EmptyVersionTests {
    @Test("has none: a change of others is not written over", arguments: [true, false])
    func change(deletes: Bool) async throws {
        let (server, store) = (GroupServer(), try makeStore())
        let context = SyncContext(store: store, remote: server)
        let table = try context.table("TodoItem")
        try await store.upsert([Record(id: "a", ["text": "milk", "version": ""])], table: "TodoItem")
        server.change("a", "theirs")
        if deletes { try await table.delete("a") } else { try await table.update(Record(id: "a", ["text": "mine"])) }
        #expect(try await context.push().conflicts.count == 1)
        #expect(server.texts == ["a": "theirs"] && server.begun.isEmpty, "it is looked up first")
        #expect(try await store.verifyQueue().isEmpty)
    }
}
