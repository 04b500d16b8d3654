import ItemCoding
public import SyncContract

// Items of a type.
extension SyncTable where Item: Codable, Item.ID == String {
    /// Inserts an item and returns it as stored. An empty id is replaced by a new UUID.
    ///
    /// - Throws: As ``SyncTable/insert(_:id:)``; ``SyncError`` with code ``SyncError/Code/invalidItem`` when the item
    ///   cannot be encoded.
    @discardableResult
    public func insert(_ item: Item) async throws -> Item {
        try await context.write(isGroup: false) { try $0.insert(item, into: self) }
    }

    /// Writes all properties of an item, over whatever came in since it was read: for items read just now, or of a type
    /// with a `version`, which says what the change is based on, so that a newer row is found out as a conflict. Otherwise
    /// change it by its id: ``update(_:_:)``.
    ///
    /// - Throws: As ``update(_:)`` of untyped rows; ``SyncError`` with code ``SyncError/Code/invalidItem`` when the item
    ///   cannot be encoded.
    public func update(_ item: Item) async throws {
        try await table.update(encode(item))
    }

    /// Changes an item as it is now, in one transaction: `update(id) { $0.complete = true }`. When nothing is different
    /// afterwards, nothing is queued.
    ///
    /// - Returns: The item with the change.
    /// - Throws: As `update(_:)`, also ``SyncError`` with code ``SyncError/Code/invalidAction`` when the closure gives the
    ///   item another id; what the closure throws, after which nothing was changed.
    @discardableResult
    public func update(_ id: String, _ change: @escaping @Sendable (inout Item) throws -> Void) async throws -> Item {
        try await context.write(isGroup: false) { try $0.update(id, in: self, change) }
    }

    /// Deletes an item: here at once, and on the server with the next push.
    public func delete(_ id: String) async throws { try await table.delete(id) }

    /// The item with an id; nil when there is none, which is no error.
    public func read(_ id: String) async throws -> Item? {
        try await readingStates {
            guard SyncStateItems.contains(Item.self) else { return try await table.read(id).map(decode) }
            let name = name
            return try await context.store
                .read { try $0.record(.string(id), in: name, forItem: Item.self) }
                .map(decode)
        }
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    public func read(_ query: Query) async throws -> [Item] {
        try await readingStates {
            try Self.items(try await table.read(query.forItems(of: Item.self)).records, definition)
        }
    }

    /// The items of a query, in order: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`. A selection in the query is ignored.
    public func observe(_ query: Query) -> StoreObservation<[Item]> {
        let (table, definition) = (self, definition)
        return StoreObservation(of: context.store, tables: query.forItems(of: Item.self).readTables) {
            try table.check(query)
            return try $0.records(query.forItems(of: Item.self))
        } transform: {
            try Self.items($0, definition)
        }
    }

    /// The item with an id, nil while there is none: now, and after each commit that changes it.
    public func observe(_ id: String) -> StoreObservation<Item?> {
        let (definition, query) = (definition, query)
        return StoreObservation(of: context.store, tables: query.forItems(of: Item.self).readTables) {
            try $0.record(.string(id), in: definition.name, forItem: Item.self)
        } transform: {
            try $0.map { try Self.item($0, definition) }
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
        try Self.reportingUnfitItems { try RecordEncoder(definition).encode(item) }
    }

    func decode(_ record: Record) throws -> Item { try Self.item(record, definition) }

    private static func item(_ record: Record, _ definition: TableDefinition) throws -> Item {
        try reportingUnfitItems { try RecordDecoder(definition).decode(Item.self, from: record) }
    }

    static func items(_ records: [Record], _ definition: TableDefinition) throws -> [Item] {
        let decoder = RecordDecoder(definition)
        return try reportingUnfitItems { try records.map { try decoder.decode(Item.self, from: $0) } }
    }

    /// Items are the engine's matter here: what does not fit is its error, not the store's.
    static func reportingUnfitItems<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as StoreError where error.code == .invalidItem {
            throw SyncError(.invalidItem, error.message, cause: error.cause)
        }
    }
}
