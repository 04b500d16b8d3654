import ItemCoding
public import SyncContract

// Items of a type.
extension SyncTable where Item: Codable, Item.ID: RowID {
    /// Inserts an item and returns it as stored. An empty text as its id is replaced by a new UUID.
    ///
    /// - Throws: As ``SyncTable/insert(_:id:)``; ``SyncError`` with code ``SyncError/Code/invalidItem`` when the item
    ///   cannot be encoded.
    @discardableResult
    public func insert(_ item: Item) async throws -> Item {
        try await context.write(isGroup: false) { try $0.insert(item, into: self) }
    }

    /// Writes all properties of an item, over whatever came in since it was read: for items read just now, or of a type
    /// with a `version`, which says what the change is based on, so that a newer row is found out as a conflict. An item from
    /// before the server had it has none, and says nothing. Otherwise change it by its id: ``update(_:_:)``.
    ///
    /// A column in which the item says just what it would be read with from the row here stays as it is: what its type does not
    /// hold, such as further members of an object or digits of a time, is not taken away by it.
    ///
    /// - Throws: As ``update(_:)`` of untyped rows; ``SyncError`` with code ``SyncError/Code/invalidItem`` when the item
    ///   cannot be encoded.
    public func update(_ item: Item) async throws {
        try await context.write(isGroup: false) { try $0.update(item, in: self) }
    }

    /// Changes an item as it is now, in one transaction: `update(id) { $0.complete = true }`.
    ///
    /// The columns are written whose properties are different afterwards, and no others: a null for which the example's
    /// value stands in stays null. When nothing is different, nothing is queued.
    ///
    /// - Returns: The item with the change.
    /// - Throws: As `update(_:)`, also ``SyncError`` with code ``SyncError/Code/invalidAction`` when the closure gives the
    ///   item another id; what the closure throws, after which nothing was changed.
    @discardableResult
    public func update(_ id: Item.ID, _ change: @escaping @Sendable (inout Item) throws -> Void) async throws -> Item {
        try await context.write(isGroup: false) { try $0.update(id, in: self, change) }
    }

    /// Deletes an item: here at once, and on the server with the next push.
    ///
    /// - Parameters:
    ///   - id: The id.
    ///   - version: As of untyped rows: the state of the server the decision is based on; nil for that of the stored row.
    /// - Throws: As ``SyncTable/delete(_:version:)-(String,_)``.
    public func delete(_ id: Item.ID, version: String? = nil) async throws {
        try await table.delete(id.text, version: version)
    }

    /// Takes back a deletion, with what waited before it. See ``SyncTable/undoDelete(_:)-(String)``.
    public func undoDelete(_ id: Item.ID) async throws { try await table.undoDelete(id.text) }

    /// The items that were deleted here, as they were then, as long as the server is not known to have deleted them, with the
    /// state of their deletion, in the order of the operations. One that was inserted and deleted before anything was sent is
    /// not among them.
    ///
    /// A row that the type cannot be made from is left out, and told as ``SyncEvent/itemLeftOut(table:id:reason:)``.
    public func deletedItems() async throws -> [Item] {
        let (items, leftOut) = try ItemReading<Item>(definition).items(try await table.deletedItems())
        context.events.tell(leftOut, of: name)
        return items
    }

    /// Gives up what waits for an item, whatever its state. See ``SyncTable/revert(_:)-(String)``.
    public func revert(_ id: Item.ID) async throws { try await table.revert(id.text) }

    /// The item with an id; nil when there is none, which is no error.
    ///
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidItem`` for a row that the type cannot be made from; what the
    ///   type throws; `StoreError`.
    public func read(_ id: Item.ID) async throws -> Item? {
        try await readingStates {
            guard SyncStateItems.contains(Item.self) else { return try await table.read(id.text).map(decode) }
            let name = name
            return try await context.store
                .read { try $0.record(id.recordID, in: name, forItem: Item.self) }
                .map(decode)
        }
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    ///
    /// A row that the type cannot be made from is left out, and told as ``SyncEvent/itemLeftOut(table:id:reason:)``.
    public func read(_ query: Query) async throws -> [Item] {
        let (items, leftOut) = try await itemsAndOthers(query)
        context.events.tell(leftOut, of: name)
        return items
    }

    /// The same, with the ids of the rows that were left out, and why: ``SyncError`` with code
    /// ``SyncError/Code/invalidItem``. They are not told as events.
    public func read(_ query: Query, onUndecodable report: (RecordID, any Error) -> Void) async throws -> [Item] {
        let (items, leftOut) = try await itemsAndOthers(query)
        for row in leftOut { report(row.id, row.error) }
        return items
    }

    private func itemsAndOthers(_ query: Query) async throws -> (items: [Item], leftOut: [ItemReading<Item>.LeftOut]) {
        try await readingStates {
            try ItemReading<Item>(definition).items(try await table.read(query.forItems(of: Item.self)).records)
        }
    }

    /// The first item of a query; nil when there is none. Rows that the type cannot be made from are passed over, and told as
    /// by `read(_:)`.
    public func first(_ query: Query) async throws -> Item? {
        try await context.read { try $0.first(query, in: self) }
    }

    /// The items of a query, in order: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`. A selection in the query is ignored. A row that the
    /// type cannot be made from is left out, and told as ``SyncEvent/itemLeftOut(table:id:reason:)`` when it is so at first.
    public func observe(_ query: Query) -> StoreObservation<[Item]> {
        let (table, definition, events, told) = (self, definition, context.events, ToldRows())
        return StoreObservation(of: context.store, tables: query.forItems(of: Item.self).readTables) {
            try table.check(query)
            return try $0.records(query.forItems(of: Item.self))
        } transform: {
            let (items, leftOut) = try ItemReading<Item>(definition).items($0)
            events.tell(told.news(leftOut), of: definition.name)
            return items
        }
    }

    /// The item with an id, nil while there is none: now, and after each commit that changes it. A row that the type cannot
    /// be made from ends it with the error that ``read(_:)-(Item.ID)`` throws.
    public func observe(_ id: Item.ID) -> StoreObservation<Item?> {
        let (definition, query, id) = (definition, query, id.recordID)
        return StoreObservation(of: context.store, tables: query.forItems(of: Item.self).readTables) {
            try $0.record(id, in: definition.name, forItem: Item.self)
        } transform: {
            try $0.map { try ItemReading<Item>(definition).item($0) }
        }
    }

    /// Reads, and once more when it has turned out that the items ask for states.
    private func readingStates<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch is MissingSyncState {
            return try await body()
        }
    }

    func encode(_ item: Item) throws -> Record {
        try reportingUnfitItems { try RecordEncoder(definition).encode(item) }
    }

    func decode(_ record: Record) throws -> Item { try ItemReading<Item>(definition).item(record) }
}
