import Foundation
import SyncContract

/// Opening with a schema of another version.
extension FileTables {
    /// With the version of a new store.
    func recording(_ schema: StoreSchema, _ faults: FileStore.Faults) throws -> FileTables {
        guard !faults.forgetsVersion else { return self }
        let backend = FileTransaction(self, schema)
        var transaction = StoreTransaction(backend)
        try SchemaMigration.record(schema.version, &transaction)
        return backend.tables
    }

    func opened(
        with schema: StoreSchema,
        _ translation: (any QueueTranslation)?,
        _ faults: FileStore.Faults,
        _ url: URL
    ) throws -> FileTables {
        let old = try storedSchema
        var reader = StoreReader(FileTransaction(self, old))
        let version = try SchemaMigration.storedVersion(&reader)
        if faults.opensNewerVersions, version > schema.version { return try migrated(to: schema, faults, url) }
        guard let migration = try SchemaMigration(from: version, of: old.tables, to: schema) else {
            return try migrated(to: schema, faults, url)
        }
        if let translation {
            try translation.check(migration, &reader)
        } else if !faults.overlooksWaitingChanges {
            try migration.refuseUntranslated(&reader)
        }
        let result = try moved(migration, faults, url).migrated(to: schema, faults, url)
        let backend = FileTransaction(result, schema)
        var transaction = StoreTransaction(backend)
        if !faults.translatesNothing { try translation?.translate(migration, &transaction) }
        if !faults.forgetsVersion { try migration.record(&transaction) }
        return backend.tables
    }

    private func moved(_ migration: SchemaMigration, _ faults: FileStore.Faults, _ url: URL) throws -> FileTables {
        var result = self
        for table in migration.tables where table.new != nil || !faults.keepsDroppedTables {
            result.tables[table.old.name] = nil
            result.stored[table.old.name] = nil
        }
        if faults.savesBeforeSteps { try result.save(to: url, faults) }
        for table in migration.tables {
            guard let new = table.new else { continue }
            result.tables[new.name] = try (tables[table.old.name] ?? [:])
                .mapValues { row in
                    var moved = try table.row(row)
                    if faults.keepsDroppedColumns { moved["paid"] = row["paid"] }
                    if faults.foldsMovedIDs { moved.id = moved.id.folded(for: new.idComparison) }
                    for (name, value) in moved.fields { moved[name] = faults.moves(name, value) }
                    return moved
                }
            if faults.savesAfterEachTable { try result.save(to: url, faults) }
        }
        return result
    }

    /// The tables as they were declared last.
    private var storedSchema: StoreSchema {
        get throws {
            let systemNames = SystemTables.all.map(\.name)
            let tables = stored.filter { !systemNames.contains($0.key) }
                .map { name, table in
                    let columns = table.types.filter { !SystemProperties.names.contains($0.key) }
                        .map { ColumnDefinition($0.key, ColumnType(rawValue: $0.value) ?? .string) }
                    let properties = [SystemProperties.createdAt, .updatedAt, .version, .deleted]
                        .filter { table.types[$0.columns[0].name] != nil }
                    return TableDefinition(
                        name,
                        columns: columns,
                        idComparison: table.idKind.contains("asciiCaseInsensitive") ? .asciiCaseInsensitive : .exact,
                        systemProperties: SystemProperties(properties)
                    )
                }
            return try StoreSchema(tables)
        }
    }
}
