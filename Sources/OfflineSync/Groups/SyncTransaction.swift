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
    public mutating func read(_ id: String, in table: SyncTable) throws -> Record? {
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
        into table: SyncTable
    ) throws -> Record {
        try add(Record(id: .string(id ?? ItemID.make()), fields), into: table)
    }

    /// Inserts many items. As ``SyncTable/insert(_:id:)``; an empty id is replaced by a new UUID.
    public mutating func insert(contentsOf items: some Sequence<Record>, into table: SyncTable) throws {
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
    public mutating func update(_ item: Record, in table: SyncTable) throws {
        try change(table) { try $0.update(item, &$1, &$2) }
    }

    /// Deletes an item. As ``SyncTable/delete(_:version:)``.
    public mutating func delete(_ id: String, version: String? = nil, from table: SyncTable) throws {
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

    private mutating func add(_ item: Record, into table: SyncTable) throws -> Record {
        try change(table) { try $0.insert(item, &$1, &$2) }
    }

    private mutating func inBatches<Item>(
        _ items: some Sequence<Item>,
        into table: SyncTable,
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
    mutating func undoDelete(_ id: String, in table: SyncTable) throws {
        try change(table) { try $0.undoDelete(.string(id), &$2) }
    }

    /// Gives up what waits for an item. As ``SyncTable/revert(_:)``.
    mutating func revert(_ id: String, in table: SyncTable) throws {
        try change(table) { try $0.revert(.string(id), &$2) }
    }

    private mutating func change<Value>(
        _ table: SyncTable,
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
    /// Inserts an item and returns it as stored. As ``SyncItemTable/insert(_:)``.
    @discardableResult
    public mutating func insert<Item>(_ item: Item, into table: SyncItemTable<Item>) throws -> Item {
        let coding = coding(of: table)
        return try SyncItemTable<Item>
            .reportingUnfitItems {
                var record = try coding.encoder.encode(item)
                if item.id.isEmpty { record.id = .string(ItemID.make()) }
                var stored = try add(record, into: table.table)
                stored.syncState = .pending
                return try coding.decoder.decode(Item.self, from: stored)
            }
    }

    /// Inserts many items. As ``SyncItemTable/insert(_:)``.
    public mutating func insert<Item>(
        contentsOf items: some Sequence<Item>,
        into table: SyncItemTable<Item>
    ) throws {
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
            try SyncItemTable<Item>
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

    /// Writes all properties of an item. As ``SyncItemTable/update(_:)``.
    public mutating func update<Item>(_ item: Item, in table: SyncItemTable<Item>) throws {
        let encoder = coding(of: table).encoder
        try update(SyncItemTable<Item>.reportingUnfitItems { try encoder.encode(item) }, in: table.table)
    }

    /// Deletes an item. As ``SyncItemTable/delete(_:)``.
    public mutating func delete<Item>(_ id: String, from table: SyncItemTable<Item>) throws {
        try delete(id, from: table.table)
    }

    private mutating func coding<Item>(of table: SyncItemTable<Item>) -> ItemCoding {
        if let coding = codings[table.table.name] { return coding }
        let definition = table.table.definition
        let coding = ItemCoding(encoder: RecordEncoder(definition), decoder: RecordDecoder(definition))
        codings[definition.name] = coding
        return coding
    }
}
