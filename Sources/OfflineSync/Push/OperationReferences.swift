internal import SyncContract
internal import SyncMachines

/// An item, in the form in which its table compares ids.
struct ItemKey: Hashable, Sendable {
    var table: String
    var key: String
}

/// The item of an operation, and those that its row refers to: several operations under way at a time keep to it.
struct OperationReferences: Sendable {
    let item: ItemKey
    private let references: [ItemKey]
    /// Where the server chooses ids: whether it may make a row, and whether it looks for one by its content.
    private let makesRow: Bool
    private let looksForRow: Bool

    init(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws {
        item = ItemKey(table: table.name, key: OperationCoding.itemKey(operation.itemID, table))
        makesRow = table.assignsIDs && (operation.change.insertWaits || operation.baseVersion == nil)
        // What a dropped change has sent is taken over where the server's id is not known.
        let isDropped = try makesRow && ItemMemoryStorage.isDroppedInsert(operation.itemID, of: table, &transaction)
        looksForRow = makesRow && (isDropped || operation.change.sent.contains { $0.kind == .insert })
        let columns = table.columns.filter { $0.references != nil }
        guard !columns.isEmpty else {
            references = []
            return
        }
        let local = try transaction.record(.string(operation.itemID), in: table.name)
        // What was sent is made once more, as a deleted row, so that it cannot arrive any more. What others have made
        // of the row may refer to one that is deleted here.
        var rows =
            [local, operation.deletedItem, operation.baseItem, operation.serverItem].compactMap(\.self)
            + operation.change.sent.compactMap(\.content)
        if operation.kind == .delete, operation.baseVersion == nil {
            // So is what a dropped change has sent.
            let memory = try ItemMemoryStorage.memory(of: operation.itemID, in: table, &transaction)
            rows += memory.sent.compactMap(\.content)
        }
        references = columns.flatMap { column in
            rows.compactMap { row in
                guard let name = column.references, let other = schema.table(name),
                    let id = row[column.name]?.stringValue
                else { return nil }
                return ItemKey(table: name, key: OperationCoding.itemKey(id, other))
            }
        }
    }

    /// The items to which an operation's row has referred on the server, or may have.
    static func former(of operation: TableOperation, _ table: TableDefinition, _ schema: StoreSchema) -> Set<ItemKey> {
        let rows =
            [operation.deletedItem, operation.baseItem, operation.serverItem].compactMap(\.self)
            + operation.change.sent.compactMap(\.content)
        var items: Set<ItemKey> = []
        for column in table.columns where !column.isLocal {
            guard let other = column.references.flatMap(schema.table) else { continue }
            for id in rows.compactMap({ $0[column.name]?.stringValue }) {
                items.insert(ItemKey(table: other.name, key: OperationCoding.itemKey(id, other)))
            }
        }
        return items
    }

    /// The changes that wait for the rows that an operation's row refers to, and before which the server may not have
    /// these: inserts, and what brings a deleted row back; where the server chooses ids also the deletions that find
    /// out which id an insert has got, because the row cannot be sent before that.
    static func insertsWaiting(
        for operation: TableOperation,
        _ table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [TableOperation] {
        let columns = table.columns.filter { $0.references != nil && !$0.isLocal }
        guard !columns.isEmpty, let row = try transaction.record(.string(operation.itemID), in: table.name) else {
            return []
        }
        return try columns.compactMap { column in
            // What a table has left behind that stays on the device by now is sent by nobody.
            guard let other = column.references.flatMap(schema.table), !other.isLocalOnly,
                let id = row[column.name]?.stringValue,
                let waiting = try OperationQueue.operation(for: id, in: other, &transaction, schema)
            else { return nil }
            if try waiting.change.bringsRow || isKeptWithoutRow(waiting, other, &transaction) { return waiting }
            return try awaitsID(of: waiting, schema, &transaction) ? waiting : nil
        }
    }

    /// Whether a change is the first of a row that was kept where the server has none: it makes it anew, or brings it back.
    private static func isKeptWithoutRow(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        guard operation.kind == .update, try ItemMemoryStorage.remembersAny(of: table.name, &transaction) else {
            return false
        }
        return try ItemMemoryStorage.memory(of: operation.itemID, in: table, &transaction).isKeptWithoutRow
    }

    /// Whether a row that refers to the one of an operation cannot be sent, because that has no id on the server so far.
    static func awaitsID(
        of operation: TableOperation,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        guard let table = schema.table(operation.table), table.assignsIDs, operation.change.insertWaits else {
            return false
        }
        return try IdentifierMapping.serverIDs(of: [operation.itemID], in: table, &transaction).isEmpty
    }

    /// Whether an operation's row names one by now that is not among these, and for which something waits. Which of the
    /// two goes first is found out where operations are chosen.
    func lackOneThatWaits(
        of operation: TableOperation,
        _ table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        let columns = table.columns.filter { $0.references != nil }
        guard !columns.isEmpty, let row = try transaction.record(.string(operation.itemID), in: table.name) else {
            return false
        }
        for column in columns {
            guard let other = column.references.flatMap(schema.table), let id = row[column.name]?.stringValue else {
                continue
            }
            let named = ItemKey(table: other.name, key: OperationCoding.itemKey(id, other))
            if named == item || references.contains(named) { continue }
            if try OperationQueue.operation(for: id, in: other, &transaction, schema) != nil { return true }
        }
        return false
    }

    /// Whether one of them has to be settled before the other may be sent.
    func isTied(to other: OperationReferences) -> Bool {
        item == other.item || references.contains(other.item) || other.references.contains(item)
            || item.table == other.item.table && (looksForRow && other.makesRow || makesRow && other.looksForRow)
    }
}
