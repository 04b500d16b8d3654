/// What the system tables of a store say about its version.
extension SchemaMigration {
    /// Where the version is: a row of `MS_TableConfig`. There is none at version 1, which all stores have that were made
    /// before there were versions.
    private static let row: RecordID = "schemaVersion"

    /// The kind of that row among the engine's settings.
    package static let keyType: Int64 = 1_100

    /// The version of its tables that a store has.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/damaged`` when it cannot be read.
    public static func storedVersion(_ reader: inout some StoreReading & ~Copyable) throws -> Int {
        guard let row = try reader.record(row, in: SystemTables.configuration.name) else { return 1 }
        guard let version = row["value"]?.stringValue.flatMap({ Int($0) }), version > 1 else {
            throw StoreError(
                .damaged,
                "The version of the store's tables cannot be read; restore the store from a backup."
            )
        }
        return version
    }

    /// Records the version of the tables: the last step of a migration, and the first of a new store.
    public static func record(_ version: Int, _ transaction: inout StoreTransaction) throws {
        guard version > 1 else { return }
        let values: [String: FieldValue] = [
            "table": "", "keyType": .int64(keyType), "key": "", "value": .string(String(version)),
        ]
        try transaction.upsert([Record(id: row, values)], into: SystemTables.configuration.name)
    }

    /// Records the version that the migration leads to.
    public func record(_ transaction: inout StoreTransaction) throws { try Self.record(to, &transaction) }

    /// Refuses to go on without a ``QueueTranslation`` where there is something to translate.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/migrationRefused``.
    public func refuseUntranslated(_ reader: inout some StoreReading & ~Copyable) throws {
        let names = tables.map { FieldValue.string($0.old.name) }
        guard !names.isEmpty else { return }
        for table in [SystemTables.operations, SystemTables.configuration] {
            let query = Query(table.name).filtered(by: Column("table").isAny(of: names)).selecting([])
            guard try reader.first(query) == nil else {
                throw StoreError(
                    .migrationRefused,
                    "The tables that would be migrated were synced, and nothing was said about how to translate what waits;"
                        + " open the store with 'translating: .operations'. Nothing was touched."
                )
            }
        }
    }
}
