import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

/// A new version of the app opens the store while everything is being brought anew.
@Suite("A store that is migrated while a reset is under way")
struct ResetMigrationTests {
    static let renamed = TableDefinition(
        "Task",
        columns: [.init("text", .string), .init("done", .bool), .init("due", .date)]
    )

    /// What is kept of a reset.
    private static let ofReset = Query("MS_TableConfig")
        .filtered(by: Column("keyType") > 1_049 && Column("keyType") < 1_060)

    @Test("brings what came in the old shape anew, and keeps what was given up in the new one")
    func renamed() async throws {
        let server = HistoryServer()
        let store = try makeStore()
        let context = SyncContext(store: store, remote: server)
        let table = try context.table("TodoItem")
        for id in "abcdefgh" { server.write("\(id)", "\(id)") }
        try await table.pull()
        try await table.update(Record(id: "a", ["text": "given up", "complete": true]))
        let rows = server.texts
        server.reset(to: rows)
        let all = [FreshPull(Query("TodoItem"))]
        #expect(try await context.reset(onto: all, discardsChanges: true).discarded == 1)
        try await context.endReset()

        try await table.update(Record(id: "b", ["text": "mine"]))
        server.reset(to: rows)
        server.onPages { page in
            if page == 3 { throw RemoteError(.unreachable, "on purpose") }
        }
        #expect(
            try await syncErrorCode { _ = try await context.reset(onto: all, discardsChanges: false) } == .pullAborted
        )
        server.onPages(nil)

        let schema = try StoreSchema(
            version: 2,
            [Self.renamed],
            migrations: [
                Migration(
                    to: 2,
                    .renameTable("TodoItem", to: "Task"),
                    .renameColumn("complete", to: "done", in: "Task")
                )
            ]
        )
        let migrated = try await store.reopened(with: schema, translating: .operations)
        let again = SyncContext(store: migrated, remote: server)
        #expect(try await again.resetStage() == .begun)
        let report = try await again.reset(onto: [FreshPull(Query("Task"))], discardsChanges: false)
        #expect(report.waiting == 1 && report.recovered == 1 && report.conflicts == 0)
        #expect(server.pages == 3, "from the beginning")
        #expect(try await texts(again, "Task") == rows.merging(["b": "mine"]) { $1 })
        try await again.endReset()

        let change = try #require(try await again.discardedChanges().first)
        #expect(change.table == "Task" && change.itemID == "a" && change.kind == .update)
        #expect(change.item?["text"] == "given up" && change.item?["done"] == true)
        #expect(change.item?["complete"] == nil && change.baseItem?["text"] == "a")
        #expect(try await again.push().pushed == 1)
        try await again.pull(Query("Task"))
        #expect(try await texts(again, "Task") == server.texts && server.texts["b"] == "mine")
        #expect(try await migrated.verifyQueue().isEmpty)
        let settings = try await migrated.read(Self.ofReset).records
        #expect(settings.count == 1, "nothing is left of it but what was given up")
    }

    @Test("forgets what came of a table that is dropped, and goes on with the others")
    func dropped() async throws {
        let server = HistoryServer()
        let other = TableDefinition("Note", columns: [.init("text", .string)])
        let store = MemoryStore(try StoreSchema([todoTable, other]))
        let context = SyncContext(store: store, remote: server)
        server.reset(to: ["a": "a", "b": "b", "c": "c", "d": "d"])
        server.onPages { page in
            if page == 4 { throw RemoteError(.unreachable, "on purpose") }
        }
        let both = [FreshPull(Query("Note")), FreshPull(Query("TodoItem"))]
        _ = try await syncErrorCode { _ = try await context.reset(onto: both, discardsChanges: false) }
        server.onPages(nil)
        let schema = try StoreSchema(
            version: 2,
            [todoTable],
            migrations: [Migration(to: 2, .dropTable("Note"))]
        )
        let migrated = try await store.reopened(with: schema, translating: .operations)
        let again = SyncContext(store: migrated, remote: server)
        _ = try await again.reset(onto: [FreshPull(Query("TodoItem"))], discardsChanges: false)
        #expect(try await texts(again) == server.texts)
        try await again.endReset()
        let settings = try await migrated.read(Self.ofReset).records
        #expect(settings.isEmpty)
    }
}
