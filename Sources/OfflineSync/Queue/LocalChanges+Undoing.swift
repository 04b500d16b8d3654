internal import SyncContract
internal import SyncMachines

// Taking back what waits.
extension LocalChanges {
    /// Takes back a deletion that was not sent, with what waited before it; one that was sent is followed by an insert.
    func undoDelete(_ id: RecordID, _ transaction: inout StoreTransaction) throws {
        let itemID = try itemID(id)
        guard !table.isLocalOnly else { throw Self.nothingWaits(in: table) }
        guard let waiting = try waiting(for: itemID, &transaction) else {
            guard try transaction.record(id, in: table.name) == nil,
                let (operation, row) = try CancelledInserts.take(itemID, in: table, &transaction)
            else { throw Self.noDeletionWaits }
            try transaction.upsert([row], into: table.name)
            if !operation.memberships.isEmpty { try reorderGroups(&transaction) }
            marked.comesBack()
            try OperationQueue.save(operation, table, &transaction)
            return
        }
        var item = try queued(waiting, &transaction)
        // What was not here when it was deleted is not brought back as an empty row: what the server has comes in its place.
        if item.machine.change?.deletedRow?.fields.isEmpty == true { item.machine.change?.deletedRow = nil }
        let isDeletion = item.machine.change?.kind == .delete && item.machine.change?.isUndo == false
        if isDeletion { item.leaveGroupOfDeletion() }
        let comparison = TableRowComparison(
            table,
            schema,
            shownColumns: try ConfigurationTable.shownColumns(of: table, &transaction)
        )
        guard let effect = item.machine.undoDelete(comparison) else { throw Self.noDeletionWaits }
        if !waiting.memberships.isEmpty, item.machine.change != nil {
            // The deletion may be on its way: then what groups have changed is sent after it, and not with it.
            item.sendGroupsAnew()
            try reorderGroups(&transaction)
        }
        try OperationQueue.removeErrors(of: waiting, &transaction)
        try item.save(effect, &transaction)
    }

    /// Lets a push that has begun see that a group has a part again, before it sends what it has prepared.
    private func reorderGroups(_ transaction: inout StoreTransaction) throws {
        marked.removeAll()
        try GroupStorage.setHighestNumber(GroupStorage.highestNumber(&transaction) + 1, &transaction)
    }

    /// Gives up what waits for an item: the row is as the server last had it.
    func revert(_ id: RecordID, _ transaction: inout StoreTransaction) throws {
        let itemID = try itemID(id)
        guard let waiting = try waiting(for: itemID, &transaction) else { return }
        var item = try queued(waiting, &transaction)
        let effect = item.machine.discard()
        try OperationQueue.removeErrors(of: waiting, &transaction)
        try item.save(effect, &transaction)
    }
}
