public import SyncContract

extension MemoryStore {
    /// A store with the content of this one under another schema, as one on disk has it that is opened again. This one
    /// stays as it is.
    ///
    /// A store of a lower version than the schema's is migrated. The rows of tables that the schema does not declare are
    /// left behind.
    ///
    /// - Parameters:
    ///   - schema: The tables of the new store.
    ///   - translation: What brings the changes that wait to be sent along in a migration: `.operations`, of the sync
    ///     engine. Without it a migration of tables that were synced is refused.
    /// - Returns: The new store.
    /// - Throws: `StoreError` with code `newerSchema` for a schema of a lower version than the store's, `schemaMismatch` for
    ///   tables that cannot be brought to the declared ones, and `migrationRefused`.
    public func reopened(
        with schema: StoreSchema,
        translating translation: (any QueueTranslation)? = nil
    ) throws -> MemoryStore {
        try schema.check()
        var reader = StoreReader(MemoryTransaction(tables, capabilities))
        let version = try SchemaMigration.storedVersion(&reader)
        let migration = try SchemaMigration(from: version, of: self.schema.tables, to: schema)
        if let migration {
            if let translation {
                try translation.check(migration, &reader)
            } else {
                try migration.refuseUntranslated(&reader)
            }
        }
        let empty = Dictionary(uniqueKeysWithValues: schema.allTables.map { ($0.name, MemoryTable($0)) })
        let backend = MemoryTransaction(empty, capabilities)
        let moved = migration?.tables ?? []
        for (name, table) in tables where !moved.contains(where: { $0.old.name == name }) {
            guard let declared = schema.table(name) else { continue }
            try table.definition.check(declared)
            try backend.add(table.rows.values, of: table.definition, to: declared)
        }
        for table in moved {
            guard let new = table.new, let rows = tables[table.old.name]?.rows.values else { continue }
            try backend.add(rows.map { try table.row($0) }, of: table.old, to: new)
        }
        if let migration {
            var transaction = StoreTransaction(backend)
            try translation?.translate(migration, &transaction)
            try migration.record(&transaction)
        }
        return MemoryStore(schema, backend.tables, like: self)
    }
}

extension MemoryTransaction {
    /// Adds rows as their table is declared now. A null under a name that is no longer declared was never written.
    fileprivate func add(_ rows: some Sequence<Record>, of old: TableDefinition, to table: TableDefinition) throws {
        let gone = old.allColumns.map(\.name).filter { table.type(of: $0) == nil }
        for var row in rows {
            for name in gone where row[name]?.isNull ?? false { row[name] = nil }
            for column in table.allColumns {
                guard let value = row[column.name], column.type.accepting(value) == nil else { continue }
                throw StoreError(
                    .schemaMismatch,
                    "Row '\(row.id)' of table '\(table.name)' has a value in '\(column.name)' that is no"
                        + " \(column.type.rawValue); convert the column in the migration."
                )
            }
            try upsert([row], into: table.name)
        }
    }
}

extension TableDefinition {
    /// Refuses a declaration that this stored one cannot be brought to.
    fileprivate func check(_ declared: TableDefinition) throws {
        let column = declared.allColumns.first { type(of: $0.name) ?? $0.type != $0.type }
        guard idKind == declared.idKind, column == nil else {
            throw StoreError(
                .schemaMismatch,
                "Table '\(name)' is stored with another type of \(column.map { "column '\($0.name)'" } ?? "id"); declare it as"
                    + " it is stored, or convert it in a migration."
            )
        }
    }
}

extension [String: MemoryTable] {
    /// With a version of the tables.
    func recording(_ version: Int, _ capabilities: StoreCapabilities) -> Self {
        let backend = MemoryTransaction(self, capabilities)
        var transaction = StoreTransaction(backend)
        do {
            try SchemaMigration.record(version, &transaction)
        } catch {
            preconditionFailure("the configuration table is always there: \(error)")
        }
        return backend.tables
    }
}
