internal import RemoteContract
internal import SyncContract

/// Records the answer to one operation: row, operation and error in one transaction.
struct ResponseRecorder: Sendable {
    private let table: TableDefinition
    /// The operation as it was sent.
    private let sent: TableOperation
    /// The row that was sent.
    private let row: Record?
    /// The operation as it was before it was sent.
    private let before: TableOperation
    private let storesUndeclaredColumns: Bool

    init(_ inFlight: InFlightOperation, storesUndeclaredColumns: Bool) {
        table = inFlight.table
        sent = inFlight.operation
        row = inFlight.row
        before = inFlight.before
        self.storesUndeclaredColumns = storesUndeclaredColumns
    }

    func record(_ outcome: PushOutcome, _ transaction: inout StoreTransaction, _ schema: StoreSchema) throws {
        // If the operation is gone, a resolution dropped it while it was on its way, and asked for the row to be
        // fetched again.
        guard var current = try OperationQueue.operation(sent.id, &transaction, schema) else { return }
        let wasEdited = current.editCounter != sent.editCounter
        switch outcome {
        case .aborted(let error):
            guard !wasEdited, let refusal = error.cause as? RemoteError, refusal.provesNothingWasDone else { return }
            withdraw(&current)
            try OperationQueue.save(current, table, &transaction)
        case .accepted(let serverItem):
            if wasEdited, !(sent.kind == .delete && current.kind == .delete) {
                // The server has an older state of the item: the newer one will be sent as a change of that.
                try rebase(&current, onto: serverItem, &transaction)
            } else {
                try OperationQueue.remove(current, &transaction)
                if let serverItem { try replaceRow(by: serverItem, &transaction) }
            }
        case .sendAgain(let serverItem):
            try rebase(&current, onto: serverItem, &transaction)
        case .conflict(let side, let status):
            if case .row(let serverItem) = side { current.serverItem = serverItem } else { current.serverItem = nil }
            // An operation that was edited is sent again by the next push, which asks the server anew.
            if !wasEdited {
                current.state = .conflicted
                // There is another version, so nothing that was sent before can succeed any more.
                current.sentItems = []
                current.unknownOutcome = nil
                // After an edit it would count as never sent, and go over whoever has undone what was sent.
                current.base = nil
                try store(conflict(side, status), &transaction)
            }
            try OperationQueue.save(current, table, &transaction)
        case .refused(let error):
            guard !wasEdited else { return }
            if error.provesNothingWasDone { withdraw(&current) }
            current.park()
            try store(refusal(error), &transaction)
            try OperationQueue.save(current, table, &transaction)
        case .unknown(let error):
            current.failed(status: error.status, error.message)
            if wasEdited {
                current.unknownOutcome?.pushes = 0
            } else {
                current.state = .pending
                if current.unknownOutcome?.isFinal == true { current.park() }
                try store(refusal(error), &transaction)
            }
            try OperationQueue.save(current, table, &transaction)
        }
    }

    /// Forgets this attempt: it was not carried out.
    private func withdraw(_ operation: inout TableOperation) {
        if operation.sentItems == sent.sentItems { operation.sentItems = before.sentItems }
        if operation.isAttempted { operation.isAttempted = before.isAttempted }
    }

    private func replaceRow(by serverItem: Record, _ transaction: inout StoreTransaction) throws {
        var merge = try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        try merge.replace(by: serverItem, &transaction)
    }

    private func rebase(
        _ operation: inout TableOperation,
        onto serverItem: Record?,
        _ transaction: inout StoreTransaction
    ) throws {
        if operation.kind == .insert { operation.kind = .update }
        guard operation.baseVersion == sent.baseVersion else {
            // An edit meanwhile is of an older state. It must not go over what it has not seen.
            return try OperationQueue.save(operation, table, &transaction)
        }
        operation.rebase(onto: serverItem.map(table.storable))
        operation.restores = false
        operation.state = .pending
        try OperationQueue.removeErrors(of: operation, &transaction)
        if let serverItem {
            var merge = try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
            merge.see(serverItem)
            if operation.kind != .delete, let local = try transaction.record(serverItem.id, in: table.name) {
                try merge.write(merge.beyondDeclaredColumns(of: serverItem, over: local), &transaction)
            }
            try merge.remember(&transaction)
        }
        try OperationQueue.save(operation, table, &transaction)
    }

    private func conflict(_ side: PushOutcome.ServerSide, _ status: Int?) -> TableOperationError {
        switch side {
        case .nothing: error("the server has no such item any more", status, isMissing: true)
        case .unknown: error("the item was changed on the server, which does not show it", status)
        case .row(let serverItem):
            error(
                serverItem.isDeleted ? "the item was deleted on the server" : "the item was changed on the server",
                status,
                serverItem: serverItem
            )
        }
    }

    private func refusal(_ refusal: RemoteError) -> TableOperationError {
        error(refusal.message, refusal.status, isConflict: false)
    }

    private func error(
        _ message: String,
        _ status: Int?,
        isConflict: Bool = true,
        isMissing: Bool = false,
        serverItem: Record? = nil
    ) -> TableOperationError {
        TableOperationError(
            id: ItemID.make(),
            operationID: sent.id,
            table: table.name,
            itemID: sent.itemID,
            kind: sent.kind,
            isConflict: isConflict,
            status: status,
            message: message,
            item: row ?? sent.deletedItem,
            serverItem: serverItem,
            isMissingOnServer: isMissing,
            editCounter: sent.editCounter
        )
    }

    private func store(_ error: TableOperationError, _ transaction: inout StoreTransaction) throws {
        try OperationQueue.removeErrors(of: sent, &transaction)
        try transaction.upsert(
            [OperationErrorCoding.record(error, table)],
            into: SystemTables.operationErrors.name
        )
    }
}

extension RemoteError {
    /// Whether the request did nothing and never will. Who forbids a request, or finds it too large, may stand in front
    /// of the server and have let an earlier copy of it pass.
    fileprivate var provesNothingWasDone: Bool {
        switch status {
        case nil: code == .invalidRequest
        case 403, 408, 413, 429: false
        case .some(let status): (400...499).contains(status)
        }
    }
}
