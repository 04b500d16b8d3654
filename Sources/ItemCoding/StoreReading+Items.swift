public import SyncContract

/// Reading items of a `Codable` type.
///
/// An item's properties are the columns under its coding keys, and the id under `id`. `Date`, `Data`, `Decimal`, `UUID`
/// and `URL` have types of their own; every other nested value is read from JSON. A property whose column is null or
/// absent must be optional, or the table have an example; a type that takes a null itself, such as a property wrapper
/// around an optional, gets it. A property of type `SyncState`, whatever its name, receives the
/// state of the row.
///
/// The rows of one call share a decoder: an item must not keep the one it is given beyond its `init(from:)`.
extension StoreReading where Self: ~Copyable {
    /// The item with an id; nil when there is none, which is no error.
    ///
    /// - Throws: ``StoreError/Code/invalidItem`` when the row does not fit the type: the message names the property and
    ///   never the value. Otherwise as ``record(_:in:)``.
    public mutating func item<Item: Decodable>(
        _ id: RecordID,
        in table: String,
        as type: Item.Type = Item.self
    ) throws -> Item? {
        let decoder = RecordDecoder(try definition(of: table))
        do {
            return try record(id, in: table, forItem: type).map { try decoder.decode(type, from: $0) }
        } catch is MissingSyncState {
            return try record(id, in: table, forItem: type).map { try decoder.decode(type, from: $0) }
        }
    }

    /// The items of a query, in order. A selection in the query is ignored: items are whole.
    ///
    /// - Throws: As ``forEach(_:as:_:)``.
    public mutating func items<Item: Decodable>(_ query: Query, as type: Item.Type = Item.self) throws -> [Item] {
        var items: [Item] = []
        try forEach(query, as: type) { items.append($0) }
        return items
    }

    /// Hands every item of a query to a closure, in order. A selection in the query is ignored: items are whole.
    ///
    /// - Throws: ``StoreError/Code/invalidItem`` at the first row that does not fit the type: the message names the
    ///   property and never the value. Otherwise as ``forEach(_:_:)``, and what the closure throws.
    public mutating func forEach<Item: Decodable>(
        _ query: Query,
        as type: Item.Type,
        _ body: (Item) throws -> Void
    ) throws {
        let decoder = RecordDecoder(try definition(of: query.table))
        var count = 0
        do {
            try forEach(query.forItems(of: type)) { record in
                let item = try decoder.decode(type, from: record)
                count += 1
                try body(item)
            }
        } catch is MissingSyncState {
            // Mostly the first row. Those before it were handed over.
            var position = 0
            try forEach(query.forItems(of: type)) { record in
                position += 1
                if position > count { try body(decoder.decode(type, from: record)) }
            }
        }
    }
}
