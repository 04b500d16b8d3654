internal import SyncContract
internal import SyncMachines

/// What is remembered of a row beyond the changes that wait for it, in the rows of `MS_TableConfig`.
enum ItemMemoryStorage {
    static func memory(
        of itemID: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> ItemMemory<String> {
        let key = OperationCoding.itemKey(itemID, table)
        var memory = ItemMemory<String>()
        guard let value = try ConfigurationTable.row(.itemMemory, table.name, key, &transaction)?["value"]?.stringValue
        else { return memory }
        // A tab is part of no version; a deleted row has none.
        memory.isDeleted = value.isEmpty
        memory.ownVersions = value.split(separator: "\t").map(String.init)
        return memory
    }

    static func set(
        _ memory: ItemMemory<String>,
        of itemID: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let key = OperationCoding.itemKey(itemID, table)
        guard !memory.isEmpty else {
            try transaction.delete(ConfigurationTable.query(.itemMemory, table.name, key))
            return
        }
        let versions = memory.ownVersions.joined(separator: "\t")
        try ConfigurationTable.set(.itemMemory, table.name, key, ["value": .string(versions)], &transaction)
    }

    /// The items among some of which something is remembered, in the form the table compares ids by.
    static func remembered(
        among keys: [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let query = ConfigurationTable.query(.itemMemory, table.name)
            .filtered(by: Column("key").isAny(of: keys.map(FieldValue.string)))
        return Set(try transaction.records(query).compactMap { $0["key"]?.stringValue })
    }

    /// Forgets everything about the rows of a table.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.itemMemory, table))
    }
}
