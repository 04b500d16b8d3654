package import SyncContract

/// Inserts records into one table, or merges them into its rows, through one connection.
///
/// UPDATE, then INSERT when nothing changed: `INSERT OR REPLACE` writes a statement journal through the cipher, which
/// makes it several times slower, and it would clear the columns that a record leaves out.
@safe
package final class RowWriter {
    /// The two statements that write the records of one shape.
    private struct Statements: ~Copyable {
        let shape: EncodedRow.Shape
        let update: Statement
        let insert: Statement

        func runUpdate(with row: borrowing EncodedRow) throws(SQLiteFailure) {
            try bind(row, to: update, patching: true)
            try update.run()
        }

        func runInsert(of row: borrowing EncodedRow) throws(SQLiteFailure) {
            try bind(row, to: insert, patching: false)
            try insert.run()
        }

        private func bind(
            _ row: borrowing EncodedRow,
            to statement: Statement,
            patching: Bool
        ) throws(SQLiteFailure) {
            try statement.bind(row.id, in: row.buffer, at: 1)
            let index = try row.bindColumns(to: statement, from: 2)
            // What only clears finer texts is bound already.
            guard shape.extra == .patches else { return }
            try statement.bind(row.patch.keptText.map(SQLValue.text) ?? .null, at: index)
            if patching { try statement.bind(.text(row.patch.text), at: index + 1) }
        }
    }

    private let layout: TableLayout

    /// In memory of its own: each use of a property of a class is checked at run time.
    private let row: UnsafeMutablePointer<EncodedRow>

    /// What encodes items, kept for the next call.
    private var itemRow: ItemRow?

    /// The statements of the row before.
    private var statements: UnsafeMutablePointer<Statements>?

    package init(_ layout: TableLayout) {
        self.layout = layout
        unsafe row = .allocate(capacity: 1)
        unsafe row.initialize(to: EncodedRow(layout))
    }

    deinit {
        unsafe row.deinitialize(count: 1)
        unsafe row.deallocate()
        dropStatements()
    }

    /// Writes records in order. `hasWritten` becomes true with the first row that was written, also when a later one
    /// fails.
    package func upsert(_ records: [Record], in database: Database, hasWritten: inout Bool) throws {
        defer { unsafe row.pointee.removeAll() }
        try explainingFailures(of: database) {
            try Borrowed.forEach(records) { record in
                try unsafe row.pointee.encode(record)
                try unsafe write(row.pointee, in: database)
                hasWritten = true
            }
        }
    }

    /// Writes items in the same way.
    func upsert<Item: Encodable & Identifiable>(
        items: [Item],
        in database: Database,
        hasWritten: inout Bool
    ) throws where Item.ID == String {
        let encoded = itemRow ?? ItemRow(layout)
        itemRow = nil
        defer {
            encoded.removeAll()
            itemRow = encoded.isWorthKeeping ? encoded : nil
        }
        try explainingFailures(of: database) {
            try Borrowed.forEach(items) { item in
                try encoded.encode(item)
                try encoded.withRow { row in try write(row, in: database) }
                hasWritten = true
            }
        }
    }

    private func explainingFailures(of database: Database, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let failure as SQLiteFailure {
            // A statement that failed is not used again.
            dropStatements()
            throw database.diagnosed(failure)
        }
    }

    private func write(_ row: borrowing EncodedRow, in database: Database) throws {
        let statements = unsafe try statements(for: row, in: database)
        try unsafe statements.pointee.runUpdate(with: row)
        if database.changes == 0 {
            try unsafe statements.pointee.runInsert(of: row)
        } else if layout.foldsIDs {
            try storeNewestCasing(row, in: database)
        }
    }

    private func statements(
        for row: borrowing EncodedRow,
        in database: Database
    ) throws(SQLiteFailure) -> UnsafeMutablePointer<Statements> {
        if let statements = unsafe statements, unsafe row.has(statements.pointee.shape) { return unsafe statements }
        let made = try makeStatements(for: row.shape, in: database)
        dropStatements()
        let kept = UnsafeMutablePointer<Statements>.allocate(capacity: 1)
        unsafe kept.initialize(to: made)
        unsafe statements = kept
        return unsafe kept
    }

    private func dropStatements() {
        guard let dropped = unsafe statements else { return }
        unsafe statements = nil
        unsafe dropped.deinitialize(count: 1)
        unsafe dropped.deallocate()
    }

    private func makeStatements(
        for shape: EncodedRow.Shape,
        in database: Database
    ) throws(SQLiteFailure) -> Statements {
        let made = Statements(
            shape: shape,
            update: try database.prepare(shape.updateSQL(layout)),
            insert: try database.prepare(shape.insertSQL(layout))
        )
        if shape.extra == .clearsFinerTexts {
            // Bound once: no binding is cleared between the rows. The other parameter stays null, as it begins.
            var patch = ExtraValuesPatch()
            for slot in layout.dateSlots where shape.writesSlot[slot] {
                patch.setFinerText(nil, for: layout.columns[slot].name)
            }
            try made.update.bind(.text(patch.text), at: shape.slots.count + 3)
        }
        return made
    }

    private func storeNewestCasing(_ row: borrowing EncodedRow, in database: Database) throws {
        let statement = try database.prepare(
            "UPDATE \(layout.sqlName) SET \"id\" = ?1 WHERE \"id\" = ?1 AND \"id\" COLLATE BINARY <> ?1"
        )
        try statement.bind(row.id, in: row.buffer, at: 1)
        try statement.run()
    }
}
