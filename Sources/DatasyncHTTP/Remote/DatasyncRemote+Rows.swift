internal import HTTPTransport
public import RemoteContract
public import SyncContract

extension DatasyncRemote {
    /// Creates a row; see ``/RemoteContract/SyncRemote/insert(_:into:)``.
    public func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        guard !table.assignsIDs else { return try await insertWithoutID(record, into: table) }
        return try await create(record, in: table, by: try wire.insert(record, into: table))
    }

    /// Creates a row under an id that the server chooses.
    private func insertWithoutID(_ record: Record, into table: TableDefinition) async throws -> Record {
        let response = try await exchange(try wire.insert(record, into: table))
        switch response.mapping {
        case .success:
            let row = try reader(of: table).newRow(in: response)
            if response.status == 201 { learn(row.updatedAt, of: table, from: response) }
            return row
        case .conflict, .gone:
            // Which row is in the way is not known: this one has no id yet.
            throw conflict(with: nil, in: table, by: response)
        case .failure: throw response.failure(table: table.name)
        }
    }

    /// Sends a request that creates a row.
    func create(_ record: Record, in table: TableDefinition, by request: WireRequest) async throws -> Record {
        let id = try record.serverID(in: table)
        let response = try await exchange(request)
        guard response.mapping == .success else {
            return try await written(record, in: table, over: nil, by: response)
        }
        let (row, isUnderAnotherID) = try reader(of: table).insertedRow(id, in: response)
        guard !isUnderAnotherID else {
            throw RemoteError(
                .storedUnderAnotherID,
                "\(endpoint.authority) stored the row of table '\(table.name)' under an id of its own, and would store"
                    + " it once more each time it is sent; declare the table with assignsIDs, or let the server keep the"
                    + " ids of new rows.",
                status: response.status,
                serverRecord: row,
                exchange: response.exchange
            )
        }
        // Otherwise it is a row that was there.
        if response.status == 201 { learn(row.updatedAt, of: table, from: response) }
        return row
    }

    /// Writes a row; see ``/RemoteContract/SyncRemote/update(_:in:version:restoring:)``.
    ///
    /// Bringing a row back may take several requests. When a later one of them fails, the row stays brought back, with
    /// the content it was deleted with.
    public func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        let row =
            restoring
            ? try await restore(record, in: table, version: version)
            : try await write(
                try wire.update(record, in: table, version: version, restoring: false),
                of: record,
                in: table
            )
        // Protocol 2 changes deleted rows, which then stay deleted.
        guard !row.isDeleted else { throw conflict(with: row, in: table, by: nil, status: 200) }
        return row
    }

    /// Deletes a row; see ``/RemoteContract/SyncRemote/delete(_:from:version:)``.
    @discardableResult
    public func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await deletion(of: id, from: table, version: version).answer
    }

    /// Deletes a row; gives the tombstone as well when the answer shows it.
    func deletion(
        of id: String,
        from table: TableDefinition,
        version: String?
    ) async throws -> (answer: RemoteDeletion, tombstone: Record?) {
        let response = try await exchange(wire.delete(id, from: table, version: version))
        let unconfirmed = (answer: RemoteDeletion.unconfirmed(status: response.status), tombstone: nil as Record?)
        switch response.mapping {
        case .success where response.status == 204: return (.confirmed, nil)
        case .success:
            guard !response.body.isEmpty else { return unconfirmed }
            // The deleted row. A login page must not pass for a deletion, nor whatever else says yes to everything.
            _ = try response.json()
            guard let row = reader(of: table).conflictingRow(id, in: response) else { return unconfirmed }
            // Without soft delete it is shown as it was last.
            return (.confirmed, row.isDeleted ? row : nil)
        case .gone, .failure(.notFound): return unconfirmed
        case .conflict:
            let told = reader(of: table).conflictingRow(id, in: response)
            let conflict =
                if let told { conflict(with: told, in: table, by: response) } else {
                    try await conflictByLookup(id, in: table, by: response)
                }
            // Without a row and a reason why it could not be had, there is none.
            guard conflict.serverRecord != nil || conflict.cause != nil else { return unconfirmed }
            guard let row = conflict.serverRecord, row.isDeleted else { throw conflict }
            return (.confirmed, row)
        case .failure: throw response.failure(table: table.name)
        }
    }

    /// One row, tombstones included; see ``/RemoteContract/SyncRemote/record(_:in:)``.
    public func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        let request = try wire.lookup(id, in: table)
        let response = try await exchange(request)
        let reader =
            TombstoneContent.isWanted ? RowReader(table: table, wantsTombstones: true) : self.reader(of: table)
        switch response.mapping {
        case .success:
            return request.id == nil ? try reader.row(id, inListOf: response) : try reader.row(id, in: response)
        // A list that is not found is a table that is not there.
        case .failure(.notFound) where request.id != nil, .gone where request.id != nil: return nil
        case .gone, .conflict, .failure: throw response.failure(table: table.name)
        }
    }

    /// Asks the table for a page without rows; see ``/RemoteContract/SyncRemote/confirm(_:)``.
    public func confirm(_ table: TableDefinition) async throws {
        let request = try wire.page(Query(table.name).limited(to: 0), of: table)
        let response = try await exchange(request)
        guard !response.isPage(isBareListAllowed: wire.answersWithBareLists) else { return }
        switch response.mapping {
        case .failure(.unauthorized), .failure(.throttled), .failure(.serverFailure):
            throw response.failure(table: table.name)
        case .failure(.notTheService) where response.status >= 500: throw response.failure(table: table.name)
        default:
            throw RemoteError(
                .notFound,
                "\(endpoint.address(of: request)) has no table of a Datasync service; check the address and the"
                    + " table's name.",
                status: response.status,
                exchange: response.exchange
            )
        }
    }

    /// Sends a request that is answered by the row it wrote.
    func write(_ request: WireRequest, of record: Record, in table: TableDefinition) async throws -> Record {
        try await written(record, in: table, over: request.ifMatch, by: try await exchange(request))
    }

    /// The row that was written over a version, or over whatever there was, read out of the answer.
    func written(
        _ record: Record,
        in table: TableDefinition,
        over version: String?,
        by response: ServerResponse
    ) async throws -> Record {
        let id = try record.serverID(in: table)
        let reader = self.reader(of: table)
        switch response.mapping {
        case .success:
            let row = try reader.row(id, in: response)
            // Only another version shows that something was changed.
            if let version, row.version != version { learn(row.updatedAt, of: table, from: response) }
            return row
        case .conflict:
            if let row = reader.conflictingRow(id, in: response) {
                throw conflict(with: row, in: table, by: response)
            }
            throw try await conflictByLookup(id, in: table, by: response)
        case .gone: throw try await conflictByLookup(id, in: table, by: response)
        case .failure(.notFound) where wire.hidesDeletedRows:
            // It may be deleted: then the app decides about the deletion, and once.
            guard let row = try await rowInTheWay(id, in: table, of: response) else {
                throw response.failure(table: table.name)
            }
            throw conflict(with: row, in: table, by: response)
        case .failure: throw response.failure(table: table.name)
        }
    }

    /// The error of a conflict whose answer lacks the server's row.
    ///
    /// - Throws: What the look-up failed with, when trying again later can help, as after an answer that is no row. Otherwise
    ///   the conflict goes without a row: repeating the write would only bring up the same conflict. For a page for browsers that no
    ///   row explains, that something stands in front of the service.
    func conflictByLookup(
        _ id: String,
        in table: TableDefinition,
        by response: ServerResponse
    ) async throws -> RemoteError {
        do {
            let row = try await afterRequest { try await self.record(id, in: table) }
            let isExplained = row.map { $0.version == nil || $0.version != response.sentVersion } ?? false
            guard isExplained || !response.looksLikeHTML else { throw response.failureInFront(table: table.name) }
            return conflict(with: row, in: table, by: response)
        } catch let error as RemoteError where error.code == .unfitRow || error.code == .refused && !error.isWebPage {
            guard error.code == .unfitRow || !response.looksLikeHTML else {
                throw response.failureInFront(table: table.name)
            }
            return conflict(with: nil, in: table, by: response, cause: error)
        }
    }

    /// The row that kept a change from being made.
    ///
    /// - Throws: The conflict with one that does not fit the table: as an error of its own it would say that the change was
    ///   made.
    func rowInTheWay(_ id: String, in table: TableDefinition, of response: ServerResponse?) async throws -> Record? {
        do {
            return try await afterRequest { try await self.record(id, in: table) }
        } catch let error as RemoteError where error.code == .unfitRow {
            throw conflict(with: nil, in: table, by: response, status: response?.status ?? 412, cause: error)
        }
    }

    /// A row that was written by a step of several: of one that does not fit the table, its id and its version.
    func step(_ write: () async throws -> Record) async throws -> Record {
        do {
            return try await write()
        } catch let error as RemoteError where error.code == .unfitRow {
            guard let row = error.serverRecord else { throw error }
            return row
        }
    }

    func conflict(
        with row: Record?,
        in table: TableDefinition,
        by response: ServerResponse?,
        status: Int? = nil,
        cause: (any Error)? = nil
    ) -> RemoteError {
        let sent = response?.sentVersion
        let reason =
            switch row {
            case nil: "has a conflicting row in table '\(table.name)', which could not be had; resolve the conflict."
            case .some(let row) where row.isDeleted:
                "has deleted the row in table '\(table.name)'; resolve the conflict."
            case .some(let row) where row.version != nil && row.version == sent:
                "refuses the change of a row in table '\(table.name)', and has it in the very version that was sent along;"
                    + " others may refer to it, or a value has to be unique."
            case .some: "has another version of the row in table '\(table.name)'; resolve the conflict."
            }
        return RemoteError(
            .conflict,
            "\(endpoint.authority) \(reason)",
            status: status ?? response?.status,
            serverRecord: row,
            cause: cause,
            exchange: response?.exchange
        )
    }
}
