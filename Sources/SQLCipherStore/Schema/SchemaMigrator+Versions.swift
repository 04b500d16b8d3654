import SyncContract

/// Bringing a store of an earlier version to that of the schema.
extension SchemaMigrator {
    /// What has to be done; nil when the store has the schema's version, or is new.
    func migration(of stored: StoredSchema) throws -> SchemaMigration? {
        guard !stored.tables.isEmpty else { return nil }
        let version = try stored.version(in: database)
        // Mostly it is the schema's, and every opening asks.
        guard version != schema.version else { return nil }
        return try SchemaMigration(from: version, of: RememberedTables(database).schema().tables, to: schema)
    }

    /// Does it, in one transaction, and returns the tables as they are then.
    func run(_ migration: SchemaMigration, from stored: StoredSchema) throws -> StoreCatalog {
        // What later statements of this connection do with a table must not go by how it was.
        defer { database.tableAccess = [:] }
        return try database.transaction(.writing) {
            let remembered = try RememberedTables(database)
            let before = try SchemaPlan(from: stored, to: remembered.schema())
            try perform(before)
            try database.withReader(of: before.layouts) { reader in
                guard let translation else { return try migration.refuseUntranslated(&reader) }
                try translation.check(migration, &reader)
            }
            database.tableAccess = [:]
            try move(migration.tables, remembered.layouts)
            let plan = try SchemaPlan(from: StoredSchema(database), to: schema)
            try perform(plan)
            try write(plan.layouts) { transaction in
                try translation?.translate(migration, &transaction)
                try migration.record(&transaction)
            }
            return StoreCatalog(plan.layouts)
        }
    }

    /// Lends what writes to the tables with the given layouts, in the transaction that is open.
    func write(_ layouts: [TableLayout], _ body: (inout StoreTransaction) throws -> Void) throws {
        let backend = WriteBackend(database, StoreCatalog(layouts))
        defer { backend.finish() }
        var transaction = StoreTransaction(backend)
        try body(&transaction)
        try backend.checkForCommit()
    }

    /// Writes the tables anew, after all have given up their names: one may get that of another.
    private func move(_ tables: [TableMigration], _ layouts: [TableLayout]) throws {
        let indexes = try StoredSchema(database).searchIndexes
        // Otherwise newer versions of SQLite look through all that is stored for the name, and no trigger knows it.
        try database.execute("PRAGMA legacy_alter_table = ON")
        for table in tables {
            for index in indexes where index.table == table.old.name { try database.dropSearchIndex(index) }
            try database.run(SchemaSQL.forget, [.text(table.old.name)])
            try database.run(
                "ALTER TABLE \(table.old.name.sqlIdentifier) RENAME TO \(SchemaSQL.leaving(table.old.name))"
            )
        }
        try database.execute("PRAGMA legacy_alter_table = OFF")
        for table in tables {
            if let new = table.new, let layout = layouts.first(where: { $0.definition.name == table.old.name }) {
                try perform(.createTable(new))
                try copyRows(of: table, layout, to: TableLayout(new))
            }
            try database.run("DROP TABLE \(SchemaSQL.leaving(table.old.name))")
        }
    }

    private func copyRows(of table: TableMigration, _ old: TableLayout, to new: TableLayout) throws {
        let reader = RowReader(old)
        let writer = RowWriter(new)
        let columns = MigratedColumns(table, new.definition)
        let rows = "SELECT \(reader.sqlColumns) FROM \(SchemaSQL.leaving(table.old.name))"
        try database.withStatement(rows) { statement in
            while try statement.step() {
                let row = try columns.fitting(table.row(reader.record(statement)))
                guard try writer.insert(row, in: database) else {
                    throw StoreError(
                        .schemaMismatch,
                        "Table '\(new.definition.name)' has two rows with the id '\(row.id)', as it compares ids now; declare"
                            + " the ids as they are stored."
                    )
                }
            }
        }
    }
}

/// The columns of a table that is written anew.
private struct MigratedColumns {
    private let table: TableDefinition
    /// Those that were declared already under whatever name; the others take over what an undeclared key had.
    private let known: Set<String>

    init(_ migration: TableMigration, _ table: TableDefinition) {
        self.table = table
        known = migration.knownColumns
    }

    /// The row with every value as its column stores it.
    func fitting(_ row: Record) throws(StoreError) -> Record {
        var row = row
        for column in table.allColumns {
            guard let value = row[column.name] else { continue }
            let isKnown = known.contains(column.name)
            guard let fitting = isKnown ? column.type.accepting(value) : column.type.adopting(value) else {
                throw StoreError(
                    .schemaMismatch,
                    "Row '\(row.id)' of table '\(table.name)' has a value in '\(column.name)' that is no"
                        + " \(column.type.rawValue); convert the column in the migration. Nothing was touched."
                )
            }
            row[column.name] = fitting
        }
        return row
    }
}

extension StoredSchema {
    /// The version of the app's tables.
    func version(in database: Database) throws -> Int {
        let configuration = SystemTables.configuration
        guard tables[configuration.name] != nil else { return 1 }
        // It may lack columns that this version of the library adds.
        let columns = configuration.columns.filter { tables[configuration.name]?.columns[$0.name] != nil }
        let layout = TableLayout(TableDefinition(configuration.name, idKind: configuration.idKind, columns))
        defer { database.tableAccess = [:] }
        return try database.withReader(of: [layout]) { try SchemaMigration.storedVersion(&$0) }
    }
}
