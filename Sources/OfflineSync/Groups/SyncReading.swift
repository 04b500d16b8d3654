public import SyncContract

/// What can be read inside of ``SyncContext/read(_:)`` and ``SyncContext/write(_:)``, typed and untyped.
///
/// The methods are mutating so that the compiler refuses to write, or to read again, inside the closure of `forEach`.
/// They throw `StoreError` when the store fails; ``SyncError`` with code ``SyncError/Code/invalidParameter`` for a table of
/// another store, and with code ``SyncError/Code/invalidItem`` for a row that the item type cannot be made from.
public protocol SyncReading: ~Copyable {
    /// The item with an id; nil when there is none, which is no error.
    mutating func read(_ id: String, in table: SyncTable) throws -> Record?

    /// Hands every row of a query to a closure, in order.
    mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    mutating func count(_ query: Query) throws -> Int
}

extension SyncReading where Self: ~Copyable {
    /// The rows of a query, in order.
    public mutating func read(_ query: Query) throws -> [Record] {
        var records: [Record] = []
        try forEach(query) { records.append($0) }
        return records
    }

    /// The first row of a query; nil when there is none.
    public mutating func first(_ query: Query) throws -> Record? {
        try read(query.limited(to: min(query.limit ?? 1, 1))).first
    }

    /// The item with an id; nil when there is none, which is no error.
    public mutating func read<Item>(_ id: String, in table: SyncItemTable<Item>) throws -> Item? {
        try read(id, in: table.table).map(table.decode)
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    public mutating func read<Item>(_ query: Query, in table: SyncItemTable<Item>) throws -> [Item] {
        try SyncItemTable<Item>.items(read(SyncItemTable<Item>.whole(query)), table.table.definition)
    }

    /// The first item of a query; nil when there is none.
    public mutating func first<Item>(_ query: Query, in table: SyncItemTable<Item>) throws -> Item? {
        try first(SyncItemTable<Item>.whole(query)).map(table.decode)
    }

    /// Hands every item of a query to a closure, in order.
    public mutating func forEach<Item>(
        _ query: Query,
        in table: SyncItemTable<Item>,
        _ body: (Item) throws -> Void
    ) throws {
        try forEach(SyncItemTable<Item>.whole(query)) { try body(table.decode($0)) }
    }
}
