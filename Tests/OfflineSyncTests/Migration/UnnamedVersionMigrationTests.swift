import OfflineSync
import ReferenceStore
import RemoteContract
import Synchronization
import SyncContract
import Testing

/// Answers to changes show the row without its version, and rows without columns that have no value.
private final class UnnamingRemote: SyncRemote {
    private let rows = Mutex<[String: Record]>([:])
    private let writes = Mutex(0)

    let replacesWholeRows = true

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { write(record) }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        let known = row(record.id.stringValue ?? "")
        guard version == known?.version else {
            throw RemoteError(.conflict, "another version", status: 412, serverRecord: known)
        }
        return write(record)
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        .confirmed
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? { row(id) }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { PullPage(records: [row("other")].compactMap(\.self), cursor: "1") }

    func row(_ id: String) -> Record? { rows.withLock { $0[id] } }

    /// Changes rows as the server's own migration does: their versions stay.
    func fill(_ column: String, with value: FieldValue) {
        rows.withLock { rows in for id in rows.keys { rows[id]?[column] = value } }
    }

    @discardableResult
    func write(_ record: Record) -> Record {
        let number = writes.withLock { writes in
            writes += 1
            return writes
        }
        var row = record
        for name in record.names where record[name]?.isNull ?? false { row[name] = nil }
        let shown = row
        row["version"] = .string("v\(number)")
        rows.withLock { $0[record.id.stringValue ?? ""] = row }
        return shown
    }
}

@Suite("A change of a row whose version the server has not named")
struct UnnamedVersionMigrationTests {
    @Test(
        "is no conflict with oneself after a migration that fills a column, whether or not the server fills it",
        arguments: [true, false],
        [true, false]
    )
    func filled(_ serverFills: Bool, _ isUpdate: Bool) async throws {
        let remote = UnnamingRemote()
        let before = try StoreSchema([TableDefinition("Bill", columns: [.init("text", .string)])])
        let store = MemoryStore(before)
        var context = SyncContext(store: store, remote: remote)
        try await context.table("Bill").insert(["text": "before"], id: "a")
        #expect(try await context.push().pushed == 1)
        if isUpdate {
            try await context.table("Bill").update(Record(id: "a", ["text": "mine"]))
        } else {
            try await context.table("Bill").delete("a")
        }
        let after = try StoreSchema(
            version: 2,
            [TableDefinition("Bill", columns: [.init("text", .string), .init("status", .string)])],
            migrations: [Migration(to: 2, .fillColumn("status", in: "Bill", with: "open"))]
        )
        if serverFills { remote.fill("status", with: "open") }
        let migrated = try await store.reopened(with: after, translating: .operations)
        context = SyncContext(store: migrated, remote: remote)
        // From here on a row that does not have the column has no value in it.
        remote.write(Record(id: "other", ["text": "theirs", "status": "sent"]))
        try await context.pull(Query("Bill"), options: PullOptions(order: .pullOnly))
        let report = try await context.push()
        #expect(report.pushed == 1 && report.conflicts.isEmpty)
        if isUpdate { #expect(remote.row("a")?["text"] == "mine") }
        #expect(try await migrated.verifyQueue().isEmpty)
    }
}
