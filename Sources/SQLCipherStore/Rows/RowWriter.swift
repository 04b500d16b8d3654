import SyncContract

/// Inserts records into one table, or merges them into its rows.
///
/// UPDATE, then INSERT when nothing changed: `INSERT OR REPLACE` writes a statement journal through the cipher, which
/// makes it several times slower, and it would clear the columns that a record leaves out.
struct RowWriter {
    private let layout: TableLayout
    private let database: Database

    init(_ layout: TableLayout, _ database: Database) {
        self.layout = layout
        self.database = database
    }

    /// Writes records in order, and calls back after each row that was written.
    func upsert(_ records: [Record], didWrite: () -> Void) throws {
        var row = EncodedRow(layout)
        var index = 0
        if let first = records.first { try row.encode(first) }
        while index < records.count {
            let shape = row.shape
            try database.withStatement(shape.updateSQL(layout)) { update in
                try database.withStatement(shape.insertSQL(layout)) { insert in
                    // Records of one shape follow one another: they share the statements.
                    repeat {
                        try write(row, update, insert)
                        didWrite()
                        index += 1
                        guard index < records.count else { return }
                        try row.encode(records[index])
                    } while row.shape == shape
                }
            }
        }
    }

    private func write(_ row: EncodedRow, _ update: Statement, _ insert: Statement) throws {
        try row.bind(to: update, patching: true)
        try update.run()
        guard database.changes == 0 else {
            if layout.foldsIDs { try storeNewestCasing(of: row.id) }
            return
        }
        try row.bind(to: insert, patching: false)
        try insert.run()
    }

    private func storeNewestCasing(of id: SQLValue) throws {
        let sql = "UPDATE \(layout.sqlName) SET \"id\" = ?1 WHERE \"id\" = ?1 AND \"id\" COLLATE BINARY <> ?1"
        try database.run(sql, [id])
    }
}
