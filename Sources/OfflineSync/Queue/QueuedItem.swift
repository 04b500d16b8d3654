internal import SyncContract
internal import SyncMachines

/// One item in a transaction of the store: its operation and what is remembered of it, as a machine that decides, and what
/// the machine's decisions do to the local row.
struct QueuedItem {
    let table: TableDefinition
    let storesUndeclaredColumns: Bool
    private(set) var operation: TableOperation
    var machine: ItemMachine<Record>
    private let memoryBefore: ItemMemory<Record>
    private let baseBefore: Record?
    /// The edit through which the server has what was to be done.
    private var takenEdit: Int64?

    /// An item whose operation waits.
    init(
        _ operation: TableOperation,
        _ table: TableDefinition,
        storesUndeclaredColumns: Bool,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        let memory = try ItemMemoryStorage.memory(of: operation.itemID, in: table, &transaction)
        self.init(operation, table, memory, storesUndeclaredColumns)
    }

    /// The same where other items share what was looked up.
    init(
        _ operation: TableOperation,
        _ table: TableDefinition,
        storesUndeclaredColumns: Bool,
        sharing lookups: inout SharedLookups,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        var memory = ItemMemory<Record>()
        if try lookups.remembersAny(of: table, &transaction) {
            memory = try ItemMemoryStorage.memory(of: operation.itemID, in: table, &transaction)
        }
        self.init(operation, table, memory, storesUndeclaredColumns)
    }

    private init(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ memory: ItemMemory<Record>,
        _ storesUndeclaredColumns: Bool
    ) {
        self.table = table
        self.storesUndeclaredColumns = storesUndeclaredColumns
        self.operation = operation
        memoryBefore = memory
        baseBefore = operation.change.base
        machine = ItemMachine(change: operation.change, memory: memory)
    }

    /// What the server failed with, for the count of equal failures.
    mutating func failed(status: Int?, ofLookUp isOfLookUp: Bool) {
        operation.failed(status: status, ofLookUp: isOfLookUp)
    }

    /// Takes note that the change is refused: one that an older version has left to be sent again is laid aside as any other.
    mutating func refused() { operation.isRetried = false }

    /// Takes note that the server has what the operation held at an edit: groups of which there is nothing else do not
    /// count any more.
    mutating func taken(through editCounter: Int64) {
        operation.memberships.removeAll { $0.editCounter <= editCounter }
    }

    /// Takes note that the server has the change as it was at an edit, so that files which it has given up are of no use there.
    mutating func done(through editCounter: Int64) { takenEdit = editCounter }

    /// Makes what waits part of a group. To be called when the machine has decided, before that is written.
    mutating func join(_ group: inout ChangeGroup, _ transaction: inout StoreTransaction) throws {
        guard let change = machine.change else { return group.remove(operation) }
        var changed = operation
        changed.change = change
        try group.add(&changed, &transaction)
        operation.memberships = changed.memberships
    }

    /// Takes note that a deletion is taken back that was not sent: where it is all that a group has done to the item, the item is
    /// no part of that any more.
    mutating func leaveGroupOfDeletion() {
        guard let change = machine.change, let last = operation.memberships.last, last.first == last.last,
            last.editCounter == change.editCounter,
            !change.sent.contains(where: { $0.kind == .delete || $0.kind == .tombstone })
        else { return }
        operation.memberships.removeLast()
    }

    /// Takes note that all that groups have changed is still to be sent, whatever the server has by now.
    mutating func sendGroupsAnew() {
        guard let change = machine.change else { return }
        for index in operation.memberships.indices { operation.memberships[index].editCounter = change.editCounter }
    }

    /// Whether the server has failed on the change as often as is tried.
    var hasFailedTooOften: Bool { operation.unknownOutcome?.isFinal ?? false }

    /// Writes what the machine has decided: row, operation, memory and what is to be asked for.
    mutating func save(_ effect: RowEffect<Record>, _ transaction: inout StoreTransaction) throws {
        var lookups = SharedLookups()
        try save(effect, over: nil, sharing: &lookups, &transaction)
    }

    /// The same over a local row that was read in this transaction, nil when it was not read, or when there is none; other
    /// items share what was looked up.
    mutating func save(
        _ effect: RowEffect<Record>,
        over local: Record?,
        sharing lookups: inout SharedLookups,
        _ transaction: inout StoreTransaction
    ) throws {
        let before = operation
        try apply(effect, before, over: local, sharing: &lookups, &transaction)
        if let takenEdit {
            try AttachmentRemovals.taken(before, through: takenEdit, in: table, &transaction)
        }
        if machine.memory != memoryBefore {
            try ItemMemoryStorage.set(machine.memory, of: operation.itemID, in: table, &transaction)
        }
        if machine.needsRow {
            try ConfigurationTable.requestRefetch(of: operation.itemID, in: table.name, &transaction)
        }
        guard var change = machine.change else {
            try AttachmentRemovals.withdraw(before, in: table, &transaction)
            return try OperationQueue.remove(operation, sharing: &lookups, &transaction)
        }
        if change.base != baseBefore {
            let known = baseBefore ?? before.change.sent.last { $0.content != nil }?.content
            change.base = try change.base.map { try completed($0, by: known, &transaction) }
            change.deletedRow = try adopted(by: change, sharing: &lookups, &transaction)
        }
        operation.change = change
        if !change.hasUnknownOutcome { operation.unknownOutcome = nil }
        if change.editCounter != before.change.editCounter { operation.unknownOutcome?.pushes = 0 }
        try OperationQueue.save(operation, table, &transaction)
        let isMadeAgain = change.kind == .insert && before.kind != .insert
        let isRestored = change.restores && !before.change.restores
        if isMadeAgain, table.assignsIDs, before.baseVersion != nil || before.change.base != nil {
            try IdentifierMapping.rememberFormerID(operation.itemID, in: table, &transaction)
        }
        if isMadeAgain || isRestored, table.columns.contains(where: { $0.attachment != nil }) {
            let row = try transaction.record(.string(operation.itemID), in: table.name)
            try AttachmentMarks.doubt(filesOf: row, in: table, &transaction)
        }
    }

    /// A row of the server as a base: what the server has never shown is as it was in the base before, or, of an insert, in
    /// what was sent, or else as it is here. Otherwise giving the change up would blank it. No tombstone is given back.
    private func completed(
        _ base: Record,
        by known: Record?,
        _ transaction: inout StoreTransaction
    ) throws -> Record {
        var base = table.withoutLocalColumns(base)
        var local: Record?
        if known == nil, !base.isDeleted { local = try transaction.record(.string(operation.itemID), in: table.name) }
        guard let source = known ?? local else { return base }
        let shown = try ConfigurationTable.shownColumns(of: table, &transaction)
        for column in table.columns where !column.isLocal && base[column.name] == nil && !shown.contains(column.name) {
            base[column.name] = source[column.name]
        }
        return base
    }

    /// The row that a deletion keeps. It was based on another one: as in a row that is here, what the app does not declare
    /// is the server's, so that taking the deletion back undoes nothing of what others have written there.
    private func adopted(
        by change: QueuedChange<Record>,
        sharing lookups: inout SharedLookups,
        _ transaction: inout StoreTransaction
    ) throws -> Record? {
        guard change.kind == .delete, let base = change.base, !base.isDeleted, let row = change.deletedRow else {
            return change.deletedRow
        }
        // Its version stays: it tells which row this was.
        let adoption = try merge(&lookups, &transaction)
            .beyondDeclaredColumns(of: base.withoutServerProperties(), over: row)
        var adopted = row
        if adoption.replacesRow {
            adopted = adoption.row
        } else {
            adopted.merge(adoption.row)
        }
        return adopted
    }

    private func apply(
        _ effect: RowEffect<Record>,
        _ before: TableOperation,
        over known: Record?,
        sharing lookups: inout SharedLookups,
        _ transaction: inout StoreTransaction
    ) throws {
        let id = RecordID.string(operation.itemID)
        switch effect {
        case .none: break
        case .remove: try transaction.delete([id], from: table.name)
        case .local(let row): try transaction.upsert([row], into: table.name)
        case .version(let version):
            try transaction.upsert([Record(id: id, ["version": .string(version)])], into: table.name)
        case .server(var row):
            var local = try known ?? transaction.record(id, in: table.name)
            // What is not the server's outlives a deletion.
            if local == nil, let deleted = before.deletedItem {
                try transaction.upsert([deleted], into: table.name)
                local = try transaction.record(id, in: table.name)
            }
            // What the operation has kept shows nothing of the server's columns: the app's own are in it as well.
            let isKept = row == baseBefore || row == before.serverItem
            if row == baseBefore {
                // It is the local row of then: what it does not have was null.
                for column in table.columns where !column.isLocal && row[column.name] == nil {
                    row[column.name] = .null
                }
            }
            var merge = try merge(&lookups, &transaction)
            try merge.replace(local, by: row, isShown: !isKept, &transaction)
            lookups.keep(merge)
        case .adopt(let row):
            var merge = try merge(&lookups, &transaction)
            if row != before.serverItem { merge.see(row) }
            if let local = try known ?? transaction.record(id, in: table.name) {
                try merge.write(merge.beyondDeclaredColumns(of: row, over: local), &transaction)
            }
            try merge.remember(&transaction)
            lookups.keep(merge)
        }
    }

    private func merge(
        _ lookups: inout SharedLookups,
        _ transaction: inout StoreTransaction
    ) throws -> ServerRowMerge {
        try lookups.merge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
    }
}
