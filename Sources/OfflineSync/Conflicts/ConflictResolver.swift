internal import SyncContract
internal import SyncMachines

/// Settles an error inside a transaction of the store: row, operation and error change together or not at all.
struct ConflictResolver: Sendable {
    /// Those in the table of the error, for what is written and what else changes with a decision.
    let changes: LocalChanges

    var table: TableDefinition { changes.table }
    var schema: StoreSchema { changes.schema }
    private var marked: MarkedOperations { changes.marked }

    func resolve(
        _ error: TableOperationError<Record>,
        _ resolution: ConflictResolution<Record>,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try transaction.record(.string(error.id), in: SystemTables.operationErrors.name) != nil,
            var operation = try OperationQueue.operation(error.operationID, &transaction, schema),
            operation.editCounter == error.editCounter
        else { throw Self.changed }
        marked.takeBack(&operation, table, schema)
        var item = try item(operation, &transaction)
        let seen = error.seenOnServer(table)
        let id = RecordID.string(operation.itemID)
        let before = try transaction.record(id, in: table.name)
        try OperationQueue.removeErrors(of: operation, &transaction)
        switch resolution {
        case .keepMine: try item.save(item.machine.keepMine(seen), &transaction)
        case .keepMerged(let merged):
            // A deleted row comes back with the merged content.
            if operation.kind == .delete, let deleted = operation.deletedItem {
                try transaction.upsert([deleted], into: table.name)
            }
            try write(merged, over: before, error, &transaction)
            item.machine.keepContent()
            try item.save(item.machine.keepMine(seen, isMerged: true), &transaction)
        case .takeServer: try item.save(item.machine.takeServer(seen), &transaction)
        case .discard: try item.save(item.machine.discard(), &transaction)
        case .keepLocal(let row):
            if operation.kind == .delete, row != nil, let deleted = operation.deletedItem {
                try transaction.upsert([deleted], into: table.name)
            }
            if let row { try write(row, over: before, error, &transaction) }
            try item.save(item.machine.keepLocal(seen), &transaction)
        case .deleteInstead:
            var group = ChangeGroup(isGroup: false)
            try changes.followRules(deleting: operation.itemID, &group, &transaction)
            let row = try transaction.record(id, in: table.name) ?? operation.deletedItem ?? Record(id: id)
            let effect = item.machine.deleteInstead(row, seen)
            try item.join(&group, &transaction)
            try item.save(effect, &transaction)
            try group.end(&transaction)
        }
        try noteFiles(of: [before, seen.row], given: item, &transaction)
    }

    /// Notes the files of rows that the decision, when it is carried out, leaves without their row. Where nothing is to be sent,
    /// the server's row keeps what it has.
    private func noteFiles(
        of rows: [Record?],
        given item: QueuedItem,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try AttachmentRemovals.concern(table, &transaction), item.machine.change?.isUndo == false else { return }
        let left = AttachmentRemovals.files(
            of: try transaction.record(.string(item.operation.itemID), in: table.name),
            in: table
        )
        let files = rows.reduce(into: Set()) { $0.formUnion(AttachmentRemovals.files(of: $1, in: table)) }
        try AttachmentRemovals.note(files.subtracting(left), for: item.operation, &transaction)
    }

    /// Gives up a change that waits, if it is still the one that was read.
    func discard(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        guard var current = try OperationQueue.operation(operation.id, &transaction, schema),
            current.editCounter == operation.editCounter,
            // An answer leaves it in another state, and whoever decides has not seen that.
            current.state == operation.state || current.state == .pending
        else { throw Self.changed }
        marked.takeBack(&current, table, schema)
        var item = try item(current, &transaction)
        try OperationQueue.removeErrors(of: current, &transaction)
        try item.save(item.machine.discard(), &transaction)
    }

    private func item(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws -> QueuedItem {
        try QueuedItem(operation, table, storesUndeclaredColumns: changes.storesUndeclaredColumns, &transaction)
    }

    /// Writes what was decided over the local row. Undeclared columns stay as they are on the server.
    private func write(
        _ row: Record,
        over local: Record?,
        _ error: TableOperationError<Record>,
        _ transaction: inout StoreTransaction
    ) throws {
        let shown = [error.item, error.serverItem, error.baseItem].compactMap(\.self)
        let ids = [.string(error.itemID)] + shown.map(\.id)
        guard ids.contains(where: { table.isSameID($0, row.id) }) else {
            throw SyncError(
                .invalidAction,
                "A decision cannot give an item another id; decide with its id, and insert another item."
            )
        }
        var row = try changes.writable(row, over: local, or: shown)
        // The change may have been made under another spelling, before the server's was here; a row that has come from the
        // server keeps that one, and is not taken for another row beside it.
        let id = RecordID.string(error.itemID)
        row.id = try transaction.record(id, in: table.name)?.id ?? id
        try transaction.upsert([row], into: table.name)
    }

    static var changed: SyncError {
        SyncError(
            .operationChanged,
            "The change was resolved, sent or edited meanwhile; list what waits again and decide anew."
        )
    }
}

extension SeenOnServer<Record> {
    /// The row that was shown.
    fileprivate var row: Record? {
        switch self {
        case .row(let row): row
        case .nothing, .hidden, .refused: nil
        }
    }
}

extension ConflictResolution {
    /// Whether the change is sent over what the server has, as it is.
    var isKeepMine: Bool { if case .keepMine = self { true } else { false } }
}

extension TableOperationError<Record> {
    /// What whoever decides has seen of the server.
    fileprivate func seenOnServer(_ table: TableDefinition) -> SeenOnServer<Record> {
        guard isConflict else { return .refused }
        if let serverItem { return .row(table.withoutLocalColumns(serverItem)) }
        return isHidden ? .hidden : .nothing
    }

    /// Whether what the server has was not shown.
    var isHidden: Bool { isConflict && serverItem == nil && !isMissingOnServer }
}
