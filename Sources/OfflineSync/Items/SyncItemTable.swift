import ItemCoding
public import SyncContract

/// A table of the local store whose changes are queued for the server, with items of a `Codable` type.
///
/// Properties are stored under their coding keys. `Date`, `Data`, `Decimal`, `UUID` and `URL` have types of their own;
/// every other nested value is stored as JSON. A property that is nil clears its column. Properties named `version` and
/// `updatedAt` receive what the server set; see ``SyncTable/update(_:)`` for what `version` does in an update. A property
/// of type `SyncState`, whatever its name, receives where the row stands between this device and the server, with every
/// read and every live query: `var syncState = SyncState.synced`. What is put there is ignored: neither stored nor sent.
public struct SyncItemTable<Item: Codable & Identifiable & Sendable>: Sendable where Item.ID == String {
    /// The same table with untyped records.
    public let table: SyncTable

    init(table: SyncTable) { self.table = table }

    /// A query for all items of this table.
    public var query: Query { table.query }

    /// Inserts an item and returns it as stored. An empty id is replaced by a new UUID.
    ///
    /// - Throws: As ``SyncTable/insert(_:id:)``; ``SyncError`` with code ``SyncError/Code/invalidItem`` when the item
    ///   cannot be encoded.
    @discardableResult
    public func insert(_ item: Item) async throws -> Item {
        try await table.context.write(isGroup: false) { try $0.insert(item, into: self) }
    }

    /// Writes all properties of an item. See ``SyncTable/update(_:)``.
    public func update(_ item: Item) async throws {
        try await table.update(encode(item))
    }

    /// Deletes an item. See ``SyncTable/delete(_:version:)``.
    public func delete(_ id: String) async throws { try await table.delete(id) }

    /// The item with an id; nil when there is none, which is no error.
    public func read(_ id: String) async throws -> Item? {
        try await readingStates {
            guard SyncStateItems.contains(Item.self) else { return try await table.read(id).map(decode) }
            let name = table.name
            return try await table.context.store
                .read { try $0.record(.string(id), in: name, forItem: Item.self) }
                .map(decode)
        }
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    public func read(_ query: Query) async throws -> [Item] {
        try await readingStates {
            try Self.items(try await table.read(query.forItems(of: Item.self)).records, table.definition)
        }
    }

    /// The items of a query, in order: now, and after each commit of the app or of a sync that changes them.
    ///
    /// What is promised, and how it ends, is said at `StoreObservation`. A selection in the query is ignored.
    public func observe(_ query: Query) -> StoreObservation<[Item]> {
        let definition = table.definition
        return StoreObservation(of: table.context.store, tables: query.forItems(of: Item.self).readTables) {
            try $0.records(query.forItems(of: Item.self))
        } transform: {
            try Self.items($0, definition)
        }
    }

    /// The item with an id, nil while there is none: now, and after each commit that changes it.
    public func observe(_ id: String) -> StoreObservation<Item?> {
        let (definition, query) = (table.definition, query)
        return StoreObservation(of: table.context.store, tables: query.forItems(of: Item.self).readTables) {
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
        try Self.reportingUnfitItems { try RecordEncoder(table.definition).encode(item) }
    }

    func decode(_ record: Record) throws -> Item { try Self.item(record, table.definition) }

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
