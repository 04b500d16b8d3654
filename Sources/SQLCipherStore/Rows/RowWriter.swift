import SyncContract

/// Inserts records into one table, or merges them into its rows, through one connection.
///
/// UPDATE, then INSERT when nothing changed: `INSERT OR REPLACE` writes a statement journal through the cipher, which
/// makes it several times slower, and it would clear the columns that a record leaves out.
@safe
final class RowWriter {
    /// The two statements that write the records of one shape. A class: it is lent for each row.
    private final class Statements {
        let shape: EncodedRow.Shape
        let slots: [Int]
        let update: Statement
        let insert: Statement

        init(shape: EncodedRow.Shape, update: Statement, insert: Statement) {
            self.shape = shape
            slots = shape.slots
            self.update = update
            self.insert = insert
        }
    }

    private let layout: TableLayout

    /// In memory of its own: each use of a property of a class is checked at run time, and a copy would count many
    /// references.
    private let row: UnsafeMutablePointer<EncodedRow>

    private var statements: Statements?

    init(_ layout: TableLayout) {
        self.layout = layout
        unsafe row = .allocate(capacity: 1)
        unsafe row.initialize(to: EncodedRow(layout))
    }

    deinit {
        unsafe row.deinitialize(count: 1)
        unsafe row.deallocate()
    }

    /// Writes records in order. `hasWritten` becomes true with the first row that was written, also when a later one
    /// fails.
    func upsert(_ records: [Record], in database: Database, hasWritten: inout Bool) throws {
        try withStatements(database) { statements in
            for record in records {
                try unsafe row.pointee.encode(record)
                try unsafe write(&row.pointee, with: &statements, in: database)
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
        // For one call: it remembers the name of every property that it meets, and some items make theirs up.
        let encoded = ItemRow(layout)
        try withStatements(database) { statements in
            for item in items {
                try encoded.encode(item)
                try encoded.withRow { row in try write(&row, with: &statements, in: database) }
                hasWritten = true
            }
        }
    }

    /// Lends the statements of the row before.
    private func withStatements(_ database: Database, _ body: (inout Statements?) throws -> Void) throws {
        var current = statements
        defer { statements = current }
        do {
            try body(&current)
        } catch let failure as SQLiteFailure {
            // A statement that failed is not used again.
            current = nil
            throw database.explained(failure)
        }
    }

    private func write(_ row: inout EncodedRow, with current: inout Statements?, in database: Database) throws {
        let statements: Statements
        if let current, current.shape == row.shape {
            statements = current
        } else {
            statements = try makeStatements(for: row.shape, in: database)
            current = statements
        }
        try bind(row, to: statements.update, statements.slots, patching: true)
        try statements.update.run()
        guard database.changes == 0 else {
            if layout.foldsIDs { try storeNewestCasing(row, in: database) }
            return
        }
        try bind(row, to: statements.insert, statements.slots, patching: false)
        try statements.insert.run()
    }

    private func bind(
        _ row: EncodedRow,
        to statement: Statement,
        _ slots: [Int],
        patching: Bool
    ) throws(SQLiteFailure) {
        try statement.bind(row.id, in: row.buffer, at: 1)
        var index = 2
        for slot in slots {
            try statement.bind(row.values[slot], in: row.buffer, at: index)
            index += 1
        }
        // What only clears finer texts is bound already.
        guard row.shape.extra == .patches else { return }
        try statement.bind(row.patch.keptText.map(SQLValue.text) ?? .null, at: index)
        if patching { try statement.bind(.text(row.patch.text), at: index + 1) }
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
            try made.update.bind(.text(patch.text), at: made.slots.count + 3)
        }
        return made
    }

    private func storeNewestCasing(_ row: EncodedRow, in database: Database) throws {
        let statement = try database.prepare(
            "UPDATE \(layout.sqlName) SET \"id\" = ?1 WHERE \"id\" = ?1 AND \"id\" COLLATE BINARY <> ?1"
        )
        try statement.bind(row.id, in: row.buffer, at: 1)
        try statement.run()
    }
}
