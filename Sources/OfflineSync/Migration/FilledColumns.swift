internal import SyncContract

/// The columns that migrations have filled in rows which came from the server: there such a row may have no value in them,
/// under the same version. Kept by the server's names, as of the columns that its rows have shown.
enum FilledColumns {
    /// Takes note of the columns that a migration fills.
    static func remember(_ migration: TableMigration, _ transaction: inout StoreTransaction) throws {
        guard let table = migration.new, !table.isLocalOnly, table.systemProperties.contains(.version) else { return }
        let filled = Set(migration.filledColumns).union(try names(of: table, &transaction))
        let names = table.columns.filter { !$0.isLocal && filled.contains($0.name) }.map(\.wireName).sorted()
        guard !names.isEmpty else { return }
        let value = FieldValue.string(names.joined(separator: " "))
        try ConfigurationTable.set(.filledColumns, table.name, "", ["value": value], &transaction)
    }

    /// The columns of a table that were filled here.
    static func names(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let row = try ConfigurationTable.row(.filledColumns, table.name, "", &transaction)
        let filled = Set((row?["value"]?.stringValue ?? "").split(separator: " ").map(String.init))
        return Set(table.columns.filter { !$0.isLocal && filled.contains($0.wireName) }.map(\.name))
    }

    /// Forgets the columns of a table: it has no rows any more.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.filledColumns, table))
    }
}
