internal import SyncContract

/// The columns of synced tables that stay on the device, remembered beyond the version of the app that declares them so: once
/// such a column is one of the server's, what is here in it is not what the server has, and nobody has changed it to that.
struct LocalColumns {
    let schema: StoreSchema

    /// Whether others are declared than at the last look.
    func haveChanged(_ reader: inout some StoreReading & ~Copyable) throws -> Bool {
        try !changed(&reader).isEmpty
    }

    /// Remembers what is declared now. A column that does not stay here any more has what the server has in it, as far as that
    /// is known, and all rows of its table are asked for.
    func follow(_ transaction: inout StoreTransaction) throws {
        for (table, before) in try changed(&transaction) {
            // What a file is named by stays: nobody else knows of the file.
            let sent = table.columns.filter { !$0.isLocal && $0.attachment == nil && before.contains($0.name) }
            if !sent.isEmpty { try takeOver(sent.map(\.name), in: table, &transaction) }
            let value = FieldValue.string(Self.declared(in: table).sorted().joined(separator: " "))
            try ConfigurationTable.set(.localColumns, table.name, "", ["value": value], &transaction)
        }
    }

    /// Remembers the columns of a migrated table by the names that they have now.
    static func translate(_ migration: TableMigration, _ transaction: inout StoreTransaction) throws {
        guard let table = migration.new,
            let row = try ConfigurationTable.row(.localColumns, table.name, "", &transaction)
        else { return }
        let value = ConfigurationTable.names(in: row).compactMap(migration.currentName).sorted().joined(separator: " ")
        guard .string(value) != row["value"] else { return }
        try ConfigurationTable.set(.localColumns, table.name, "", ["value": .string(value)], &transaction)
    }

    /// The tables that stay here as a whole are passed over: they are followed when they are synced.
    private func changed(
        _ reader: inout some StoreReading & ~Copyable
    ) throws -> [(table: TableDefinition, before: Set<String>)] {
        let rows = try reader.records(ConfigurationTable.query(.localColumns, anyOf: schema.tables.map(\.name)))
        var remembered: [String: Set<String>] = [:]
        for row in rows {
            if let table = row["table"]?.stringValue { remembered[table] = ConfigurationTable.names(in: row) }
        }
        return schema.tables.compactMap { table in
            let before = remembered[table.name] ?? []
            return table.isLocalOnly || Self.declared(in: table) == before ? nil : (table, before)
        }
    }

    private func takeOver(
        _ columns: [String],
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        // As if each were dropped, and declared anew: what the server has under its name comes to light.
        let migration = TableMigration(old: table, new: table, steps: columns.map { ($0, .drop) })
        try table.forEachPage(&transaction) { rows, transaction in
            let keys = { rows.compactMap { $0.id.stringValue.map { OperationCoding.itemKey($0, table) } } }
            let waiting = try OperationQueue.operations(for: keys, in: table, &transaction, schema)
            var changed: [Record] = []
            for row in rows {
                // Of a row that the server does not have, nothing is the server's.
                let key = row.id.stringValue.map { OperationCoding.itemKey($0, table) }
                if let key, waiting[.string(key)]?.kind == .insert { continue }
                let translated = try migration.row(row)
                if translated != row { changed.append(translated) }
            }
            try transaction.delete(changed.map(\.id), from: table.name)
            try transaction.upsert(changed, into: table.name)
        }
        try OperationRows(tables: [table.name: migration]).translate(&transaction)
        try ErrorRows(tables: [table.name: migration]).translate(&transaction)
        try PullCursorStorage.removeAll(of: table.name, &transaction)
    }

    private static func declared(in table: TableDefinition) -> Set<String> {
        Set(table.columns.filter(\.isLocal).map(\.name))
    }
}
