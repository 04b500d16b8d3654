internal import HTTPTransport
internal import RemoteContract
public import SyncContract

extension DatasyncRemote {
    /// Makes sure that a row is a tombstone; see ``/RemoteContract/SyncRemote/writeTombstone(_:in:version:)``.
    ///
    /// Protocol 3 says `"deleted": true`. Protocol 2 has no word for it: a row is created and then deleted, and a change of
    /// a tombstone leaves it one. The predecessor, in both protocols, and version 4 of the Node server do not change a
    /// deleted row at all: there it is restored and deleted again.
    public func writeTombstone(
        _ record: Record,
        in table: TableDefinition,
        version: String?
    ) async throws -> Record? {
        guard let version else {
            let created = try await step {
                try await create(record, in: table, by: try wire.insertTombstone(record, into: table))
            }
            return try await afterChange { try await tombstone(of: created, in: table, over: nil) }
        }
        let response = try await exchange(try wire.updateTombstone(record, in: table, version: version))
        let isHidden = response.mapping == .gone || wire.hidesDeletedRows && response.mapping == .failure(.notFound)
        return try await afterRequest {
            let row = try await step {
                isHidden
                    ? try await restoreHidden(record, in: table, version: version, after: response)
                    : try await written(record, in: table, over: version, by: response)
            }
            return try await afterChange { try await tombstone(of: row, in: table, over: version) }
        }
    }

    /// Restores a tombstone that the server does not change, to delete it again.
    ///
    /// - Returns: The restored row; the tombstone where the server cannot restore it either, for then nobody can.
    private func restoreHidden(
        _ record: Record,
        in table: TableDefinition,
        version: String,
        after refusal: ServerResponse
    ) async throws -> Record {
        do {
            return wire.replacesWholeRows
                ? try await restoreByPatch(record, in: table, version: version, after: refusal)
                : try await restore(record, in: table, version: version)
        } catch let error as RemoteError where error.code == .conflict {
            guard let row = error.serverRecord, row.isDeleted, row.version == version else { throw error }
            return row
        }
    }

    /// Deletes a row that was written just now, unless it is deleted. Where the answer named no version the one before stands for
    /// it, so that it can be no later row of others.
    ///
    /// - Throws: The conflict with whoever changed it meanwhile.
    private func tombstone(of row: Record, in table: TableDefinition, over version: String?) async throws -> Record? {
        guard !row.isDeleted else { return row }
        let id = try row.serverID(in: table)
        let deletion = try await deletion(of: id, from: table, version: row.version ?? version)
        guard deletion.answer != .confirmed, let found = try await rowInTheWay(id, in: table, of: nil) else {
            return deletion.tombstone
        }
        // Somebody else was faster.
        guard found.isDeleted else { throw conflict(with: found, in: table, by: nil, status: 412) }
        return found
    }
}
