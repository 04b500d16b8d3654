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

    /// How many items are inserted together.
    private static let batchSize = 500

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
        try add(Record(id: .string(id ?? ItemID.make()), fields), into: table)
    }

    /// Inserts many items. As ``SyncTable/insert(_:id:)``; an empty id is replaced by a new UUID.
    public mutating func insert(contentsOf items: some Sequence<Record>, into table: SyncTable<Record>) throws {
        let changes = table.changes
        try inBatches(items, into: table) { batch, group, transaction in
            var batch = batch
            for index in batch.indices where batch[index].id == .string("") {
                batch[index].id = .string(ItemID.make())
            }
            try changes.insert(batch.map { try changes.itemID($0.id) }, &group, &transaction) {
                batch[$0]
            } insertRow: {
                try $1.insert(changes.writable(batch[$0], over: nil), into: changes.table.name)
            }
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
        let mayCascade = DeletionRules(context.store.schema).concern(table.definition)
        for id in ids {
            // One may have gone with another that was deleted before.
            if mayCascade, try read(id, in: table) == nil { continue }
            try delete(id, from: table)
        }
        return ids.count
    }

    private mutating func add(_ item: Record, into table: SyncTable<Record>) throws -> Record {
        try change(table) { try $0.insert(item, &$1, &$2) }
    }

    private mutating func inBatches<Item>(
        _ items: some Sequence<Item>,
        into table: SyncTable<Record>,
        _ insert: ([Item], inout ChangeGroup, inout StoreTransaction) throws -> Void
    ) throws {
        var batch: [Item] = []
        for item in items {
            batch.append(item)
            guard batch.count == Self.batchSize else { continue }
            try change(table) { try insert(batch, &$1, &$2) }
            batch.removeAll(keepingCapacity: true)
        }
        try change(table) { if !batch.isEmpty { try insert(batch, &$1, &$2) } }
    }

    /// Takes back a deletion. As ``SyncTable/undoDelete(_:)``.
    mutating func undoDelete(_ id: String, in table: SyncTable<Record>) throws {
        try change(table) { try $0.undoDelete(.string(id), &$2) }
    }

    /// Gives up what waits for an item. As ``SyncTable/revert(_:)``.
    mutating func revert(_ id: String, in table: SyncTable<Record>) throws {
        try change(table) { try $0.revert(.string(id), &$2) }
    }

    private mutating func change<Value>(
        _ table: SyncTable<Record>,
        _ body: (LocalChanges, inout ChangeGroup, inout StoreTransaction) throws -> Value
    ) throws -> Value {
        try context.check(table)
        do {
            return try body(table.changes, &group, &transaction)
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
        let coding = coding(of: table)
        return try SyncTable<Item>
            .reportingUnfitItems {
                var record = try coding.encoder.encode(item)
                if item.id.isEmpty { record.id = .string(ItemID.make()) }
                var stored = try add(record, into: table.table)
                stored.syncState = .pending
                return try coding.decoder.decode(Item.self, from: stored)
            }
    }

    /// Inserts many items. As ``SyncTable/insert(_:)``.
    public mutating func insert<Item: TableItem>(
        contentsOf items: some Sequence<Item>,
        into table: SyncTable<Item>
    ) throws where Item.ID == String {
        let (changes, coding) = (table.table.changes, coding(of: table))
        try inBatches(items, into: table.table) { batch, group, transaction in
            let ids = batch.map { $0.id.isEmpty ? ItemID.make() : $0.id }
            // Such a store takes items without records in between.
            let backend = transaction.backend as? any ItemWriteBackend
            func record(_ index: Int) throws -> Record {
                var record = try coding.encoder.encode(batch[index])
                record.id = .string(ids[index])
                return record
            }
            try SyncTable<Item>
                .reportingUnfitItems {
                    try changes.insert(ids, &group, &transaction, record: record) { index, transaction in
                        if let backend {
                            return try backend.insert(made: batch[index], id: ids[index], into: changes.table.name)
                        }
                        return try transaction.insert(
                            changes.writable(record(index), over: nil),
                            into: changes.table.name
                        )
                    }
                }
        }
    }

    /// Writes all properties of an item. As ``SyncTable/update(_:)``.
    public mutating func update<Item: TableItem>(_ item: Item, in table: SyncTable<Item>) throws
    where Item.ID == String {
        let encoder = coding(of: table).encoder
        try update(SyncTable<Item>.reportingUnfitItems { try encoder.encode(item) }, in: table.table)
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

    private mutating func coding<Item: TableItem>(of table: SyncTable<Item>) -> ItemCoding {
        if let coding = codings[table.name] { return coding }
        let definition = table.definition
        let coding = ItemCoding(encoder: RecordEncoder(definition), decoder: RecordDecoder(definition))
        codings[definition.name] = coding
        return coding
    }
}
