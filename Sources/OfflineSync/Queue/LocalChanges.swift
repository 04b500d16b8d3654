internal import SyncContract

/// Applies a local change: the item and its operation, in one transaction of the store.
struct LocalChanges: Sendable {
    let table: TableDefinition
    let schema: StoreSchema
    /// Whether items are written here; otherwise the app has written them.
    let writesItems: Bool

    func insert(_ item: Record, _ transaction: inout StoreTransaction) throws -> Record {
        let id = try itemID(item)
        let waiting = try OperationQueue.operation(for: id, in: table, &transaction, schema)
        try refuse(.insert, over: waiting)
        // What only the server may set is not taken from the app.
        let row = item.withoutSystemProperties()
        if writesItems {
            guard try transaction.record(item.id, in: table.name) == nil else {
                throw SyncError(.invalidAction, "table '\(table.name)' has an item with this id; update it instead")
            }
            try transaction.upsert([row], into: table.name)
        }
        try add(.insert, id, baseVersion: nil, deletedItem: nil, &transaction)
        return try transaction.record(item.id, in: table.name) ?? row
    }

    func update(_ item: Record, _ transaction: inout StoreTransaction) throws {
        let id = try itemID(item)
        var waiting = try OperationQueue.operation(for: id, in: table, &transaction, schema)
        try refuse(.update, over: waiting)
        let stored = try transaction.record(item.id, in: table.name)
        if writesItems { try transaction.upsert([item.withoutSystemProperties()], into: table.name) }
        if waiting != nil {
            waiting?.itemID = id
            try edit(&waiting, &transaction) { _ in }
        } else {
            // The version the app saw, when it says so: then a change made since by a pull is a conflict, not lost.
            try add(.update, id, baseVersion: item.version ?? stored?.version, deletedItem: nil, &transaction)
        }
    }

    func delete(_ id: RecordID, version: String?, _ transaction: inout StoreTransaction) throws {
        let itemID = try itemID(Record(id: id))
        var waiting = try OperationQueue.operation(for: itemID, in: table, &transaction, schema)
        let change = try refuse(.delete, over: waiting)
        let stored = try transaction.record(id, in: table.name)
        if writesItems { try transaction.delete([id], from: table.name) }
        switch change {
        case .drop:
            if let waiting { try OperationQueue.remove(waiting, &transaction) }
        case .becomeDelete:
            try edit(&waiting, &transaction) {
                $0.kind = .delete
                $0.deletedItem = stored ?? Record(id: id)
            }
        case .add, .keep, .refuse:
            try add(
                .delete,
                itemID,
                baseVersion: version ?? stored?.version,
                deletedItem: stored ?? Record(id: id),
                &transaction
            )
        }
    }

    private func itemID(_ item: Record) throws -> String {
        guard let id = item.id.stringValue else {
            throw SyncError(.invalidItemID, "items of sync tables have strings as ids; give a string")
        }
        try ItemID.validate(id)
        return id
    }

    @discardableResult
    private func refuse(_ kind: TableOperation.Kind, over waiting: TableOperation?) throws -> CollapsedChange {
        let change = CollapsedChange(waiting: waiting?.kind, isAttempted: waiting?.isAttempted ?? false, new: kind)
        if change == .refuse, let waiting {
            throw SyncError(
                .invalidAction,
                "the item has \(waiting.kind == .delete ? "a delete" : "a change") waiting to be sent; "
                    + (waiting.kind == .delete ? "push before using its id again" : "update it instead")
            )
        }
        return change
    }

    /// An edit makes earlier answers of the server out of date: they are dropped and the operation waits again.
    private func edit(
        _ waiting: inout TableOperation?,
        _ transaction: inout StoreTransaction,
        _ change: (inout TableOperation) -> Void
    ) throws {
        guard var operation = waiting else { return }
        change(&operation)
        operation.editCounter += 1
        operation.state = .pending
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
        waiting = operation
    }

    private func add(
        _ kind: TableOperation.Kind,
        _ itemID: String,
        baseVersion: String?,
        deletedItem: Record?,
        _ transaction: inout StoreTransaction
    ) throws {
        // Numbers may be used again after the highest operation is gone: everything that refers to a number is removed
        // with the operation, in the same transaction.
        let number = try OperationQueue.highestNumber(&transaction) + 1
        var operation = TableOperation(id: number, table: table.name, itemID: itemID, kind: kind)
        operation.baseVersion = baseVersion
        operation.deletedItem = deletedItem
        try OperationQueue.save(operation, table, &transaction)
    }
}
