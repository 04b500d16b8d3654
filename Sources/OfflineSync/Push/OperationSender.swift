internal import RemoteContract
internal import SyncContract

/// The requests of one operation, by its kind.
struct OperationSender: Sendable {
    let remote: any SyncRemote
    let storesUndeclaredColumns: Bool
    private let confirmed = ConfirmedTables()

    init(remote: any SyncRemote, storesUndeclaredColumns: Bool) {
        self.remote = remote
        self.storesUndeclaredColumns = storesUndeclaredColumns
    }

    /// Sends an operation and judges the answer. One whose outcome is unknown is looked up first.
    func send(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        if let problem = RowAddress.problem(of: inFlight.operation.itemID) {
            return .refused(
                RemoteError(
                    .invalidRequest,
                    "No address can name the id of this row: \(problem). It cannot be changed from here; give the"
                        + " change up."
                )
            )
        }
        do {
            do {
                if inFlight.operation.unknownOutcome != nil, let outcome = try await lookUp(inFlight) {
                    return outcome
                }
                switch inFlight.operation.kind {
                case .insert: return try await insert(inFlight)
                case .update: return try await update(inFlight)
                case .delete: return try await delete(inFlight)
                }
            } catch let error as RemoteError {
                if error.isPerhapsAboutTheAddress { try await confirmed.confirm(inFlight.table, at: remote) }
                return PushOutcome(error, inFlight)
            }
        } catch let error as RemoteError {
            // The table did not answer, so nothing is believed of its rows.
            return .aborted(SyncError(aborting: error))
        }
    }

    /// What has become of an operation whose outcome is unknown; nil when it was not carried out.
    private func lookUp(_ inFlight: InFlightOperation) async throws -> PushOutcome? {
        let operation = inFlight.operation
        let serverItem = try await record(of: inFlight)
        let isBase = serverItem?.version != nil && serverItem?.version == operation.baseVersion
        switch operation.kind {
        case .insert:
            return serverItem.map { PushOutcome.judge($0, status: nil, inFlight) }
        case .update:
            guard let serverItem else { return .conflict(.nothing, status: nil) }
            return isBase || (operation.baseVersion == nil && !inFlight.hasLocalContent(serverItem))
                ? nil : PushOutcome.judge(serverItem, status: nil, inFlight)
        case .delete:
            guard let serverItem, !serverItem.isDeleted else { return .accepted(nil) }
            guard operation.baseVersion != nil, !isBase else { return nil }
            return PushOutcome.judge(serverItem, status: nil, inFlight)
        }
    }

    private func insert(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        guard let row = inFlight.row else { return Self.missingRow }
        return .accepted(try await remote.insert(row, into: inFlight.table))
    }

    private func update(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        guard let row = inFlight.row else { return Self.missingRow }
        guard !remote.replacesWholeRows || storesUndeclaredColumns else {
            return .refused(
                RemoteError(
                    .invalidRequest,
                    "This server replaces whole rows, and the store drops columns that it does not know; use a store"
                        + " with the capability unknownColumns."
                )
            )
        }
        let operation = inFlight.operation
        return .accepted(
            try await remote.update(
                row,
                in: inFlight.table,
                version: operation.baseVersion,
                restoring: operation.restores
            )
        )
    }

    private func delete(_ inFlight: InFlightOperation) async throws -> PushOutcome {
        let operation = inFlight.operation
        var version = operation.baseVersion
        if version == nil, !operation.sentItems.isEmpty {
            // The insert may have arrived, its answer was lost: without a version, only the content tells whose row it
            // is that would be deleted.
            let serverItem = try await record(of: inFlight)
            guard let serverItem, !serverItem.isDeleted else { return .accepted(nil) }
            guard inFlight.mayGoOver(serverItem) else { return .conflict(.row(serverItem), status: nil) }
            version = serverItem.version
        }
        let deletion = try await remote.delete(operation.itemID, from: inFlight.table, version: version)
        if deletion != .confirmed { try await confirmed.confirm(inFlight.table, at: remote) }
        return .accepted(nil)
    }

    /// The server's row. That there is none is believed of a table that is there.
    private func record(of inFlight: InFlightOperation) async throws -> Record? {
        if let record = try await remote.record(inFlight.operation.itemID, in: inFlight.table) { return record }
        try await confirmed.confirm(inFlight.table, at: remote)
        return nil
    }

    private static var missingRow: PushOutcome {
        .refused(
            RemoteError(.invalidRequest, "The item is no longer in the store; write it again or discard the change.")
        )
    }
}
