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

    /// What the store threw at a change: of that change a part may be there, so nothing of the group is kept.
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
    public mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        try transaction.forEach(query, body)
    }

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    public mutating func count(_ query: Query) throws -> Int { try transaction.count(query) }

    // MARK: Changing

    /// Inserts an item. As ``SyncTable/insert(_:id:)``.
    @discardableResult
    public mutating func insert(
        _ fields: [String: FieldValue],
        id: String? = nil,
        into table: SyncTable<Record>
    ) throws -> Record {
        let item = Record(id: .string(id ?? ItemID.make()), fields)
        try add(item, into: table)
        return try transaction.record(item.id, in: table.name) ?? item
    }

    /// Inserts many items. As ``SyncTable/insert(_:id:)``; an empty id is replaced by a new UUID.
    public mutating func insert(contentsOf items: some Sequence<Record>, into table: SyncTable<Record>) throws {
        for item in items {
            var item = item
            if item.id == .string("") { item.id = .string(ItemID.make()) }
            try add(item, into: table)
        }
    }

    /// Changes an item. As ``SyncTable/update(_:)``.
    public mutating func update(_ item: Record, in table: SyncTable<Record>) throws {
        try change(table) { try $0.update(item, &$1, &$2) }
    }

    /// Deletes an item. As ``SyncTable/delete(_:version:)``.
    public mutating func delete(_ id: String, version: String? = nil, from table: SyncTable<Record>) throws {
        try change(table) { try $0.delete(.string(id), version: version, &$1, &$2) }
    }

    /// Deletes the rows that a query gives, here and with the next push on the server.
    ///
    /// - Returns: How many there were.
    /// - Throws: As ``SyncTable/delete(_:version:)``; `StoreError` with code `tableNotFound`.
    @discardableResult
    public mutating func delete(_ query: Query) throws -> Int {
        let table = try context.table(query.table)
        let ids = try transaction.records(query.selecting([])).compactMap(\.id.stringValue)
        for id in ids { try delete(id, from: table) }
        return ids.count
    }

    private mutating func add(_ item: Record, into table: SyncTable<Record>) throws {
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

    private mutating func change(
        _ table: SyncTable<Record>,
        _ body: (LocalChanges, inout ChangeGroup, inout StoreTransaction) throws -> Void
    ) throws {
        try context.check(table)
        do {
            try body(table.changes, &group, &transaction)
        } catch let error as SyncError {
            // It was refused before anything was written.
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
    /// Inserts an item and returns it as stored. As ``SyncTable/insert(_:)``.
    @discardableResult
    public mutating func insert<Item: TableItem>(_ item: Item, into table: SyncTable<Item>) throws -> Item
    where Item.ID == String {
        let record = try table.encode(item)
        var stored = try insert(record.fields, id: item.id.isEmpty ? nil : item.id, into: table.table)
        stored.syncState = .pending
        return try table.decode(stored)
    }

    /// Inserts many items. As ``SyncTable/insert(_:)``.
    public mutating func insert<Item: TableItem>(
        contentsOf items: some Sequence<Item>,
        into table: SyncTable<Item>
    ) throws where Item.ID == String {
        try insert(contentsOf: items.map(table.encode), into: table.table)
    }

    /// Writes all properties of an item. As ``SyncTable/update(_:)``.
    public mutating func update<Item: TableItem>(_ item: Item, in table: SyncTable<Item>) throws
    where Item.ID == String {
        try update(table.encode(item), in: table.table)
    }

    /// Changes an item as it is in the transaction. As ``SyncTable/update(_:_:)``.
    @discardableResult
    public mutating func update<Item: TableItem>(
        _ id: String,
        in table: SyncTable<Item>,
        _ change: (inout Item) throws -> Void
    ) throws -> Item where Item.ID == String {
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
        let record = try table.encode(item)
        guard record != before else { return item }
        try update(record, in: table.table)
        return try read(id, in: table) ?? item
    }

    /// Deletes an item. As ``SyncTable/delete(_:)``.
    public mutating func delete<Item: TableItem>(_ id: String, from table: SyncTable<Item>) throws
    where Item.ID == String {
        try delete(id, from: table.table)
    }
}
