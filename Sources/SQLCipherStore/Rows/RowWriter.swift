import SyncContract

/// Inserts records into one table, or merges them into its rows, through one connection.
///
/// UPDATE, then INSERT when nothing changed: `INSERT OR REPLACE` writes a statement journal through the cipher, which
/// makes it several times slower, and it would clear the columns that a record leaves out.
final class RowWriter {
    /// The two statements that write the records of one shape.
    private struct Statements {
        let shape: EncodedRow.Shape
        let slots: [Int]
        let update: Statement
        let insert: Statement
    }

    private let layout: TableLayout
    private var row: EncodedRow
    private var statements: Statements?

    init(_ layout: TableLayout) {
        self.layout = layout
        row = EncodedRow(layout)
    }

    /// Writes records in order.
    ///
    /// - Parameter hasWritten: Becomes true with the first row that was written, also when a later one fails.
    func upsert(_ records: [Record], in database: Database, hasWritten: inout Bool) throws {
        do {
            for record in records {
                try row.encode(record)
                try write(with: statements(in: database), in: database)
                hasWritten = true
            }
        } catch let failure as SQLiteFailure {
            // A statement that failed is not used again.
            statements = nil
            throw database.explained(failure)
        }
    }

    private func write(with statements: Statements, in database: Database) throws {
        try bind(to: statements.update, statements, patching: true)
        try statements.update.run()
        guard database.changes == 0 else {
            if layout.foldsIDs { try storeNewestCasing(in: database) }
            return
        }
        try bind(to: statements.insert, statements, patching: false)
        try statements.insert.run()
    }

    private func bind(to statement: Statement, _ statements: Statements, patching: Bool) throws(SQLiteFailure) {
        try statement.bind(row.id, in: row.buffer, at: 1)
        var index = 2
        for slot in statements.slots {
            try statement.bind(row.values[slot], in: row.buffer, at: index)
            index += 1
        }
        // What only clears finer texts is bound already.
        guard row.shape.extra == .patches else { return }
        try statement.bind(row.patch.keptText.map(SQLValue.text) ?? .null, at: index)
        if patching { try statement.bind(.text(row.patch.text), at: index + 1) }
    }

    private func statements(in database: Database) throws(SQLiteFailure) -> Statements {
        if let statements, statements.shape == row.shape { return statements }
        let shape = row.shape
        let made = Statements(
            shape: shape,
            slots: shape.slots,
            update: try database.prepare(shape.updateSQL(layout)),
            insert: try database.prepare(shape.insertSQL(layout))
        )
        if shape.extra == .clearsFinerTexts {
            // Bound once: no binding is cleared between the rows. The other parameter stays null, as it begins.
            var patch = ExtraValuesPatch()
            for slot in layout.dateSlots where shape.writesSlot[slot] {
                patch.setFinerText(nil, for: layout.columns[slot].name)
            }
            try made.update.bind(.text(patch.text), at: made.slots.count + 3)
        }
        statements = made
        return made
    }

    private func storeNewestCasing(in database: Database) throws {
        let statement = try database.prepare(
            "UPDATE \(layout.sqlName) SET \"id\" = ?1 WHERE \"id\" = ?1 AND \"id\" COLLATE BINARY <> ?1"
        )
        try statement.bind(row.id, in: row.buffer, at: 1)
        try statement.run()
    }
}
