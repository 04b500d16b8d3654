public import SyncContract

/// The columns of an item type, by its properties' names: `$0.due` is a `Column<Date?>` when `due` is a `Date?`.
///
/// Stored properties that can be compared are columns. A computed one compiles and is refused when the query runs.
@dynamicMemberLookup
public struct Columns<Item: Decodable & Sendable>: Sendable {
    package init() {}

    /// The column of a property.
    public subscript<Value: ColumnValue>(dynamicMember property: KeyPath<Item, Value>) -> Column<Value> {
        // A name that no column has: the message of the query that is refused quotes it.
        Column<Value>(ItemDescription.of(Item.self).columnName(of: property) ?? "\(property)")
    }

    /// Where a row stands between this device and the server: see `Column.syncState`.
    public var syncState: Column<SyncState> { Column.syncState }

    /// A column by its name, for what the item type does not have.
    public subscript<Value: ColumnValue>(name: String, as type: Value.Type = Value.self) -> Column<Value> {
        Column<Value>(name)
    }
}
