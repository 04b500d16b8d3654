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
        else {
            throw SyncError(
                .operationChanged,
                "the change was resolved or edited meanwhile; list the conflicts again and decide anew"
            )
        }
        switch resolution {
        case .keepMine: try keep(operation, error, nil, &transaction)
        case .keepMerged(let item): try keep(operation, error, item, &transaction)
        case .takeServer: try takeServer(operation, error, &transaction)
        case .discard:
            try drop(operation, &transaction)
            try Configuration.requestRefetch(of: operation.itemID, in: table.name, &transaction)
        }
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
            rebase(&operation, onto: error.serverItem)
            if let serverItem = error.serverItem, operation.kind != .delete {
                try transaction.upsert([table.systemColumns(of: serverItem)], into: table.name)
            }
        }
        operation.state = .pending
        operation.editCounter += 1
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
    }

    /// Bases the change on the server's row, as the user has seen it.
    private func rebase(_ operation: inout TableOperation, onto serverItem: Record?) {
        operation.baseVersion = serverItem?.version
        operation.restores = serverItem?.isDeleted ?? false
        guard operation.kind != .delete else { return }
        operation.kind = serverItem == nil ? .insert : .update
    }

    private func takeServer(
        _ operation: TableOperation,
        _ error: TableOperationError,
        _ transaction: inout StoreTransaction
    ) throws {
        // A pull may have brought a newer row than the one of the error.
        if let serverItem = operation.serverItem ?? error.serverItem {
            try drop(operation, &transaction)
            if !serverItem.isDeleted { try transaction.upsert([table.storable(serverItem)], into: table.name) }
        } else if error.isConflict {
            // The server has no such row.
            try drop(operation, &transaction)
        } else {
            // The server refused the change without saying what it has: the next pull asks.
            try OperationQueue.remove(operation, &transaction)
            if let deleted = operation.deletedItem { try transaction.upsert([deleted], into: table.name) }
            try Configuration.requestRefetch(of: operation.itemID, in: table.name, &transaction)
        }
    }

    private func drop(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try transaction.delete([.string(operation.itemID)], from: table.name)
        try OperationQueue.remove(operation, &transaction)
    }
}
