internal import HTTPTransport
internal import RemoteContract
internal import SyncContract

/// Bringing back a row that was deleted on the server. Every server has its own way.
extension DatasyncRemote {
    /// Protocol 3: one PUT; the predecessor answers it with 410. Protocol 2: a POST to the row, then the change, unless
    /// the row came back with the content already; the predecessor answers the POST with 405. It takes a PATCH that says
    /// `"deleted": false`, in both protocols.
    func restore(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record {
        let id = try record.serverID(in: table)
        var change = try wire.update(record, in: table, version: version, restoring: true)
        if let undelete = wire.restore(id, in: table, version: version) {
            try TombstoneShowing.check(table: table.name)
            let response = try await exchange(undelete)
            if response.status == 405 {
                let change = try wire.restoringChange(record, in: table, version: version)
                return try await afterRequest { try await write(change, of: record, in: table) }
            }
            let restored = try await step { try await written(record, in: table, over: version, by: response) }
            // A tombstone that was written anew with the content: nobody has seen another one.
            guard table.isChanged(by: record, restored) else { return restored }
            if version != nil { change.ifMatch = restored.version ?? version }
            return try await afterChange { try await write(change, of: record, in: table) }
        }
        let response = try await exchange(change)
        guard response.mapping == .gone else {
            return try await written(record, in: table, over: version, by: response)
        }
        return try await afterRequest {
            try await restoreByPatch(record, in: table, version: version, after: response)
        }
    }

    /// Brings a row back by PATCH, with all its columns when the server takes them: then what was deleted is never seen
    /// again. Otherwise the change follows the restored version.
    func restoreByPatch(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        after refusal: ServerResponse
    ) async throws -> Record {
        let id = try record.serverID(in: table)
        let change = try wire.restoringChange(record, in: table, version: version)
        var response = try await exchange(change)
        // What fails once may just fail; nobody but those who have to shall see what was deleted.
        if response.status == 500 { response = try await afterRequest { try await exchange(change) } }
        let restored: Record
        switch response.status {
        case 404 where response.mapping == .failure(.notTheService): throw response.failure(table: table.name)
        case 404, 405, 501:
            // This server knows no PATCH either.
            throw try await conflictByLookup(id, in: table, by: refusal)
        case 400, 500:
            // The server does not take a column, or a null. Nothing was changed.
            try TombstoneShowing.check(table: table.name)
            let undelete = WireRequest(
                method: .patch,
                table: table.name,
                id: id,
                ifMatch: version,
                body: Array(#"{"deleted":false}"#.utf8)
            )
            restored = try await step { try await write(undelete, of: record, in: table) }
        default:
            // PATCH takes such texts for dates and writes them in another way, PUT does not.
            guard record.fields.values.contains(where: { $0.looksLikeWireDate }) else {
                return try await written(record, in: table, over: version, by: response)
            }
            restored = try await step { try await written(record, in: table, over: version, by: response) }
        }
        guard !restored.isDeleted else { return restored }
        return try await afterChange {
            try await write(
                try wire.update(record, in: table, version: restored.version ?? version, restoring: false),
                of: record,
                in: table
            )
        }
    }
}

extension TableDefinition {
    /// Whether a change to a row's content would change what the server has.
    fileprivate func isChanged(by row: Record, _ server: Record) -> Bool {
        let sent = columns.filter { !$0.isLocal }
        // A row without any value is a row of nulls.
        let isEmpty = sent.allSatisfy { row[$0.name] == nil }
        return sent.contains { column in
            guard let mine = row[column.name] ?? (isEmpty ? .null : nil) else { return false }
            let theirs = server[column.name] ?? .null
            return mine != theirs && mine.compare(with: theirs) != 0
        }
    }
}

extension FieldValue {
    /// Whether this is text that JSON readers of .NET take for a date, or has such a text in it.
    fileprivate var looksLikeWireDate: Bool {
        if case .json(let json) = self {
            return json.text.contains(/\/Date\(/) || json.text.contains(/\d{4}-\d\d-\d\dT/)
        }
        guard let text = stringValue else { return false }
        return text.hasPrefix("/Date(") || text.wholeMatch(of: /\d{4}-\d\d-\d\dT.*/) != nil
    }
}
