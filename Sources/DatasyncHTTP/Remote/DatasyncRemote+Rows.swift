internal import HTTPTransport
internal import RemoteContract
public import SyncContract

extension DatasyncRemote {
    /// Creates a row; see ``RemoteContract/SyncRemote/insert(_:into:)``.
    public func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await write(try wire.insert(record, into: table), of: record, in: table)
    }

    /// Writes a row; see ``RemoteContract/SyncRemote/update(_:in:version:restoring:)``.
    ///
    /// Protocol 2 brings a row back by a request of its own before the change. When the change then fails, the row stays
    /// brought back, with the content it was deleted with.
    public func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        var request = try wire.update(record, in: table, version: version, restoring: restoring)
        if restoring, let id = request.id, let restore = wire.restore(id, in: table, version: version) {
            let restored = try await write(restore, of: record, in: table)
            if version != nil { request.ifMatch = restored.version }
        }
        let row = try await write(request, of: record, in: table)
        // Protocol 2 changes deleted rows, which then stay deleted.
        guard !row.isDeleted else { throw conflict(with: row, in: table, status: 200) }
        return row
    }

    /// Deletes a row; see ``RemoteContract/SyncRemote/delete(_:from:version:)``.
    public func delete(_ id: String, from table: TableDefinition, version: String?) async throws {
        let response = try await exchange(wire.delete(id, from: table, version: version))
        switch response.mapping {
        case .success:
            // Nothing, or the deleted row. A login page must not pass for a deletion.
            if !response.body.isEmpty { _ = try response.json() }
        case .gone, .failure(.notFound): return
        case .conflict:
            let row: Record?
            if let told = RowReader(table: table).conflictingRow(id, in: response) {
                row = told
            } else {
                row = try await self.record(id, in: table)
            }
            if let row, !row.isDeleted { throw conflict(with: row, in: table, status: response.status) }
        case .failure: throw response.failure(table: table.name)
        }
    }

    /// One row, tombstones included; see ``RemoteContract/SyncRemote/record(_:in:)``.
    public func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        let response = try await exchange(try wire.lookup(id, in: table))
        let reader = RowReader(table: table)
        switch response.mapping {
        case .success:
            return wire.lookupRespondsWithList
                ? try reader.row(id, inListOf: response) : try reader.row(id, in: response)
        case .failure(.notFound), .gone: return nil
        case .conflict, .failure: throw response.failure(table: table.name)
        }
    }

    /// Sends a request that is answered by the row it wrote.
    private func write(_ request: WireRequest, of record: Record, in table: TableDefinition) async throws -> Record {
        let id = try record.serverID(in: table)
        let response = try await exchange(request)
        let reader = RowReader(table: table)
        switch response.mapping {
        case .success:
            let row = try reader.row(id, in: response)
            learn(row.updatedAt, of: table, from: response)
            return row
        case .conflict:
            if let row = reader.conflictingRow(id, in: response) {
                throw conflict(with: row, in: table, status: response.status)
            }
            throw try await conflictByLookup(id, in: table, status: response.status)
        case .gone: throw try await conflictByLookup(id, in: table, status: response.status)
        case .failure: throw response.failure(table: table.name)
        }
    }

    /// The error of a conflict whose answer lacks the server's row.
    ///
    /// - Throws: What the look-up failed with, when trying again later can help. Otherwise the conflict goes without a
    ///   row: repeating the write would only bring up the same conflict.
    private func conflictByLookup(
        _ id: String,
        in table: TableDefinition,
        status: Int
    ) async throws -> RemoteError {
        do {
            return conflict(with: try await self.record(id, in: table), in: table, status: status)
        } catch let error as RemoteError where error.code == .refused || error.code == .invalidResponse {
            return conflict(with: nil, in: table, status: status, cause: error)
        }
    }

    private func conflict(
        with row: Record?,
        in table: TableDefinition,
        status: Int,
        cause: (any Error)? = nil
    ) -> RemoteError {
        let reason =
            switch row {
            case nil: "has a conflicting row in table '\(table.name)', which could not be had"
            case .some(let row) where row.isDeleted: "has deleted the row in table '\(table.name)'"
            case .some: "has another version of the row in table '\(table.name)'"
            }
        return RemoteError(
            .conflict,
            "\(endpoint.authority) \(reason); resolve the conflict.",
            status: status,
            serverRecord: row,
            cause: cause
        )
    }
}
