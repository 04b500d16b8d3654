internal import ItemCoding
internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Applies a local change: the item and its operation, in one transaction of the store.
struct LocalChanges: Sendable {
    let table: TableDefinition
    let schema: StoreSchema
    let marked: MarkedOperations
    /// Whether items are written here; otherwise the app has written them.
    let writesItems: Bool
    let storesUndeclaredColumns: Bool
    /// Which ids of new items the server takes.
    let idRule: RowIDRule
    /// What says when a cancelled insert was kept.
    var cancelledInserts = CancelledInsertClock()

    /// Inserts an item and returns it as stored.
    func insert(
        _ item: Record,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws -> Record {
        let id = try itemID(item.id)
        try ItemID.validate(id, by: idRule)
        let row = try writable(item, over: nil)
        let isInserted = try insertFirst(id, &group, &transaction) { try $0.insert(row, into: table.name) }
        return try isInserted ? table.stored(row) : insertLooking(row, id, &group, &transaction)
    }

    /// Inserts an item that the store may be able to write without a record.
    ///
    /// - Parameters:
    ///   - id: Its id.
    ///   - group: The changes of the transaction.
    ///   - transaction: The transaction.
    ///   - record: Gives the item as a record.
    ///   - insertRow: Inserts the row of the item, and returns false when there is one with its id.
    /// - Throws: As for a record.
    func insert(
        _ id: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction,
        record: () throws -> Record,
        insertRow: (inout StoreTransaction) throws -> Bool
    ) throws {
        try ItemID.validate(id, by: idRule)
        guard try !insertFirst(id, &group, &transaction, insertRow: insertRow) else { return }
        _ = try insertLooking(writable(record(), over: nil), id, &group, &transaction)
    }

    /// Inserts an item for which nothing waits, where the store can find that out as it writes.
    ///
    /// - Returns: Whether it did; if not, nothing is written.
    private func insertFirst(
        _ id: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction,
        insertRow: (inout StoreTransaction) throws -> Bool
    ) throws -> Bool {
        guard writesItems, let backend = transaction.backend as? any ItemWriteBackend else { return false }
        guard try insertRow(&transaction) else { return false }
        guard !table.isLocalOnly else { return true }
        let operation = try operation(QueuedChange(.insert), id, &group, &transaction)
        if try OperationQueue.addIfFirst(operation, table, backend) { return true }
        group.takeBack(operation)
        try transaction.delete([.string(id)], from: table.name)
        return false
    }

    /// Inserts an item after a look at what waits for it, and returns it as stored.
    private func insertLooking(
        _ row: Record,
        _ id: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws -> Record {
        let waiting = try waiting(for: id, &transaction)
        var machine = ItemMachine<Record>(change: waiting?.change)
        try refusing { () throws(EditRefusal) in try machine.insert() }
        if writesItems {
            guard try transaction.insert(row, into: table.name) else { throw itemExists }
            if let waiting { try keepWhatIsNotDeclared(of: waiting, in: row, &transaction) }
        }
        try save(machine, waiting, id, &group, &transaction)
        // Only what was there before, or what the app has written itself, can be more than was written here.
        guard writesItems, waiting == nil else { return try transaction.record(row.id, in: table.name) ?? row }
        return table.stored(row)
    }

    /// Queues the insert of an item that is here, and for which nothing waits.
    func queueInsert(of id: String, _ group: inout ChangeGroup, _ transaction: inout StoreTransaction) throws {
        _ = try add(QueuedChange(.insert), id, &group, &transaction)
    }

    /// Queues the insert of an item that is here where its deletion waits; another change stays as it is.
    func queueInsertOverDeletion(
        of id: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws {
        guard let waiting = try waiting(for: id, &transaction), waiting.change.kind == .delete else { return }
        var machine = ItemMachine<Record>(change: waiting.change)
        try refusing { () throws(EditRefusal) in try machine.insert() }
        try save(machine, waiting, id, &group, &transaction)
    }

    /// Queues the deletion of items that are not here, and of which another change waits.
    func queueDeletionsOfMissing(_ group: inout ChangeGroup, _ transaction: inout StoreTransaction) throws {
        for var waiting in try OperationQueue.all(of: table, &transaction, schema)
        where waiting.change.kind != .delete && !waiting.change.isUndo {
            guard try transaction.record(.string(waiting.itemID), in: table.name) == nil else { continue }
            marked.takeBack(&waiting, table, schema)
            var machine = ItemMachine<Record>(change: waiting.change)
            _ = try refusing { () throws(EditRefusal) in try machine.delete(nil, seen: nil) }
            machine.change?.deletedRow = Record(id: .string(waiting.itemID))
            try save(machine, waiting, waiting.itemID, &group, &transaction)
        }
    }

    /// Changes an item. What is written of it may depend on the row that is here: the closure leaves out what is no change.
    func update(
        _ item: Record,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction,
        leavingOut: (inout Record, Record) -> Void = { _, _ in }
    ) throws {
        let waiting = try waiting(for: itemID(item.id), &transaction)
        guard let stored = try transaction.record(item.id, in: table.name) else {
            guard waiting?.kind != .delete else { throw Self.deletionWaits }
            // Sending it would blank every column that is not given, whatever the server has in it.
            throw SyncError(
                .invalidAction,
                "The store has no such item in '\(table.name)'; insert it, or pull it first."
            )
        }
        var item = item
        leavingOut(&item, stored)
        // The server may tell apart what this table does not: the casing it knows is the stored one.
        var row = try writable(item, over: stored)
        row.id = stored.id
        guard !changesLocalColumnsOnly(row, stored) else {
            if waiting?.kind == .delete { throw Self.deletionWaits }
            if writesItems { try transaction.upsert([row], into: table.name) }
            return
        }
        var machine = try machine(waiting, stored, seen: item.version, &transaction)
        let effect = try refusing { () throws(EditRefusal) in
            try machine.update(table.withoutLocalColumns(stored), seen: item.version)
        }
        if case .version(let version) = effect, table.systemProperties.contains(.version) {
            row["version"] = .string(version)
        }
        if writesItems { try transaction.upsert([row], into: table.name) }
        // What the app has written itself is not what the server has.
        if waiting == nil, !writesItems { machine.change?.base = nil }
        let operation = try save(machine, waiting, itemID(stored.id), &group, &transaction)
        try AttachmentRemovals.note(of: stored, replacedBy: row, for: operation, in: table, &transaction)
    }

    /// Deletes an item, and does to those that refer to it what their columns declare. The app does that as well where it
    /// writes the items itself.
    func delete(
        _ id: RecordID,
        version: String?,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws {
        // What refuses it comes before the first change.
        let deletion = try deletion(of: id, version: version, &transaction)
        try followRules(deleting: itemID(id), &group, &transaction)
        try perform(deletion, &group, &transaction)
    }

    /// Does to the rows that refer to an item what their columns declare. With its deletion, which follows, that is a group.
    func followRules(
        deleting id: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws {
        let rules = DeletionRules(schema)
        guard writesItems, rules.concern(table) else { return }
        let consequences = try rules.consequences(of: id, in: table, &transaction)
        if !consequences.isEmpty { group.begin() }
        for change in consequences.cleared {
            try of(change.table).update(Record(id: .string(change.id), [change.column: .null]), &group, &transaction)
        }
        for row in consequences.deleted {
            let changes = of(row.table)
            let deletion = try changes.deletion(of: .string(row.id), version: nil, &transaction)
            try changes.perform(deletion, &group, &transaction)
        }
    }

    /// The same for another table.
    private func of(_ table: TableDefinition) -> LocalChanges {
        LocalChanges(
            table: table,
            schema: schema,
            marked: marked,
            writesItems: writesItems,
            storesUndeclaredColumns: storesUndeclaredColumns,
            idRule: idRule,
            cancelledInserts: cancelledInserts
        )
    }

    /// A deletion that was decided, and not written.
    private struct Deletion {
        var id: RecordID
        var itemID: String
        var machine: ItemMachine<Record>
        var waiting: TableOperation?
        var stored: Record?
        var cancels: Bool
    }

    private func deletion(
        of id: RecordID,
        version: String?,
        _ transaction: inout StoreTransaction
    ) throws -> Deletion {
        let given = try itemID(id)
        let waiting = try waiting(for: given, &transaction)
        let stored = try transaction.record(id, in: table.name)
        if stored == nil, waiting == nil { try ItemID.validate(given, by: idRule) }
        guard waiting != nil || writesItems || version != nil || stored != nil else {
            throw SyncError(
                .invalidParameter,
                "The row is not in the store any more; give the version it had, so that a change made elsewhere is"
                    + " not deleted unseen."
            )
        }
        var machine = try machine(waiting, stored, seen: version, &transaction)
        if let change = waiting?.change, change.kind == .insert, !change.wasSent {
            // One that was dropped may still make the row.
            machine.memory = try ItemMemoryStorage.memory(of: given, in: table, &transaction)
        }
        let cancels = try refusing { () throws(EditRefusal) in
            try machine.delete(stored.map(table.withoutLocalColumns), seen: version)
        }
        let itemID = try waiting?.itemID ?? itemID(stored?.id ?? id)
        machine.change?.deletedRow = stored ?? Record(id: .string(itemID))
        return Deletion(
            id: id,
            itemID: itemID,
            machine: machine,
            waiting: waiting,
            stored: stored,
            cancels: cancels
        )
    }

    private func perform(
        _ deletion: Deletion,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws {
        if writesItems { try transaction.delete([deletion.id], from: table.name) }
        if deletion.cancels, let waiting = deletion.waiting, let stored = deletion.stored {
            try CancelledInserts.keep(waiting, stored, table, cancelledInserts, schema, &transaction)
        }
        let operation = try save(deletion.machine, deletion.waiting, deletion.itemID, &group, &transaction)
        if let stored = deletion.stored {
            try AttachmentRemovals.note(of: stored, replacedBy: nil, for: operation, in: table, &transaction)
        }
    }

    /// The operation that waits for an item. What a push has prepared for it and not sent yet is not sent any more.
    func waiting(for itemID: String, _ transaction: inout StoreTransaction) throws -> TableOperation? {
        guard !table.isLocalOnly,
            var waiting = try OperationQueue.operation(for: itemID, in: table, &transaction, schema)
        else { return nil }
        marked.takeBack(&waiting, table, schema)
        return waiting
    }

    func itemID(_ id: RecordID) throws -> String {
        guard let id = id.stringValue else {
            throw SyncError(.invalidItemID, "Items of sync tables have strings as ids; give a string.")
        }
        return id
    }

    /// Whether the change stays on this device.
    private func changesLocalColumnsOnly(_ row: Record, _ stored: Record) -> Bool {
        guard table.columns.contains(where: { $0.isLocal && row[$0.name] != nil }) else { return false }
        let others = table.withoutLocalColumns(row).fields
        // A row that the app has written itself says nothing of what it was before.
        return writesItems ? others.allSatisfy { name, value in stored[name] ?? .null == value } : others.isEmpty
    }

    /// The machine of an item. What is remembered of it is read only where it matters.
    private func machine(
        _ waiting: TableOperation?,
        _ stored: Record?,
        seen: String?,
        _ transaction: inout StoreTransaction
    ) throws -> ItemMachine<Record> {
        var machine = ItemMachine<Record>(change: waiting?.change)
        if let seen, let stored, seen != stored.version, let id = stored.id.stringValue {
            machine.memory = try ItemMemoryStorage.memory(of: id, in: table, &transaction)
        }
        return machine
    }

    func queued(_ waiting: TableOperation, _ transaction: inout StoreTransaction) throws -> QueuedItem {
        try QueuedItem(waiting, table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
    }

    /// Writes the operation that the machine has made of the one that waited. An edit makes earlier answers of the server
    /// out of date: they are dropped. Of a table that stays here there is none.
    ///
    /// - Returns: The operation as it waits now; nil when nothing does.
    @discardableResult private func save(
        _ machine: ItemMachine<Record>,
        _ waiting: TableOperation?,
        _ itemID: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws -> TableOperation? {
        guard !table.isLocalOnly else { return nil }
        if machine.needsRow { try ConfigurationTable.requestRefetch(of: itemID, in: table.name, &transaction) }
        guard let change = machine.change else {
            if let waiting {
                try OperationQueue.remove(waiting, &transaction)
                group.remove(waiting)
            }
            return nil
        }
        guard var operation = waiting else { return try add(change, itemID, &group, &transaction) }
        operation.change = change
        operation.isRetried = false
        operation.unknownOutcome?.pushes = 0
        try group.add(&operation, &transaction)
        try OperationQueue.removeErrors(of: operation, &transaction)
        try OperationQueue.save(operation, table, &transaction)
        return operation
    }

    /// Queues the first change of an item.
    private func add(
        _ change: QueuedChange<Record>,
        _ itemID: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws -> TableOperation {
        let operation = try operation(change, itemID, &group, &transaction)
        marked.takeBackDeletions(behind: operation, table, schema)
        try OperationQueue.add(operation, table, &transaction)
        return operation
    }

    private func operation(
        _ change: QueuedChange<Record>,
        _ itemID: String,
        _ group: inout ChangeGroup,
        _ transaction: inout StoreTransaction
    ) throws -> TableOperation {
        let number = try group.newOperationNumber(&transaction)
        var operation = TableOperation(id: number, table: table.name, itemID: itemID, change: change)
        try group.add(&operation, &transaction)
        return operation
    }

    /// An item whose deletion waited is made again: what the server has in columns that are not declared stays.
    private func keepWhatIsNotDeclared(
        of waiting: TableOperation,
        in row: Record,
        _ transaction: inout StoreTransaction
    ) throws {
        guard let base = waiting.baseItem, let local = try transaction.record(row.id, in: table.name) else { return }
        let merge = try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        try merge.write(merge.beyondDeclaredColumns(of: base, over: local), &transaction)
    }

    private func refusing<Value>(_ edit: () throws(EditRefusal) -> Value) throws(SyncError) -> Value {
        do {
            return try edit()
        } catch {
            switch error {
            case .changeWaits:
                throw SyncError(
                    .invalidAction,
                    "The item has a change waiting to be sent; update it instead."
                )
            case .deletionWaits: throw Self.deletionWaits
            }
        }
    }
}
