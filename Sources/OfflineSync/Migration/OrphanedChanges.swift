internal import RecordJSON
internal import SyncContract

/// Finds the changes that wait and that a migration would leave without their table or column.
struct OrphanedChanges {
    private let migration: SchemaMigration
    private let tables: [String: TableMigration]
    private let droppedColumns: [String: [String]]
    private var found: [Place: (count: Int, rows: [String])] = [:]

    private struct Place: Hashable {
        var table: String
        var column: String?
    }

    init(_ migration: SchemaMigration) {
        self.migration = migration
        tables = Dictionary(migration.tables.map { ($0.old.name, $0) }) { first, _ in first }
        droppedColumns = tables.mapValues { table in
            let local = Set(table.old.columns.filter(\.isLocal).map(\.name))
            return table.new == nil ? [] : table.droppedColumns.filter { !local.contains($0) }
        }
    }

    mutating func find(_ reader: inout StoreReader) throws {
        guard tables.values.contains(where: { $0.new == nil }) || droppedColumns.values.contains(where: { !$0.isEmpty })
        else { return }
        var found = found
        try SystemTables.operations.forEachPage(&reader) { rows, reader in
            for row in rows {
                for place in try places(row, &reader) {
                    found[place, default: (0, [])].count += 1
                    guard found[place]?.rows.count ?? 0 < 3, let id = row["itemId"]?.stringValue else { continue }
                    found[place]?.rows.append(id)
                }
            }
        }
        self.found = found
    }

    /// Throws when something was found.
    func refuse() throws(StoreError) {
        guard !found.isEmpty else { return }
        let texts = found.sorted { ($0.key.table, $0.key.column ?? "") < ($1.key.table, $1.key.column ?? "") }
            .map { place, changes in
                let rows = changes.rows.map { "'\($0)'" }.joined(separator: ", ")
                let dropped = place.column.map { "with a value in column '\($0)', which is dropped" }
                let what = dropped ?? "and it is dropped"
                let more = changes.count > changes.rows.count ? " and others" : ""
                return "\(changes.count) of table '\(place.table)' \(what) (rows \(rows)\(more))"
            }
        throw StoreError(
            .migrationRefused,
            "The migration to version \(migration.to) would orphan changes that wait to be sent: "
                + texts.joined(separator: "; ")
                + ". Open the store with version \(migration.from) of its tables, push, and open it with the new one then."
                + " Nothing was touched."
        )
    }

    private func places(_ row: Record, _ reader: inout StoreReader) throws -> [Place] {
        guard let name = row["table"]?.stringValue, let table = tables[name] else { return [] }
        guard table.new != nil else { return [Place(table: name)] }
        guard let columns = droppedColumns[name], !columns.isEmpty,
            // What cannot be read is not sent, and found by verification.
            let operation = OperationRows.readable(row, table.old), operation.kind != .delete, !operation.isUndo,
            let local = try reader.record(.string(operation.itemID), in: name)
        else { return [] }
        let row = Self.asKept(local, table.old)
        return columns.filter { Self.waits(in: $0, of: row, over: operation.baseItem) }
            .map { Place(table: name, column: $0) }
    }

    /// A row as a base is read: a value of a column that is not declared any more has lost its type there.
    private static func asKept(_ row: Record, _ table: TableDefinition) -> Record {
        do {
            return try RecordCoding(table).record(JSONNode(parsing: RecordCoding.utf8(row)))
        } catch {
            return row
        }
    }

    private static func waits(in column: String, of row: Record, over base: Record?) -> Bool {
        let value = row[column] ?? .null
        guard !value.isNull else { return false }
        guard let base else { return true }
        // A base has every column that was sent.
        return base[column].map { $0 != value && $0.compare(with: value) != 0 } ?? false
    }
}
