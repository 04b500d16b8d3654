internal import ItemCoding
public import SyncContract

/// Reads and changes any number of items of any tables as one transaction. It is lent to the closure of
/// ``SyncContext/write(_:)``.
///
/// It reads what it has written. It cannot be copied, stored or returned, and no `await` can stand beside it: the compiler
/// refuses all of these.
public struct SyncTransaction: ~Copyable, SyncReading {
    private let context: SyncContext
    private var transaction: StoreTransaction
    private var group: ChangeGroup

    /// What encodes and decodes items, by their tables: making it takes longer than using it once.
    private var codings: [String: ItemCoding] = [:]

    private struct ItemCoding {
        let encoder: RecordEncoder
        let decoder: RecordDecoder
    }

    /// What was thrown at a change of which a part may be there, so that nothing of the group is kept.
    private var failure: (any Error)?

    init(_ context: SyncContext, _ transaction: consuming StoreTransaction, isGroup: Bool) {
        self.context = context
        self.transaction = transaction
        group = ChangeGroup(isGroup: isGroup)
    }

    // MARK: Reading

    /// The item with an id; nil when there is none, which is no error.
    public mutating func read(_ id: String, in table: SyncTable<Record>) throws -> Record? {
        try context.check(table)
        return try transaction.record(.string(id), in: table.name)
    }

    /// Hands every row of a query to a closure, in order.
    @_disfavoredOverload
    public mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try query.checkKinds(for: transaction.definition(of: query.table))
        try transaction.forEach(query, body)
    }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    public mutating func count(_ query: Query) throws -> Int {
        try query.checkKinds(for: transaction.definition(of: query.table))
        return try transaction.count(query)
    }

    /// The rows of a statement in SQL, in its order.
    public mutating func rows(_ query: SQLQuery) throws -> [SQLRow] { try transaction.rows(query) }

    /// What was computed over the rows of a query, for all of them or for each group.
    public mutating func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup] {
        try query.rows.checkKinds(for: transaction.definition(of: query.rows.table))
        return try transaction.aggregate(query)
    }

    // MARK: Changing

    /// Inserts an item. As ``SyncTable/insert(_:id:)``.
    @discardableResult
    public mutating func insert(
        _ fields: [String: FieldValue],
        id: String? = nil,
        into table: SyncTable<Record>
    ) throws -> Record {
        try add(Record(id: .string(ItemID.given(id, among: fields) ?? ItemID.make()), fields), into: table)
    }

    /// Inserts many items. As ``SyncTable/insert(_:id:)``; an empty id is replaced by a new UUID.
    ///
    /// When one is refused behind others, nothing of the group is kept, even if the closure goes on.
    public mutating func insert(contentsOf items: some Sequence<Record>, into table: SyncTable<Record>) throws {
        var isFirst = true
        for var item in items {
            if item.id == .string("") { item.id = .string(ItemID.make()) }
            defer { isFirst = false }
            try change(table, isPart: !isFirst) { changes, group, transaction in
                try changes.insert(changes.itemID(item.id), &group, &transaction) {
                    item
                } insertRow: {
                    try $0.insert(changes.writable(item, over: nil), into: changes.table.name)
                }
            }
        }
    }

    /// Changes an item. As `SyncTable.update(_:)`.
    public mutating func update(_ item: Record, in table: SyncTable<Record>) throws {
        try change(table) { try $0.update(item, &$1, &$2) }
    }

    /// Deletes an item. As ``SyncTable/delete(_:version:)-(String,_)``.
    public mutating func delete(_ id: String, version: String? = nil, from table: SyncTable<Record>) throws {
        try change(table) { try $0.delete(.string(id), version: version, &$1, &$2) }
    }

    /// Deletes the rows that a query gives, here and with the next push on the server. When one is refused behind others,
    /// nothing of the group is kept, even if the closure goes on.
    ///
    /// - Returns: How many there were.
    /// - Throws: As ``SyncTable/delete(_:version:)-(String,_)``; `StoreError` with code `tableNotFound`.
    @discardableResult
    public mutating func delete(_ query: Query) throws -> Int {
        let table = try context.table(query.table)
        try table.check(query)
        let ids = try transaction.records(query.selecting([])).compactMap(\.id.stringValue)
        let mayCascade = DeletionRules(context.store.schema).concern(table.definition)
        for id in ids {
            // One may have gone with another that was deleted before.
            if mayCascade, try read(id, in: table) == nil { continue }
            try change(table, isPart: id != ids.first) { try $0.delete(.string(id), version: nil, &$1, &$2) }
        }
        return ids.count
    }

    mutating func add(_ item: Record, into table: SyncTable<Record>) throws -> Record {
        try change(table) { try $0.insert(item, &$1, &$2) }
    }

    /// Takes back a deletion. As ``SyncTable/undoDelete(_:)``.
    mutating func undoDelete(_ id: String, in table: SyncTable<Record>) throws {
        try change(table) { try $0.undoDelete(.string(id), &$2) }
    }

    /// Gives up what waits for an item. As ``SyncTable/revert(_:)``.
    mutating func revert(_ id: String, in table: SyncTable<Record>) throws {
        try change(table) { try $0.revert(.string(id), &$2) }
    }

    /// Makes a change. A part of a call that has made others before it takes these with it when it is refused.
    private mutating func change<Value>(
        _ table: SyncTable<Record>,
        isPart: Bool = false,
        _ body: (LocalChanges, inout ChangeGroup, inout StoreTransaction) throws -> Value
    ) throws -> Value {
        try context.check(table)
        do {
            return try body(table.changes, &group, &transaction)
        } catch let error as SyncError {
            // It was refused before anything of it was written.
            if isPart { failure = error }
            throw error
        } catch {
            failure = error
            throw error
        }
    }

    /// Ends the group.
    ///
    /// - Throws: What the store threw at a change, although the closure went on.
    mutating func end() throws {
        if let failure { throw failure }
        try group.end(&transaction)
    }
}

// Items of a type.
extension SyncTransaction {
    /// Inserts an item and returns it as stored. As ``SyncTable/insert(_:)->Item``.
    ///
    /// When the item cannot be made of its row again, nothing of the group is kept, even if the closure goes on.
    @discardableResult
    public mutating func insert<Item: TableItem>(_ item: Item, into table: SyncTable<Item>) throws -> Item
    where Item.ID: RowID {
        let coding = coding(of: table)
        var record = try reportingUnfitItems { try coding.encoder.encode(item) }
        if item.id.text.isEmpty { record.id = .string(ItemID.make()) }
        var stored = try reportingUnfitItems { try add(record, into: table.table) }
        stored.syncState = table.definition.isLocalOnly ? .synced : .pending
        return try made {
            let item = try coding.decoder.decode(Item.self, from: stored)
            guard table.definition.isSameID(item.id.recordID, stored.id) else {
                throw Self.otherID(Item.self, table.name)
            }
            return item
        }
    }

    /// The error for an item that has another id when it is made of its row: it could not be found by it.
    private static func otherID(_ type: Any.Type, _ table: String) -> SyncError {
        SyncError(
            .invalidItem,
            "An item of '\(table)' that is made of its row again has another id than the row; decode 'id' of \(type) under"
                + " the key 'id', or give the item its id before it is inserted."
        )
    }

    /// Makes an item of a row that was just written. Where it does not become one nothing of the group is kept.
    private mutating func made<Item>(_ item: () throws -> Item) throws -> Item {
        do {
            return try reportingUnfitItems(item)
        } catch {
            failure = error
            throw error
        }
    }

    /// Inserts many items. As ``SyncTable/insert(_:)->Item``.
    ///
    /// When one is refused behind others, nothing of the group is kept, even if the closure goes on.
    public mutating func insert<Item: TableItem>(
        contentsOf items: some Sequence<Item>,
        into table: SyncTable<Item>
    ) throws where Item.ID: RowID {
        let (encoder, untyped) = (coding(of: table).encoder, table.table)
        let takesIDs = ItemDescription.of(Item.self).takesIDs
        // Such a store takes items without records in between.
        let backend = transaction.backend as? any ItemWriteBackend
        var isFirst = true
        for item in items {
            defer { isFirst = false }
            let isGiven = !item.id.text.isEmpty
            guard isGiven || takesIDs else {
                let error = Self.otherID(Item.self, table.name)
                if !isFirst { failure = error }
                throw error
            }
            let id = isGiven ? item.id.text : ItemID.make()
            func record() throws -> Record {
                var record = try encoder.encode(item)
                record.id = .string(id)
                return record
            }
            try change(untyped, isPart: !isFirst) { changes, group, transaction in
                try reportingUnfitItems {
                    try changes.insert(id, &group, &transaction, record: record) { transaction in
                        if let backend { return try backend.insert(made: item, id: id, into: changes.table.name) }
                        return try transaction.insert(changes.writable(record(), over: nil), into: changes.table.name)
                    }
                }
            }
        }
    }

    /// Writes all properties of an item. As `SyncTable.update(_:)`.
    public mutating func update<Item: TableItem>(_ item: Item, in table: SyncTable<Item>) throws
    where Item.ID: RowID {
        let coding = coding(of: table)
        let record = try reportingUnfitItems { try coding.encoder.encode(item) }
        try change(table.table) { changes, group, transaction in
            try changes.update(record, &group, &transaction) { record, stored in
                // What the item says as it was read is no change: the row may say more.
                let origin = ItemOrigin<Item>(stored, coding.encoder, coding.decoder)
                for name in record.names where name != "version" {
                    if let value = origin.value(name, as: record), value != record[name] { record[name] = nil }
                }
            }
        }
    }

    /// Changes an item as it is in the transaction. As ``SyncTable/update(_:_:)``.
    ///
    /// When the item cannot be made of its row again, nothing of the group is kept, even if the closure goes on.
    @discardableResult
    public mutating func update<Item: TableItem>(
        _ id: Item.ID,
        in table: SyncTable<Item>,
        _ change: (inout Item) throws -> Void
    ) throws -> Item where Item.ID: RowID {
        guard var item = try read(id, in: table) else {
            throw SyncError(
                .invalidAction,
                "The store has no such item in '\(table.name)'; insert it, or pull it first."
            )
        }
        let (before, itemID) = (try table.encode(item), item.id)
        try change(&item)
        guard item.id == itemID else {
            throw SyncError(.invalidAction, "A change cannot give an item another id; insert one, and delete this one.")
        }
        let after = try table.encode(item)
        // Where the app writes the items itself it may have done so before.
        guard after != before || !context.store.handlesSyncTableOperations else { return item }
        // What is not different is not written: it may be a null for which another value stands in.
        var changes = Record(id: after.id)
        for name in after.names where after[name] != before[name] || name == "version" { changes[name] = after[name] }
        if changes == Record(id: after.id) { changes = after }
        try update(changes, in: table.table)
        let stored: Item?
        do {
            stored = try read(id, in: table)
        } catch {
            failure = error
            throw error
        }
        return stored ?? item
    }

    /// Deletes an item. As ``SyncTable/delete(_:version:)-(Item.ID,_)``.
    public mutating func delete<Item: TableItem>(_ id: Item.ID, from table: SyncTable<Item>) throws
    where Item.ID: RowID {
        try delete(id.text, from: table.table)
    }

    private mutating func coding<Item: TableItem>(of table: SyncTable<Item>) -> ItemCoding {
        if let coding = codings[table.name] { return coding }
        let definition = table.definition
        let coding = ItemCoding(encoder: RecordEncoder(definition), decoder: RecordDecoder(definition))
        codings[definition.name] = coding
        return coding
    }
}
