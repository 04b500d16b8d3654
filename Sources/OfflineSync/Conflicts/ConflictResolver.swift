internal import SyncContract

/// Settles an error inside a transaction of the store: row, operation and error change together or not at all.
struct ConflictResolver: Sendable {
    let table: TableDefinition
    let schema: StoreSchema
    let storesUndeclaredColumns: Bool

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
            if let serverItem = error.serverItem, operation.kind != .delete,
                let local = try transaction.record(serverItem.id, in: table.name)
            {
                let merge = try merge(&transaction)
                try merge.write(merge.beyondDeclaredColumns(of: serverItem, over: local), &transaction)
            }
        }
        operation.state = .pending
        operation.editCounter += 1
        operation.serverItem = nil
        operation.unknownOutcome?.pushes = 0
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
    }

    /// Bases the change on the server's row, as the user has seen it. One that the server does not show is overwritten
    /// whatever it is: that is what was decided.
    private func rebase(_ operation: inout TableOperation, _ error: TableOperationError) {
        operation.rebase(onto: error.serverItem.map(table.withoutLocalColumns))
        operation.restores = error.serverItem?.isDeleted ?? false
        guard operation.kind != .delete else { return }
        operation.kind = error.isMissingOnServer ? .insert : .update
    }

    private func takeServer(
        _ operation: TableOperation,
        _ error: TableOperationError,
        _ transaction: inout StoreTransaction
    ) throws {
        // A pull may have brought a newer row than the one of the error.
        if let serverItem = operation.serverItem ?? error.serverItem, !serverItem.isDeleted {
            try OperationQueue.remove(operation, &transaction)
            // What is not the server's outlives the local change, also when that was a deletion.
            if let local = operation.deletedItem { try transaction.upsert([local], into: table.name) }
            var merge = try merge(&transaction)
            return try merge.replace(by: serverItem, &transaction)
        }
        if error.isMissingOnServer || operation.serverItem ?? error.serverItem != nil {
            return try drop(operation, &transaction)
        }
        // What the server has is not at hand: the next pull asks. Until then the row stays visible.
        try OperationQueue.remove(operation, &transaction)
        if let local = operation.deletedItem { try transaction.upsert([local], into: table.name) }
        try ConfigurationTable.requestRefetch(of: operation.itemID, in: table.name, &transaction)
    }

    private func merge(_ transaction: inout StoreTransaction) throws -> ServerRowMerge {
        try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
    }

    private func drop(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try transaction.delete([.string(operation.itemID)], from: table.name)
        try OperationQueue.remove(operation, &transaction)
    }

    private static var changed: SyncError {
        SyncError(
            .operationChanged,
            "The change was resolved, sent or edited meanwhile; list what waits again and decide anew."
        )
    }
}
