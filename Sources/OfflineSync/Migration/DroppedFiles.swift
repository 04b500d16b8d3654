internal import RemoteContract
internal import SyncContract

/// The files that dropped columns and tables name, that are here and not on the server, and of which the server has a row:
/// nothing here names them any more, and all the same they are to be sent.
///
/// A store does not know which columns name files, nor which stay on the device. So a column counts that was remembered for one of
/// the server's, or that rows of the server have shown under its name; a value is the name of a file when there is one.
enum DroppedFiles {
    private typealias Dropped = (table: TableMigration, columns: [String])

    /// Remembers them, while rows and changes are as they were.
    static func remember(_ migration: SchemaMigration, _ reader: inout StoreReader) throws {
        var dropped: [String: Dropped] = [:]
        for table in migration.tables {
            let columns = try serverColumns(droppedIn: table, &reader)
            if !columns.isEmpty { dropped[table.old.name] = (table, columns) }
        }
        guard !dropped.isEmpty else { return }
        let unsent = try AttachmentMarks.unsent(&reader)
        guard !unsent.isEmpty else { return }
        for (table, columns) in dropped.values { try rememberRows(of: table, columns, unsent, &reader) }
        try SystemTables.operations.forEachPage(&reader) { rows, _ in
            for row in rows {
                // What the server has of a row that is changed counts; with one that is deleted go its files.
                guard let name = row["table"]?.stringValue, let (table, columns) = dropped[name],
                    let operation = OperationRows.readable(row, table.old), operation.kind != .delete,
                    let base = operation.baseItem, !base.isDeleted
                else { continue }
                table.rememberedValues.remember(names(in: base, columns, of: unsent))
            }
        }
    }

    /// Marks those that were remembered.
    static func markDue(_ migration: SchemaMigration, _ transaction: inout StoreTransaction) throws {
        let names = migration.tables.reduce(into: Set<String>()) { $0.formUnion($1.rememberedValues.names) }
        try AttachmentMarks.markDue(Set(names.compactMap { AttachmentID($0) }), &transaction)
    }

    private static func rememberRows(
        of table: TableMigration,
        _ columns: [String],
        _ unsent: Set<AttachmentID>,
        _ reader: inout StoreReader
    ) throws {
        try table.old.forEachPage(&reader) { rows, reader in
            var found: [String: Set<String>] = [:]
            for row in rows {
                let names = names(in: row, columns, of: unsent)
                guard !names.isEmpty, let id = row.id.stringValue else { continue }
                found[OperationCoding.itemKey(id, table.old)] = names
            }
            guard !found.isEmpty else { return }
            let waiting = try OperationQueue.waitingItemKeys(among: Array(found.keys), in: table.old, &reader)
            for (key, names) in found where !waiting.contains(key) { table.rememberedValues.remember(names) }
        }
    }

    private static func names(in row: Record, _ columns: [String], of files: Set<AttachmentID>) -> Set<String> {
        let named = columns.compactMap { row[$0].flatMap(AttachmentID.init(fieldValue:)) }
        return Set(named.filter(files.contains).map(\.text))
    }

    /// The columns that a migration drops and that the server has.
    private static func serverColumns(
        droppedIn table: TableMigration,
        _ reader: inout StoreReader
    ) throws -> [String] {
        let dropped = table.new == nil ? table.old.columns.map(\.name) : table.droppedColumns
        // Of a table that stays here the server takes no row, and no file of one.
        guard try !dropped.isEmpty && !LocalTables.contain(table.old.name, &reader) else { return [] }
        let local = Set(table.old.columns.filter(\.isLocal).map(\.name))
        if let files = try FileColumns.remembered(of: table.old.name, &reader) {
            return dropped.filter { !local.contains($0) && files.contains($0) }
        }
        // Earlier versions have not remembered them.
        let row = try ConfigurationTable.row(.shownColumns, table.old.name, "", &reader)
        let shown = row.map(ConfigurationTable.names) ?? []
        return dropped.filter { !local.contains($0) && shown.contains($0) }
    }
}
