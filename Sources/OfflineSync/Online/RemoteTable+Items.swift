internal import ItemCoding
public import RemoteContract
public import SyncContract

// Items of a type. A property named `version` receives what the server set, and says in an update what the change is based on.
extension RemoteTable where Item: Codable, Item.ID == String {
    // MARK: Reading

    /// The items of a query, in order. A selection in the query is ignored: items are whole. See `RemoteTable.read(_:)`.
    ///
    /// - Throws: As there; ``SyncError`` with code ``SyncError/Code/invalidItem`` for a row that does not fit the type.
    public func read(_ query: Query) async throws -> [Item] {
        try coding.items(try await table.read(Self.whole(query)))
    }

    /// The items of a query page by page. A selection in the query is ignored. See `RemoteTable.pages(_:size:)`.
    public func pages(_ query: Query, size: Int? = nil) throws -> RemoteItemPages<Item> {
        RemoteItemPages(pages: try table.pages(Self.whole(query), size: size), coding: coding)
    }

    /// The first item of a query; nil when there is none.
    public func first(_ query: Query) async throws -> Item? {
        try await table.first(Self.whole(query)).map(coding.item)
    }

    /// How many items satisfy a query, whatever its limit and offset. See `RemoteTable.count(_:)`.
    public func count(_ query: Query) async throws -> Int { try await table.count(query) }

    /// The server's item with an id; nil when there is none, or it is deleted.
    public func read(_ id: String) async throws -> Item? { try await table.read(id).map(coding.item) }

    // MARK: Changing

    /// Inserts an item and returns it as the server keeps it. An empty id is replaced by a new UUID. See
    /// ``RemoteTable/insert(_:id:)``.
    @discardableResult
    public func insert(_ item: Item) async throws -> Item {
        let record = try coding.record(item)
        return try coding.item(try await table.insert(record.fields, id: item.id.isEmpty ? nil : item.id))
    }

    /// Replaces an item. Its `version`, when the type has one, must be the server's. See `RemoteTable.update(_:)`.
    @discardableResult
    public func update(_ item: Item) async throws -> Item {
        try coding.item(try await table.update(try coding.record(item)))
    }

    /// Changes some columns of an item. See `RemoteTable.patch(_:_:version:)`.
    @discardableResult
    public func patch(_ id: String, _ fields: [String: FieldValue], version: String? = nil) async throws -> Item {
        try coding.item(try await table.patch(id, fields, version: version))
    }

    /// Deletes an item; with a version, only when it is still the server's. See `RemoteTable.delete(_:version:)`.
    public func delete(_ id: String, version: String? = nil) async throws {
        try await table.delete(id, version: version)
    }

    /// Brings a deleted item back as it was. See `RemoteTable.undelete(_:version:)`.
    @discardableResult
    public func undelete(_ id: String, version: String? = nil) async throws -> Item {
        try coding.item(try await table.undelete(id, version: version))
    }

    private var coding: ItemTableCoding<Item> { ItemTableCoding(definition: definition) }

    private static func whole(_ query: Query) -> Query {
        var query = query
        query.selection = nil
        return query
    }
}

/// The items of a query on the server, page by page. Made by `RemoteTable.pages(_:size:)`.
public struct RemoteItemPages<Item: TableItem>: AsyncSequence, Sendable
where Item.ID == String {
    let pages: RemotePages
    let coding: ItemTableCoding<Item>

    /// One page: what could be read, and what could not.
    public struct Page: Sendable {
        /// The items, in the query's order.
        public let items: [Item]
        /// Rows that do not fit the table.
        public let setAside: [SetAsideRow]
        /// How many rows satisfy the query; nil when the server did not say.
        public let totalCount: Int?
    }

    /// Starts with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator(), coding: coding) }

    /// Goes from page to page.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: RemotePages.Iterator
        let coding: ItemTableCoding<Item>

        /// The next page; nil after the last one.
        ///
        /// - Throws: As ``RemotePages``; ``SyncError`` with code ``SyncError/Code/invalidItem``.
        public mutating func next() async throws -> Page? {
            guard let page = try await pages.next() else { return nil }
            return Page(
                items: try coding.items(page.records),
                setAside: page.setAside,
                totalCount: page.totalCount
            )
        }
    }
}

/// Items of one table from and to records.
struct ItemTableCoding<Item: TableItem>: Sendable where Item.ID == String {
    let definition: TableDefinition

    func record(_ item: Item) throws -> Record {
        try Self.reportingUnfitItems { try RecordEncoder(definition).encode(item) }
    }

    func item(_ record: Record) throws -> Item {
        try Self.reportingUnfitItems { try RecordDecoder(definition).decode(Item.self, from: record) }
    }

    func items(_ records: [Record]) throws -> [Item] {
        let decoder = RecordDecoder(definition)
        return try Self.reportingUnfitItems { try records.map { try decoder.decode(Item.self, from: $0) } }
    }

    /// Items are the engine's matter here: what does not fit is its error, not the store's.
    private static func reportingUnfitItems<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as StoreError where error.code == .invalidItem {
            throw SyncError(.invalidItem, error.message, cause: error.cause)
        }
    }
}
