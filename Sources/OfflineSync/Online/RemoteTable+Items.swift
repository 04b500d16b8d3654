internal import Foundation
internal import ItemCoding
public import RemoteContract
public import SyncContract

// Items of a type. A property named `version` receives what the server set, and says in an update what the change is based
// on; one of type `SyncState` is always synced. An example stands in for nulls as in ``SyncTable``, and is sent when an item is
// written as a whole: there is no row here to hold it against. Use ``RemoteTable/patch(_:_:version:)`` instead.
//
// A UUID is sent in upper case; where the server has no such row, its lower case is tried.
extension RemoteTable where Item: Codable, Item.ID: RowID {
    // MARK: Reading

    /// The items of a query, in order. A selection in the query is ignored: items are whole. See `RemoteTable.read(_:)`.
    ///
    /// A row that does not fit the table, or that the type cannot be made from, is left out, and told as
    /// ``SyncEvent/itemLeftOut(table:id:reason:)``.
    public func read(_ query: Query) async throws -> [Item] {
        let (items, leftOut) = try await itemsAndOthers(query)
        events.tell(leftOut, of: name)
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
        var (items, leftOut): ([Item], [ItemReading<Item>.LeftOut]) = ([], [])
        for try await page in try pages(query) {
            items += page.items
            leftOut += page.setAside.map { (.string($0.id), SyncError(.invalidItem, $0.reason)) }
        }
        return (items, leftOut)
    }

    /// The items of a query page by page. A selection in the query is ignored. See `RemoteTable.pages(_:size:)`.
    public func pages(_ query: Query, size: Int? = nil) throws -> RemoteItemPages<Item> {
        RemoteItemPages(pages: try table.pages(Self.whole(query), size: size), coding: coding)
    }

    /// The first item of a query; nil when there is none. Rows that have none are passed over, and told as by
    /// `read(_:)`.
    public func first(_ query: Query) async throws -> Item? {
        // Mostly the first row has an item.
        for try await page in try pages(query, size: 1) {
            events.tell(page.setAside.map { (.string($0.id), SyncError(.invalidItem, $0.reason)) }, of: name)
            if let item = page.items.first { return item }
        }
        return nil
    }

    /// How many items satisfy a query, whatever its limit and offset. See `RemoteTable.count(_:)`.
    public func count(_ query: Query) async throws -> Int { try await table.count(query) }

    /// The server's item with an id; nil when there is none, or it is deleted and ``includesDeleted`` is false.
    public func read(_ id: Item.ID) async throws -> Item? {
        for spelling in Self.spellings(of: id) {
            if let record = try await table.read(spelling) { return try coding.item(record) }
        }
        return nil
    }

    // MARK: Changing

    /// Inserts an item and returns it as the server keeps it. An empty id is replaced by a new UUID. See
    /// ``RemoteTable/insert(_:id:)``.
    @discardableResult
    public func insert(_ item: Item) async throws -> Item {
        let record = try coding.record(item)
        return try coding.item(try await table.insert(record.fields, id: item.id.text.isEmpty ? nil : item.id.text))
    }

    /// Replaces an item. Its `version`, when the type has one, must be the server's. See `RemoteTable.update(_:)`.
    @discardableResult
    public func update(_ item: Item) async throws -> Item {
        let record = try coding.record(item)
        return try await spelling(item.id) { id in
            var record = record
            record.id = .string(id)
            return try await table.update(record)
        }
    }

    /// Changes some columns of an item. See `RemoteTable.patch(_:_:version:)`.
    @discardableResult
    public func patch(_ id: Item.ID, _ fields: [String: FieldValue], version: String? = nil) async throws -> Item {
        try await spelling(id) { try await table.patch($0, fields, version: version) }
    }

    /// Deletes an item; with a version, only when it is still the server's. See `RemoteTable.delete(_:version:)`.
    public func delete(_ id: Item.ID, version: String? = nil) async throws {
        var wasSent = false
        do {
            for spelling in Self.spellings(of: id) {
                if try await remote.delete(spelling, from: definition, version: version) == .confirmed { return }
                wasSent = true
            }
            for spelling in Self.spellings(of: id) {
                _ = try await remote.confirmDeletion(of: spelling, from: definition, version: version)
            }
        } catch var error as RemoteError where wasSent {
            // What follows says nothing of the deletion.
            error.wasNotSent = false
            throw error
        }
    }

    /// Brings a deleted item back as it was. See `RemoteTable.undelete(_:version:)`.
    @discardableResult
    public func undelete(_ id: Item.ID, version: String? = nil) async throws -> Item {
        try await spelling(id) { try await table.undelete($0, version: version) }
    }

    /// The forms in which a server may have an id.
    private static func spellings(of id: Item.ID) -> [String] {
        Item.ID.self == UUID.self ? [id.text, id.text.lowercased()] : [id.text]
    }

    /// Changes a row under the first of the forms of its id under which there is one.
    private func spelling(_ id: Item.ID, _ body: (String) async throws -> Record) async throws -> Item {
        var (spellings, answer) = (Self.spellings(of: id), Record?.none)
        let last = spellings.removeLast()
        for spelling in spellings where answer == nil {
            do {
                answer = try await body(spelling)
            } catch let error as RemoteError where error.code == .notFound {
                // The next one decides.
            }
        }
        if let answer { return try coding.item(answer) }
        return try coding.item(try await body(last))
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
where Item.ID: RowID {
    let pages: RemotePages
    let coding: ItemTableCoding<Item>

    /// One page: what could be read, and what could not.
    public struct Page: Sendable {
        /// The items, in the query's order.
        public let items: [Item]
        /// Rows that do not fit the table, and those that the type cannot be made from.
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
        /// - Throws: As ``RemotePages``.
        public mutating func next() async throws -> Page? {
            guard let page = try await pages.next() else { return nil }
            let (items, leftOut) = try coding.items(page.records)
            return Page(
                items: items,
                setAside: page.setAside
                    + leftOut.map { SetAsideRow(id: $0.id.stringValue ?? "", reason: $0.error.message) },
                totalCount: page.totalCount
            )
        }
    }
}

/// Items of one table from and to records.
struct ItemTableCoding<Item: TableItem>: Sendable where Item.ID: RowID {
    let definition: TableDefinition

    func record(_ item: Item) throws -> Record {
        try reportingUnfitItems { try RecordEncoder(definition).encode(item) }
    }

    func item(_ record: Record) throws -> Item { try ItemReading<Item>(definition).item(Self.synced(record)) }

    func items(_ records: [Record]) throws -> (items: [Item], leftOut: [ItemReading<Item>.LeftOut]) {
        try ItemReading<Item>(definition).items(records.map(Self.synced))
    }

    /// A row as the server has it, which is what its state says.
    private static func synced(_ record: Record) -> Record {
        var record = record
        record.syncState = .synced
        return record
    }
}
