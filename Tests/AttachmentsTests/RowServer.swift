import RemoteContract
import SyncContract
import Synchronization

/// A server of rows that takes what it is given, unless somebody else was faster.
final class RowServer: SyncRemote {
    fileprivate struct State {
        var rows: [String: Record] = [:]
        var version = 0
        var failure: RemoteError?
        /// Whether its column of photos is a GUID, which it shows in upper case.
        var hasGUIDs = false
        /// The photo that rows get, whatever is written.
        var photo: FieldValue?
    }

    private let state = Mutex(State())
    let replacesWholeRows = false

    /// What every write fails with from here on.
    func fail(with error: RemoteError?) { state.withLock { $0.failure = error } }

    /// It has no rows any more, and no trace of them.
    func forget() { state.withLock { $0.rows = [:] } }

    func keepPhotosAsGUIDs() { state.withLock { $0.hasGUIDs = true } }

    /// It gives rows this photo, whatever is written.
    func setPhotos(to photo: FieldValue) { state.withLock { $0.photo = photo } }

    /// Another device changes a row, or all.
    func change(_ ids: [String]? = nil, to fields: [String: FieldValue]) throws {
        try state.withLock { state in
            for id in ids ?? Array(state.rows.keys) {
                var record = Record(id: .string(id))
                for (name, value) in fields { record[name] = value }
                _ = try state.write(record, version: nil, restoring: true)
            }
        }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try state.withLock { try $0.write(record, version: nil, restoring: true) }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { try state.withLock { try $0.write(record, version: version, restoring: restoring) } }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try state.withLock { state in
            try state.check(id, version, restoring: false)
            state.rows[id] = nil
            return .confirmed
        }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? { state.withLock { $0.rows[id] } }

    func confirm(_ table: TableDefinition) async throws {}

    /// Nothing is ever new.
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { PullPage(records: []) }
}

extension RowServer.State {
    func check(_ id: String, _ version: String?, restoring: Bool) throws {
        if let failure { throw failure }
        guard let version else { return }
        guard let row = rows[id] else { throw RemoteError(.notFound, "There is no such row.", status: 404) }
        if row.version == version, restoring || !row.isDeleted { return }
        throw RemoteError(.conflict, "Somebody was faster.", status: 412, serverRecord: row)
    }

    mutating func write(_ record: Record, version: String?, restoring: Bool) throws -> Record {
        let id = record.id.stringValue ?? ""
        try check(id, version, restoring: restoring)
        var row = rows[id] ?? Record(id: record.id)
        row["deleted"] = nil
        for (name, value) in record.fields { row[name] = value }
        if let photo { row["photo"] = photo }
        if hasGUIDs, let photo = row["photo"]?.stringValue { row["photo"] = .string(photo.uppercased()) }
        self.version += 1
        row["version"] = .string("\(self.version)")
        rows[id] = row
        return row
    }
}
