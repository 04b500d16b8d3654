internal import SyncContract
internal import SyncMachines

/// What is remembered of a row beyond the changes that wait for it, in the rows of `MS_TableConfig`.
enum ItemMemoryStorage {
    private static let deleted = "deleted"
    private static let live = "live"
    private static let holdsRowOfOthers = "decided"

    static func memory(
        of itemID: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> ItemMemory<String> {
        let key = OperationCoding.itemKey(itemID, table)
        var memory = ItemMemory<String>()
        guard let value = try ConfigurationTable.row(.itemMemory, table.name, key, &transaction)?["value"]?.stringValue
        else { return memory }
        // A tab is part of no version.
        let parts = value.split(separator: "\t").map(String.init)
        let flags = parts.first?.split(separator: " ") ?? []
        memory.isDeleted = flags.contains { $0 == deleted }
        memory.holdsRowOfOthers = flags.contains { $0 == holdsRowOfOthers }
        memory.ownVersions = Array(parts.dropFirst())
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
        let state = memory.isDeleted ? deleted : live
        let flags = memory.holdsRowOfOthers ? "\(state) \(holdsRowOfOthers)" : state
        let value = ([flags] + memory.ownVersions).joined(separator: "\t")
        try ConfigurationTable.set(.itemMemory, table.name, key, ["value": .string(value)], &transaction)
    }

    /// The items among some of which something is remembered, in the form the table compares ids by.
    static func remembered(
        among keys: () -> [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        // Mostly nothing is remembered of any.
        guard try remembersAny(of: table.name, &transaction) else { return [] }
        let query = ConfigurationTable.query(.itemMemory, table.name)
            .filtered(by: Column("key").isAny(of: keys().map(FieldValue.string)))
        return Set(try transaction.records(query).compactMap { $0["key"]?.stringValue })
    }

    /// Whether something is remembered of a row of a table.
    static func remembersAny(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        let query = ConfigurationTable.query(.itemMemory, table).ordered(by: "key").selecting([])
        return try transaction.first(query) != nil
    }

    /// Forgets everything about the rows of a table.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.itemMemory, table))
    }
}
