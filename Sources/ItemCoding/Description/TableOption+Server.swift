public import SyncContract

// How a table lies to the server and to other tables.
extension TableOption {
    /// A table that belongs to this device: its changes are not queued, and pushing and pulling it are errors. See
    /// `TableDefinition.isLocalOnly`.
    public static var localOnly: TableOption { TableOption(kind: .localOnly) }

    /// The name that the server has for the table. See `TableDefinition.wireName`.
    public static func wireName(_ name: String) -> TableOption { TableOption(kind: .wireName(name)) }

    /// The name that the server has for a column. See `ColumnDefinition.wireName`.
    public static func wireName<Value: ColumnValue>(_ name: String, for property: KeyPath<Item, Value>) -> TableOption {
        TableOption(kind: .columnWireName(name, property))
    }

    /// A column whose file belongs to the row, and is removed on the server with it. See `AttachmentRule.owns`; without this
    /// option a property of type `AttachmentID` refers to its file.
    public static func owns<Value: ColumnValue>(_ property: KeyPath<Item, Value>) -> TableOption {
        TableOption(kind: .owns(property))
    }

    /// A column that holds ids of another table, and what the deletion of the row with that id does to those that refer to it:
    /// in the same transaction, with the operations that follow. See `ColumnDefinition.references` and `DeletionRule`.
    ///
    /// - Parameters:
    ///   - property: The property.
    ///   - other: The item type of the other table.
    ///   - table: The name of the other table; nil for that of its type.
    ///   - rule: What a deletion does.
    /// - Returns: The option.
    public static func references<Value: ColumnValue, Other: Codable & Identifiable & Sendable>(
        _ property: KeyPath<Item, Value>,
        _ other: Other.Type,
        named table: String? = nil,
        onDelete rule: DeletionRule
    ) -> TableOption where Value.Base == Other.ID {
        TableOption(kind: .onDelete(property, table: table ?? "\(other)", rule))
    }
}
