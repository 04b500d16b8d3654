internal import RemoteContract
internal import SyncContract

/// Records the answer to one operation: row, operation and error in one transaction.
struct AnswerRecorder: Sendable {
    let table: TableDefinition
    /// The operation as it was sent.
    let sent: TableOperation
    /// The row that was sent.
    let row: Record?

    func record(_ outcome: PushOutcome, _ transaction: inout StoreTransaction, _ schema: StoreSchema) throws {
        // The operation may have been edited while it was on its way. If it is gone, a resolution dropped it meanwhile
        // and asked for the row to be fetched again.
        guard var current = try OperationQueue.operation(sent.id, &transaction, schema) else { return }
        let wasEdited = current.editCounter != sent.editCounter
        switch outcome {
        case .aborted: break
        case .accepted(let serverItem):
            if wasEdited {
                try rebase(&current, on: serverItem, &transaction)
            } else {
                try OperationQueue.remove(current, &transaction)
                if let serverItem { try transaction.upsert([table.storable(serverItem)], into: table.name) }
            }
        case .conflict(let serverItem, let status):
            current.serverItem = serverItem ?? current.serverItem
            // An edited operation is sent again by the next push, which will meet the same conflict.
            if !wasEdited {
                current.state = .conflicted
                try store(serverItem, status, Self.describe(serverItem), isConflict: true, &transaction)
            }
            try OperationQueue.save(current, table, &transaction)
        case .refused(let error):
            if !wasEdited {
                current.state = .failed
                try store(nil, error.status, error.message, isConflict: false, &transaction)
                try OperationQueue.save(current, table, &transaction)
            }
        }
    }

    /// The server has an older state of the item: the newer one will be sent as a change of that.
    private func rebase(
        _ operation: inout TableOperation,
        on serverItem: Record?,
        _ transaction: inout StoreTransaction
    ) throws {
        if operation.kind == .insert { operation.kind = .update }
        operation.baseVersion = serverItem?.version
        operation.restores = false
        if let serverItem, operation.kind != .delete {
            try transaction.upsert([table.systemColumns(of: serverItem)], into: table.name)
        }
        try OperationQueue.save(operation, table, &transaction)
    }

    private func store(
        _ serverItem: Record?,
        _ status: Int?,
        _ message: String,
        isConflict: Bool,
        _ transaction: inout StoreTransaction
    ) throws {
        try OperationQueue.removeErrors(of: sent, &transaction)
        let error = TableOperationError(
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
            editCounter: sent.editCounter
        )
        try transaction.upsert(
            [OperationErrorCoding.record(error, table)],
            into: SystemTables.operationErrors.name
        )
    }

    private static func describe(_ serverItem: Record?) -> String {
        switch serverItem?.isDeleted {
        case nil: "the server has no such item any more"
        case true?: "the item was deleted on the server"
        case false?: "the item was changed on the server"
        }
    }
}
