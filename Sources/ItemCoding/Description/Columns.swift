public import SyncContract

/// The columns of an item type, by its properties' names: `$0.due` is a `Column<Date?>` when `due` is a `Date?`.
///
/// Stored properties that can be compared are columns. A computed one compiles and is refused when the query runs.
@dynamicMemberLookup
public struct Columns<Item: Decodable & Sendable>: Sendable {
    package init() {}

    /// The column of a property.
    public subscript<Value: ColumnValue>(dynamicMember property: KeyPath<Item, Value>) -> Column<Value> {
        Column<Value>(ItemDescription.of(Item.self).columnName(of: property) ?? Self.unknownName(of: property))
    }

    /// A name that no column has: the message of the query that is refused quotes it.
    private static func unknownName<Value>(of property: KeyPath<Item, Value>) -> String {
        let name = "\(property)"
        // Nothing but an address and a type is known of a computed one; the type helps to find it.
        return name.contains("<computed 0x") ? "\\\(Item.self).<computed \(Value.self)>" : name
    }

    /// Where a row stands between this device and the server: see `Column.syncState`.
    public var syncState: Column<SyncState> { Column.syncState }

    /// A column by its name, for what the item type does not have.
    public subscript<Value: ColumnValue>(name: String, as type: Value.Type = Value.self) -> Column<Value> {
        Column<Value>(name)
    }
}
