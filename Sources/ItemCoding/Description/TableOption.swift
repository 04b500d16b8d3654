public import SyncContract

/// What a table of an item type is beside its columns: see `TableDefinition.init(_:named:systemProperties:_:)`.
public struct TableOption<Item: Codable & Identifiable & Sendable> {
    enum Kind {
        case local([PartialKeyPath<Item>])
        case searchable([PartialKeyPath<Item>])
        case indexed([PartialKeyPath<Item>])
        case references(PartialKeyPath<Item>, table: String)
        case example(Item)
        case assignsIDs
        case idComparison(IDComparison)
        case onDelete(PartialKeyPath<Item>, table: String, DeletionRule)
        case wireName(String)
        case columnWireName(String, PartialKeyPath<Item>)
        case localOnly
        case owns(PartialKeyPath<Item>)
    }

    let kind: Kind

    /// Columns that belong to this device: never sent, and never touched by a pull. See `ColumnDefinition.isLocal`.
    ///
    /// In the item of a row that came from the server they are nil, false, 0 or empty at first, or what the example has.
    public static func local(_ properties: PartialKeyPath<Item>...) -> TableOption {
        TableOption(kind: .local(properties))
    }

    /// Text that is looked up by its words, and comes in the order of its folded form without sorting. See
    /// `ColumnDefinition.isSearchable`.
    public static func searchable(_ properties: PartialKeyPath<Item>...) -> TableOption {
        TableOption(kind: .searchable(properties))
    }

    /// Columns by which rows are found quickly, the first one first. Each option is an index of its own.
    public static func indexed(_ properties: PartialKeyPath<Item>...) -> TableOption {
        TableOption(kind: .indexed(properties))
    }

    /// A column that holds ids of another table. See `ColumnDefinition.references`, and for what a deletion does
    /// ``references(_:_:named:onDelete:)``.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - other: The item type of the other table.
    ///   - table: The name of the other table; nil for that of its type.
    /// - Returns: The option.
    public static func references<Value: ColumnValue, Other: Codable & Identifiable & Sendable>(
        _ property: KeyPath<Item, Value>,
        _ other: Other.Type,
        named table: String? = nil
    ) -> TableOption where Value.Base == Other.ID {
        TableOption(kind: .references(property, table: table ?? "\(other)"))
    }

    /// An item whose values stand in where a row has none and the property is not optional: a property that is new in this
    /// version of the app, with a default in Swift or without, or one that another client has left null.
    ///
    /// The row stays as it is. A change of the item writes what it has changed, and a value that is still the example's is
    /// not written over a null. Conditions and reports see the null.
    ///
    /// Its values also stand in where none can be made up for a property, so that the type can be described: for a type that
    /// refuses an empty text, or an enum that is not `CaseIterable`.
    public static func example(_ item: Item) -> TableOption { TableOption(kind: .example(item)) }

    /// The server makes its own ids. See `TableDefinition.assignsIDs`.
    public static var assignsIDs: TableOption { TableOption(kind: .assignsIDs) }

    /// How ids are told apart. Left out: texts exactly, as protocol 3 does, and UUIDs without their case.
    public static func idComparison(_ comparison: IDComparison) -> TableOption {
        TableOption(kind: .idComparison(comparison))
    }
}
