public import SyncContract

/// Writing items of a `Codable` type.
extension StoreTransaction {
    /// Inserts items, or overwrites the columns of the rows with their ids.
    ///
    /// An item's properties are stored under their coding keys. `Date`, `Data`, `Decimal`, `UUID` and `URL` have types
    /// of their own; every other nested value is stored as JSON. A property that is nil clears its column; a column
    /// without a property stays as it is. A property of type `SyncState` is not stored.
    ///
    /// - Throws: ``StoreError/Code/invalidItem`` when an item cannot be encoded as named values: the message names the
    ///   property and never the value. Otherwise as ``upsert(_:into:)`` for records.
    public mutating func upsert<Item: Encodable & Identifiable>(
        _ items: [Item],
        into table: String
    ) throws where Item.ID: RowID {
        if let backend = backend as? any ItemWriteBackend { return try backend.upsert(items: items, into: table) }
        let encoder = RecordEncoder(try definition(of: table))
        try upsert(try items.map(encoder.encode), into: table)
    }
}

/// A backend that writes items without making records of them.
package protocol ItemWriteBackend: StoreWriteBackend {
    /// Writes items as ``StoreTransaction/upsert(_:into:)`` promises it.
    func upsert<Item: Encodable & Identifiable>(items: [Item], into table: String) throws where Item.ID: RowID

    /// Inserts an item that was made on this device, unless the table has a row with its id, and returns whether it did.
    ///
    /// - Throws: ``StoreError/Code/invalidItem`` for what ``LocalValues`` refuses. Otherwise as
    ///   ``StoreWriteBackend/insert(_:into:)``.
    func insert<Item: Encodable & Identifiable>(made item: Item, id: String, into table: String) throws -> Bool
    where Item.ID: RowID

    /// Inserts a record unless the table has a row with its id, or another one that holds the same as the record in all of
    /// some columns, and returns whether it did. The record has values in these columns, and the table an index by them.
    ///
    /// - Throws: As ``StoreWriteBackend/insert(_:into:)``.
    func insert(_ record: Record, into table: String, uniqueIn columns: [String]) throws -> Bool
}
