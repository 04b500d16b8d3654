internal import RemoteContract
internal import SyncContract

/// Applies a local change: the item and its operation, in one transaction of the store.
struct LocalChanges: Sendable {
    let table: TableDefinition
    let schema: StoreSchema
    /// Whether items are written here; otherwise the app has written them.
    let writesItems: Bool
    /// Which ids of new items the server takes.
    let idRule: RowIDRule

    func insert(_ item: Record, _ transaction: inout StoreTransaction) throws -> Record {
        let id = try itemID(item.id)
        try ItemID.validate(id, by: idRule)
        let waiting = try OperationQueue.operation(for: id, in: table, &transaction, schema)
        try refuse(.insert, over: waiting)
        let row = try writable(item, over: nil)
        if writesItems {
            guard try transaction.record(item.id, in: table.name) == nil else {
                throw SyncError(.invalidAction, "Table '\(table.name)' has an item with this id; update it instead.")
            }
            try transaction.upsert([row], into: table.name)
        }
        try add(.insert, id, baseVersion: nil, base: nil, deletedItem: nil, &transaction)
        return try transaction.record(item.id, in: table.name) ?? row
    }

    func update(_ item: Record, _ transaction: inout StoreTransaction) throws {
        let waiting = try OperationQueue.operation(for: itemID(item.id), in: table, &transaction, schema)
        try refuse(.update, over: waiting)
        guard let stored = try transaction.record(item.id, in: table.name) else {
            // Sending it would blank every column that is not given, whatever the server has in it.
            throw SyncError(
                .invalidAction,
                "The store has no such item in '\(table.name)'; insert it, or pull it first."
            )
        }
        // The server may tell apart what this table does not: the casing it knows is the stored one.
        var row = try writable(item, over: stored)
        row.id = stored.id
        if writesItems { try transaction.upsert([row], into: table.name) }
        guard !changesLocalColumnsOnly(row, stored) else { return }
        if let waiting {
            try edit(waiting, &transaction) { $0.rebase(onto: item.version, seenInsteadOf: stored.version) }
        } else {
            // The version the app saw, when it says so: then a change made since by a pull is a conflict, not lost.
            try add(
                .update,
                itemID(stored.id),
                baseVersion: item.version ?? stored.version,
                // What the app has written itself is not what the server has.
                base: writesItems ? stored : nil,
                deletedItem: nil,
                &transaction
            )
        }
    }

    func delete(_ id: RecordID, version: String?, _ transaction: inout StoreTransaction) throws {
        let given = try itemID(id)
        let waiting = try OperationQueue.operation(for: given, in: table, &transaction, schema)
        let change = try refuse(.delete, over: waiting)
        let stored = try transaction.record(id, in: table.name)
        if stored == nil, waiting == nil { try ItemID.validate(given, by: idRule) }
        if writesItems { try transaction.delete([id], from: table.name) }
        guard let waiting else {
            guard writesItems || version != nil || stored != nil else {
                throw SyncError(
                    .invalidParameter,
                    "The row is not in the store any more; give the version it had, so that a change made elsewhere is"
                        + " not deleted unseen."
                )
            }
            return try add(
                .delete,
                itemID(stored?.id ?? id),
                baseVersion: version ?? stored?.version,
                base: stored,
                deletedItem: stored ?? Record(id: id),
                &transaction
            )
        }
        if change == .drop || (waiting.kind == .insert && waiting.state == .conflicted) {
            // The row that the server has under this id, if any, is somebody else's, and comes with the next pull.
            if waiting.state == .conflicted || waiting.serverItem != nil {
                try ConfigurationTable.requestRefetch(of: waiting.itemID, in: table.name, &transaction)
            }
            return try OperationQueue.remove(waiting, &transaction)
        }
        try edit(waiting, &transaction) {
            $0.kind = .delete
            $0.deletedItem = stored ?? Record(id: .string(waiting.itemID))
            $0.rebase(onto: version, seenInsteadOf: stored?.version)
        }
    }

    private func itemID(_ id: RecordID) throws -> String {
        guard let id = id.stringValue else {
            throw SyncError(.invalidItemID, "Items of sync tables have strings as ids; give a string.")
        }
        return id
    }

    /// What of an item may be written here: declared columns. System properties belong to the server; undeclared
    /// columns came from it and go back as they are.
    private func writable(_ item: Record, over stored: Record?) throws -> Record {
        var row = item.withoutSystemProperties()
        for (name, value) in row.fields where table.type(of: name) == nil {
            guard let stored, stored[name] == value else {
                throw SyncError(
                    .invalidItem,
                    "Table '\(table.name)' has no declared column '\(name)'; declare it to write it."
                )
            }
            row[name] = nil
        }
        for (name, value) in row.fields where !(value.doubleValue?.isFinite ?? true) {
            throw SyncError(
                .invalidItem,
                "Column '\(name)' of '\(table.name)' would hold a number that is not finite, which cannot be sent; use"
                    + " null or another number."
            )
        }
        return row
    }

    /// Whether the change stays on this device.
    private func changesLocalColumnsOnly(_ row: Record, _ stored: Record) -> Bool {
        guard table.columns.contains(where: { $0.isLocal && row[$0.name] != nil }) else { return false }
        return table.withoutLocalColumns(row).fields.allSatisfy { name, value in stored[name] ?? .null == value }
    }

    @discardableResult
    private func refuse(_ kind: TableOperation.Kind, over waiting: TableOperation?) throws -> CollapsedChange {
        let change = CollapsedChange(waiting: waiting?.kind, isAttempted: waiting?.isAttempted ?? false, new: kind)
        if change == .refuse, let waiting {
            throw SyncError(
                .invalidAction,
                waiting.kind == .delete
                    ? "The item has a delete waiting; push it, or resolve what the server said about it, before using"
                        + " its id again."
                    : "The item has a change waiting to be sent; update it instead."
            )
        }
        return change
    }

    /// An edit makes earlier answers of the server out of date: they are dropped and the operation waits again.
    private func edit(
        _ waiting: TableOperation,
        _ transaction: inout StoreTransaction,
        _ change: (inout TableOperation) -> Void
    ) throws {
        var operation = waiting
        change(&operation)
        operation.editCounter += 1
        operation.state = .pending
        operation.unknownOutcome?.pushes = 0
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
    }

    private func add(
        _ kind: TableOperation.Kind,
        _ itemID: String,
        baseVersion: String?,
        base: Record?,
        deletedItem: Record?,
        _ transaction: inout StoreTransaction
    ) throws {
        let number = try OperationQueue.newNumber(&transaction)
        var operation = TableOperation(id: number, table: table.name, itemID: itemID, kind: kind)
        operation.baseVersion = baseVersion
        // A row that was seen in another version than the stored one is not at hand.
        if let base, let baseVersion, base.version == baseVersion {
            operation.base = table.withoutLocalColumns(base)
        }
        operation.deletedItem = deletedItem
        try OperationQueue.save(operation, table, &transaction)
    }
}

/// What a new local change does to the operation that waits for the same item.
///
/// The table is that of the original SDKs, with one difference: a queued operation that is being sent, or was sent
/// without an answer, counts as attempted. Deleting an item whose insert was attempted must reach the server.
///
/// | waiting | insert | update | delete |
/// | --- | --- | --- | --- |
/// | nothing | add | add | add |
/// | insert | refuse | keep | drop both, or delete when attempted |
/// | update | refuse | keep | becomes delete |
/// | delete | refuse | refuse | refuse |
enum CollapsedChange: Hashable {
    /// A new operation is queued.
    case add
    /// The waiting operation stays what it is; it will send the latest content.
    case keep
    /// The waiting operation keeps its place and becomes a delete.
    case becomeDelete
    /// The waiting operation is removed: the server never has to know.
    case drop
    /// The change contradicts what waits.
    case refuse

    init(waiting: TableOperation.Kind?, isAttempted: Bool, new: TableOperation.Kind) {
        self =
            switch (waiting, new) {
            case (nil, _): .add
            case (.insert, .update), (.update, .update): .keep
            case (.insert, .delete): isAttempted ? .becomeDelete : .drop
            case (.update, .delete): .becomeDelete
            case (_, .insert), (.delete, _): .refuse
            }
    }
}

extension TableOperation {
    /// Bases a waiting change on the version the app saw, when that is not the stored one: what was changed in between
    /// must be found out as a conflict.
    fileprivate mutating func rebase(onto seen: String?, seenInsteadOf stored: String?) {
        guard let seen, seen != stored else { return }
        baseVersion = seen
        base = nil
        // What was sent was based on a later state: that it arrived does not say that this change may follow it.
        sentItems = []
    }
}
