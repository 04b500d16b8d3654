internal import SyncContract

/// Settles an error inside a transaction of the store: row, operation and error change together or not at all.
struct ConflictResolver: Sendable {
    let table: TableDefinition
    let schema: StoreSchema

    func resolve(
        _ error: TableOperationError,
        _ resolution: ConflictResolution,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try transaction.record(.string(error.id), in: SystemTables.operationErrors.name) != nil,
            let operation = try OperationQueue.operation(error.operationID, &transaction, schema),
            operation.editCounter == error.editCounter
        else { throw Self.changed }
        switch resolution {
        case .keepMine: try keep(operation, error, nil, &transaction)
        case .keepMerged(let item): try keep(operation, error, item, &transaction)
        case .takeServer: try takeServer(operation, error, &transaction)
        case .discard: try giveUp(operation, &transaction)
        }
    }

    /// Gives up a change that waits, if it is still the one that was read.
    func discard(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        guard let current = try OperationQueue.operation(operation.id, &transaction, schema),
            current.editCounter == operation.editCounter
        else { throw Self.changed }
        try giveUp(current, &transaction)
    }

    private func giveUp(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try drop(operation, &transaction)
        try ConfigurationTable.requestRefetch(of: operation.itemID, in: table.name, &transaction)
    }

    private func keep(
        _ operation: TableOperation,
        _ error: TableOperationError,
        _ merged: Record?,
        _ transaction: inout StoreTransaction
    ) throws {
        var operation = operation
        if let merged {
            var row = merged.withoutSystemProperties()
            row.id = .string(operation.itemID)
            if operation.kind == .delete {
                // The row comes back with the merged content and is sent as an update.
                if let deleted = operation.deletedItem { try transaction.upsert([deleted], into: table.name) }
                operation.kind = .update
                operation.deletedItem = nil
            }
            try transaction.upsert([row], into: table.name)
        }
        if error.isConflict {
            rebase(&operation, error)
            if let serverItem = error.serverItem, operation.kind != .delete {
                try transaction.upsert([table.beyondDeclaredColumns(of: serverItem)], into: table.name)
            }
        }
        operation.state = .pending
        operation.editCounter += 1
        operation.serverItem = nil
        operation.sentItems = []
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
    }

    /// Bases the change on the server's row, as the user has seen it. One that the server does not show is overwritten
    /// whatever it is: that is what was decided.
    private func rebase(_ operation: inout TableOperation, _ error: TableOperationError) {
        operation.baseVersion = error.serverItem?.version
        operation.restores = error.serverItem?.isDeleted ?? false
        guard operation.kind != .delete else { return }
        operation.kind = error.isMissingOnServer ? .insert : .update
    }

    private func takeServer(
        _ operation: TableOperation,
        _ error: TableOperationError,
        _ transaction: inout StoreTransaction
    ) throws {
        try drop(operation, &transaction)
        // A pull may have brought a newer row than the one of the error.
        if let serverItem = operation.serverItem ?? error.serverItem {
            if !serverItem.isDeleted { try transaction.upsert([table.storable(serverItem)], into: table.name) }
        } else if !error.isMissingOnServer {
            // What the server has is not at hand: the next pull asks. Until then the row stays visible.
            let local = operation.kind == .delete ? operation.deletedItem : error.item
            if let local { try transaction.upsert([local], into: table.name) }
            try ConfigurationTable.requestRefetch(of: operation.itemID, in: table.name, &transaction)
        }
    }

    private func drop(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try transaction.delete([.string(operation.itemID)], from: table.name)
        try OperationQueue.remove(operation, &transaction)
    }

    private static var changed: SyncError {
        SyncError(
            .operationChanged,
            "the change was resolved, sent or edited meanwhile; list what waits again and decide anew"
        )
    }
}
