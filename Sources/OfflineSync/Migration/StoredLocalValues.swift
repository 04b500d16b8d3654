internal import SyncContract

/// What stored rows have in local columns, as far as steps need it for rows that are kept without them: looked up before the
/// tables are written anew, as the columns may be dropped thereby.
///
/// Of rows without such values nothing is kept, and nothing of tables in which no column is filled.
enum StoredLocalValues {
    /// Remembers them for the changes that wait, and for what was sent and may still arrive.
    static func remember(_ migration: SchemaMigration, _ reader: inout StoreReader) throws {
        let filled = migration.tables.filter { $0.new != nil && !$0.filledColumns.isEmpty }
        guard !filled.isEmpty else { return }
        let tables = Dictionary(filled.map { ($0.old.name, $0) }) { first, _ in first }
        try SystemTables.configuration.forEachPage(&reader) { rows, reader in
            for row in rows where row["keyType"]?.int64Value == ConfigurationTable.KeyType.itemMemory.rawValue {
                // What was sent is on a line of its own.
                guard let table = row["table"]?.stringValue.flatMap({ tables[$0] }), let key = row["key"]?.stringValue,
                    let value = row["value"]?.stringValue, value.utf8.contains(0x0A),
                    let stored = try reader.record(.string(key), in: table.old.name)
                else { continue }
                remember(stored, key, table)
            }
        }
        try SystemTables.operations.forEachPage(&reader) { rows, reader in
            for row in rows {
                guard let table = row["table"]?.stringValue.flatMap({ tables[$0] }),
                    let operation = OperationRows.readable(row, table.old)
                else { continue }
                let hasRow = operation.baseItem != nil || operation.serverItem != nil
                // An insert that was never sent knows no other row.
                guard hasRow || operation.isAttempted || operation.state != .pending else { continue }
                // That of a deletion has its row itself, and lends it to what is kept beside it.
                var stored = operation.deletedItem
                if stored == nil { stored = try reader.record(.string(operation.itemID), in: table.old.name) }
                if let row = stored { remember(row, OperationCoding.itemKey(operation.itemID, table.old), table) }
            }
        }
    }

    private static func remember(_ row: Record, _ itemKey: String, _ table: TableMigration) {
        let values = table.localValues(of: row)
        if !values.names.isEmpty { table.rememberedValues.remember(values, of: itemKey) }
    }
}
