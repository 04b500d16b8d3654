import OfflineSync
import ReferenceStore
import RemoteContract
import SyncContract
import Testing

@Suite("A change of a row whose version the server has not named")
struct UnnamedVersionMigrationTests {
    /// What an answer to a change shows of the row: not its version.
    @Sendable private static func unnamed(_ row: Record) -> Record {
        var row = row
        row["version"] = nil
        return row
    }

    private func make(_ updates: Bool, _ context: SyncContext, of id: String = "a") async throws {
        if updates {
            try await context.table("Bill").update(Record(id: .string(id), ["text": "mine"]))
        } else {
            try await context.table("Bill").delete(id)
        }
    }

    /// A server whose answers name no versions; other rows have a value in the column that a migration adds.
    private func server() -> ScriptedRemote {
        ScriptedRemote(shown: Self.unnamed) { _, _ in
            // From here on a row that does not have the column has no value in it.
            let other = Record(id: "other", ["text": "theirs", "status": "sent", "version": "v1"])
            return PullPage(records: [other], cursor: "1")
        }
    }

    private func schemas() throws -> (before: StoreSchema, after: StoreSchema) {
        let before = try StoreSchema([TableDefinition("Bill", columns: [.init("text", .string)])])
        let after = try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: [.init("text", .string), .init("status", .string)])],
            migrations: [Migration(to: 2, .fillColumn("status", in: "Bill", with: "open"))]
        )
        return (before, after)
    }

    @Test("is an insert where the table stayed on the device before, also when the migration fills a column")
    func localBefore() async throws {
        let remote = ScriptedRemote { _, _ in PullPage(records: [], cursor: "1") }
        let before = try StoreSchema([TableDefinition("Bill", columns: [.init("text", .string)], isLocalOnly: true)])
        let store = MemoryStore(before)
        try await SyncContext(store: store, remote: remote).table("Bill").insert(["text": "before"], id: "a")
        let after = try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: [.init("text", .string), .init("status", .string)])],
            migrations: [Migration(to: 2, .fillColumn("status", in: "Bill", with: "open"))]
        )
        let migrated = try await store.reopened(with: after, translating: .operations)
        let context = SyncContext(store: migrated, remote: remote)
        try await context.pull(Query("Bill"), options: PullOptions(order: .pullOnly, reconciles: true))
        #expect(try await context.push().pushed == 1)
        #expect(remote.row("a")?["status"] == "open")
        #expect(try await context.table("Bill").read("a") != nil)
    }

    @Test(
        "is no conflict with oneself after a migration that fills a column, whether or not the server fills it",
        arguments: [true, false],
        [(true, true), (true, false), (false, true), (false, false)]
    )
    func filled(_ serverFills: Bool, _ change: (updates: Bool, waits: Bool)) async throws {
        let remote = server()
        let (before, after) = try schemas()
        let store = MemoryStore(before)
        var context = SyncContext(store: store, remote: remote)
        try await context.table("Bill").insert(["text": "before"], id: "a")
        #expect(try await context.push().pushed == 1)
        if change.waits { try await make(change.updates, context) }
        if serverFills {
            // As the server's own migration does: the version stays.
            var row = try #require(remote.row("a"))
            row["status"] = "open"
            remote.put(row)
        }
        let migrated = try await store.reopened(with: after, translating: .operations)
        context = SyncContext(store: migrated, remote: remote)
        if !change.waits { try await make(change.updates, context) }
        try await context.pull(Query("Bill"), options: PullOptions(order: .pullOnly))
        let report = try await context.push()
        #expect(report.pushed == 1 && report.conflicts.isEmpty)
        if change.updates { #expect(remote.row("a")?["text"] == "mine") }
        #expect(try await migrated.verifyQueue().isEmpty)
    }

    @Test(
        "is none either in the last of more rows than a migration looks at in one go",
        .timeLimit(.minutes(1)),
        arguments: [true, false]
    )
    func lastOfMany(_ updates: Bool) async throws {
        let remote = server()
        let (before, after) = try schemas()
        let store = MemoryStore(before)
        var context = SyncContext(store: store, remote: remote)
        let ids = (1_000...1_500).map { "r\($0)" }
        let table = try context.table("Bill")
        for id in ids { try await table.insert(["text": "before"], id: id) }
        #expect(try await context.push().pushed == ids.count)
        let migrated = try await store.reopened(with: after, translating: .operations)
        context = SyncContext(store: migrated, remote: remote)
        try await make(updates, context, of: "r1500")
        try await context.pull(Query("Bill"), options: PullOptions(order: .pullOnly))
        let report = try await context.push()
        #expect(report.pushed == 1 && report.conflicts.isEmpty)
        if updates { #expect(remote.row("r1500")?["text"] == "mine") }
    }
}
