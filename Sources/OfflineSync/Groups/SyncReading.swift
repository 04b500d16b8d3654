internal import ItemCoding
public import SyncContract

/// What can be read inside of ``SyncContext/read(_:)`` and ``SyncContext/write(_:)``, typed and untyped.
///
/// The methods are mutating so that the compiler refuses to write, or to read again, inside the closure of `forEach`.
/// They throw `StoreError` when the store fails, and for a query that it refuses or that compares a column with a value of
/// another kind; ``SyncError`` with code ``SyncError/Code/invalidParameter`` for a table of
/// another store, and with code ``SyncError/Code/invalidItem`` for a row that the item type cannot be made from.
public protocol SyncReading: ~Copyable {
    /// The item with an id; nil when there is none, which is no error.
    mutating func read(_ id: String, in table: SyncTable<Record>) throws -> Record?

    /// Hands every row of a query to a closure, in order.
    mutating func forEach(_ query: Query, _ body: (Record) throws -> Void) throws

    /// How many rows satisfy a query's condition, whatever its limit and offset.
    mutating func count(_ query: Query) throws -> Int

    /// What was computed over the rows of a query, for all of them or for each group: counts, sums, smallest and largest
    /// values, as `Aggregate` says.
    mutating func aggregate(_ query: AggregateQuery) throws -> [AggregateGroup]

    /// The rows of a statement in SQL, in its order, for stores with the capability `sql`: see `SQLQuery`.
    mutating func rows(_ query: SQLQuery) throws -> [SQLRow]
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
    public mutating func read<Item: TableItem>(_ id: String, in table: SyncTable<Item>) throws -> Item?
    where Item.ID == String {
        try readingStates { reading in
            guard var record = try reading.read(id, in: table.table) else { return nil }
            if SyncStateItems.contains(Item.self) {
                let query = table.query.filtered(by: Column("id") == record.id.fieldValue).selecting([])
                record.syncState = try reading.first(query.includingSyncStates())?.syncState
            }
            return try table.decode(record)
        }
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    public mutating func read<Item: TableItem>(_ query: Query, in table: SyncTable<Item>) throws -> [Item]
    where Item.ID == String {
        try readingStates { reading in
            try SyncTable<Item>.items(reading.read(query.forItems(of: Item.self)), table.definition)
        }
    }

    /// The first item of a query; nil when there is none.
    public mutating func first<Item: TableItem>(_ query: Query, in table: SyncTable<Item>) throws -> Item?
    where Item.ID == String {
        try readingStates { try $0.first(query.forItems(of: Item.self)).map(table.decode) }
    }

    /// Hands every item of a query to a closure, in order.
    public mutating func forEach<Item: TableItem>(
        _ query: Query,
        in table: SyncTable<Item>,
        _ body: (Item) throws -> Void
    ) throws where Item.ID == String {
        // The first item tells whether they ask for states.
        _ = try first(query, in: table)
        try forEach(query.forItems(of: Item.self)) { try body(table.decode($0)) }
    }

    /// Reads, and once more when it has turned out that the items ask for states.
    private mutating func readingStates<Value>(_ body: (inout Self) throws -> Value) throws -> Value {
        do {
            return try body(&self)
        } catch is MissingSyncState {
            return try body(&self)
        }
    }
}
