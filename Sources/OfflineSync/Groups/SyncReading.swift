internal import ItemCoding
public import SyncContract

/// What can be read inside of ``SyncContext/read(_:)`` and ``SyncContext/write(_:)``, typed and untyped.
///
/// The methods are mutating so that the compiler refuses to write, or to read again, inside the closure of `forEach`.
/// They throw `StoreError` when the store fails, and for a query that it refuses or that compares a column with a value of
/// another kind; ``SyncError`` with code ``SyncError/Code/invalidParameter`` for a table of another store.
///
/// A row that the item type cannot be made from is left out of what a query gives, and told as
/// ``SyncEvent/itemLeftOut(table:id:reason:)``; reading it by its id throws ``SyncError`` with code
/// ``SyncError/Code/invalidItem``.
public protocol SyncReading: ~Copyable {
    /// The item with an id; nil when there is none, which is no error.
    mutating func read(_ id: String, in table: SyncTable<Record>) throws -> Record?

    /// Hands every row of a query to a closure, in order.
    @_disfavoredOverload
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
    /// The rows of a query, in order. Where the items' type is known, as in `read(todos.query)`, items are read.
    @_disfavoredOverload
    public mutating func read(_ query: Query) throws -> [Record] {
        var records: [Record] = []
        try forEach(query) { records.append($0) }
        return records
    }

    /// The first row of a query; nil when there is none.
    @_disfavoredOverload
    public mutating func first(_ query: Query) throws -> Record? {
        try read(query.limited(to: Swift.min(query.limit ?? 1, 1))).first
    }

    /// The item with an id; nil when there is none, which is no error.
    public mutating func read<Item: TableItem>(_ id: Item.ID, in table: SyncTable<Item>) throws -> Item?
    where Item.ID: RowID {
        try readingStates { reading in
            guard var record = try reading.read(id.text, in: table.table) else { return nil }
            if SyncStateItems.contains(Item.self) {
                let query = table.query.filtered(by: Column("id") == record.id.fieldValue).selecting([])
                record.syncState = try reading.first(query.includingSyncStates())?.syncState
            }
            return try table.decode(record)
        }
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    public mutating func read<Item: TableItem>(_ query: Query, in table: SyncTable<Item>) throws -> [Item]
    where Item.ID: RowID {
        let (items, leftOut) = try readingStates { reading in
            try ItemReading<Item>(table.definition).items(reading.read(query.forItems(of: Item.self)))
        }
        table.context.events.tell(leftOut, of: table.name)
        return items
    }

    /// The first item of a query; nil when there is none.
    public mutating func first<Item: TableItem>(_ query: Query, in table: SyncTable<Item>) throws -> Item?
    where Item.ID: RowID {
        let (item, leftOut) = try readingStates { try $0.firstAndOthers(query, in: table) }
        table.context.events.tell(leftOut, of: table.name)
        return item
    }

    /// Hands every item of a query to a closure, in order.
    public mutating func forEach<Item: TableItem>(
        _ query: Query,
        in table: SyncTable<Item>,
        _ body: (Item) throws -> Void
    ) throws where Item.ID: RowID {
        // The first item tells whether they ask for states.
        _ = try firstItem(query, in: table)
        let reading = ItemReading<Item>(table.definition)
        try forEach(query.forItems(of: Item.self)) { record in
            switch try reading.result(record) {
            case .success(let item): try body(item)
            case .failure(let error): table.context.events.tell([(record.id, error)], of: table.name)
            }
        }
    }

    /// The first item of a query. Nothing is told.
    mutating func firstItem<Item: TableItem>(_ query: Query, in table: SyncTable<Item>) throws -> Item?
    where Item.ID: RowID {
        try readingStates { try $0.firstAndOthers(query, in: table).item }
    }

    /// The first item of a query, and the rows before it that have none.
    private mutating func firstAndOthers<Item: TableItem>(
        _ query: Query,
        in table: SyncTable<Item>
    ) throws -> (item: Item?, leftOut: [ItemReading<Item>.LeftOut]) where Item.ID: RowID {
        var query = query.forItems(of: Item.self)
        let (limit, offset) = (query.limit ?? .max, query.offset)
        var leftOut: [ItemReading<Item>.LeftOut] = []
        let reading = ItemReading<Item>(table.definition)
        // Mostly the first row has an item; where none has, few reads find that out.
        var count = 1
        // A limit below 0 is for the store to refuse.
        while query.offset - offset < limit || limit < 0 {
            query.limit = Swift.min(count, limit - (query.offset - offset))
            let records = try read(query)
            for record in records {
                switch try reading.result(record) {
                case .success(let item): return (item, leftOut)
                case .failure(let error): leftOut.append((record.id, error))
                }
            }
            if records.count < count { break }
            query.offset += count
            count = Swift.min(2 * count, 1_000)
        }
        return (nil, leftOut)
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
