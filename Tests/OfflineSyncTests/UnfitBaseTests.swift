import OfflineSync
import RemoteContract
import SyncContract
import Testing

@Suite("A change whose base does not fit the table any more")
struct UnfitBaseTests {
    @Test("is read all the same, as one whose base is not known")
    func unfit() async throws {
        let store = try makeStore()
        let context = SyncContext(store: store, remote: UnavailableRemote.unreachable)
        let table = try context.table(todoTable.name)
        try await store.upsert([Record(id: "a", ["text": "milk", "version": "djE="])], table: table.name)
        try await table.update(Record(id: "a", ["text": "cream"]))
        // The server's column was not declared when the change was made, and now is, as a date.
        let properties = #"{"type":1,"base":{"id":"a","text":"milk","version":"djE=","due":"soon"}}"#
        try await store.upsert(
            [Record(id: 1, ["properties": .bytes(Array(properties.utf8))])],
            table: SystemTables.operations.name
        )
        #expect(try await context.operations().map(\.baseVersion) == ["djE="])
        #expect(try await store.verifyQueue().isEmpty)
        try await table.update(Record(id: "a", ["complete": true]))
        #expect(try await syncErrorCode { _ = try await context.push() } == .pushAbortedNetwork)
    }
}
