internal import SyncContract

/// The columns that migrations have filled in rows which came from the server: there such a row may have no value in them,
/// under the same version. Kept by the server's names, as of the columns that its rows have shown.
enum FilledColumns {
    /// Takes note of the columns that a migration fills.
    static func remember(_ migration: TableMigration, _ transaction: inout StoreTransaction) throws {
        guard let table = migration.new, !table.isLocalOnly, table.systemProperties.contains(.version) else { return }
        let before = try wireNames(of: table, &transaction)
        // Those that had the server's name here may have another one now, and the server as well.
        let renamed = before.filter { name in migration.old.columns.contains { $0.name == name } }
        let filled = Set(migration.filledColumns).union(renamed.compactMap(migration.currentName))
        let others = before.subtracting(renamed)
        let names = table.columns
            .filter { !$0.isLocal && (filled.contains($0.name) || others.contains($0.wireName)) }.map(\.wireName)
            .sorted()
        guard !names.isEmpty else { return try removeAll(of: table.name, &transaction) }
        let value = FieldValue.string(names.joined(separator: " "))
        try ConfigurationTable.set(.filledColumns, table.name, "", ["value": value], &transaction)
    }

    /// The columns of a table that were filled here.
    static func names(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let filled = try wireNames(of: table, &transaction)
        return Set(table.columns.filter { !$0.isLocal && filled.contains($0.wireName) }.map(\.name))
    }

    private static func wireNames(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        try ConfigurationTable.row(.filledColumns, table.name, "", &transaction).map(ConfigurationTable.names) ?? []
    }

    /// Forgets the columns of a table: it has no rows any more.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.filledColumns, table))
    }
}
