import RemoteContract
import SyncContract
import Synchronization

/// A server of rows that takes what it is given.
final class RowServer: SyncRemote {
    private let rows = Mutex<[String: Record]>([:])
    private let failure = Mutex<RemoteError?>(nil)
    let replacesWholeRows = false

    /// What every write fails with from here on.
    func fail(with error: RemoteError?) { failure.withLock { $0 = error } }

    private func write(_ record: Record) throws -> Record {
        if let error = failure.withLock({ $0 }) { throw error }
        var record = record
        record["version"] = .string("\(record.fields.count)")
        rows.withLock { $0[record.id.stringValue ?? ""] = record }
        return record
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { try write(record) }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { try write(record) }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        if let error = failure.withLock({ $0 }) { throw error }
        rows.withLock { $0[id] = nil }
        return .confirmed
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? { rows.withLock { $0[id] } }

    func confirm(_ table: TableDefinition) async throws {}

    /// Nothing is ever new.
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { PullPage(records: []) }
}
