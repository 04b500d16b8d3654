package import SyncContract

/// Inserts records into one table, or merges them into its rows, through one connection.
///
/// UPDATE, then INSERT when nothing changed, and the other way round behind a row that was new: `INSERT OR REPLACE` writes
/// a statement journal through the cipher, which makes it several times slower, and it would clear the columns that a
/// record leaves out.
@safe
package final class RowWriter {
    /// The two statements that write the records of one shape, each made when it is first wanted.
    private struct Statements: ~Copyable {
        let shape: EncodedRow.Shape
        let layout: TableLayout
        private var update: Statement?
        private var insert: Statement?

        init(_ shape: EncodedRow.Shape, _ layout: TableLayout) {
            self.shape = shape
            self.layout = layout
        }

        mutating func runUpdate(with row: borrowing EncodedRow, in database: Database) throws(SQLiteFailure) {
            if update == nil { update = try makeUpdate(in: database) }
            guard let update else { return }
            try bind(row, to: update, patching: true)
            try update.run()
        }

        mutating func runInsert(of row: borrowing EncodedRow, in database: Database) throws(SQLiteFailure) {
            if insert == nil { insert = try database.prepare(shape.insertSQL(layout)) }
            guard let insert else { return }
            try bind(row, to: insert, patching: false)
            try insert.run()
        }

        private func makeUpdate(in database: Database) throws(SQLiteFailure) -> Statement {
            let update = try database.prepare(shape.updateSQL(layout))
            if shape.extra == .clearsFinerTexts {
                // Bound once: no binding is cleared between the rows. The other parameter stays null, as it begins.
                var patch = ExtraValuesPatch()
                for slot in layout.dateSlots where shape.writesSlot[slot] {
                    patch.setFinerText(nil, for: layout.columns[slot].name)
                }
                try update.bind(.text(patch.text), at: shape.slots.count + 3)
            }
            return update
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

    /// Whether something else is written with each row, which may be what refuses it.
    let hasTriggers: Bool

    /// In memory of its own: each use of a property of a class is checked at run time.
    private let row: UnsafeMutablePointer<EncodedRow>

    /// Whether the row before, of the same call, was new: then the next one is likely to be, and is inserted unless its id is
    /// taken.
    private var insertsFirst = false

    /// What encodes items, kept for the next call.
    private var itemRow: ItemRow?

    /// The statements of the row before, and those of other shapes that came lately.
    private var statements: UnsafeMutablePointer<Statements>?
    private var otherStatements: [UnsafeMutablePointer<Statements>] = unsafe []

    /// How many shapes are kept beside the one that came last.
    private static let otherShapes = 7

    package init(_ layout: TableLayout) {
        self.layout = layout
        hasTriggers = !layout.searchIndexes.isEmpty
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
        insertsFirst = false
        try diagnosingFailures(of: database) {
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
    ) throws where Item.ID: RowID {
        let encoded = itemRow ?? ItemRow(layout)
        itemRow = nil
        defer {
            encoded.removeAll()
            itemRow = encoded.isWorthKeeping ? encoded : nil
        }
        insertsFirst = false
        try diagnosingFailures(of: database) {
            try Borrowed.forEach(items) { item in
                try encoded.encode(item)
                try encoded.withRow { row in try write(row, in: database) }
                hasWritten = true
            }
        }
    }

    /// Inserts a record, and returns whether its id was free, and no other row had the same in some columns, when any are
    /// given. Where there are triggers, the id must be known to be free.
    func insert(_ record: Record, uniqueColumns: [String] = [], in database: Database) throws -> Bool {
        defer { unsafe row.pointee.removeAll() }
        return try diagnosingFailures(of: database) {
            try unsafe row.pointee.encode(Borrowed(value: record))
            return try unsafe insert(row.pointee, uniqueColumns: uniqueColumns, in: database)
        }
    }

    /// Inserts an item that was made on this device, in the same way.
    func insert<Item: Encodable & Identifiable>(
        made item: Item,
        id: String,
        in database: Database
    ) throws -> Bool where Item.ID: RowID {
        let encoded = itemRow ?? ItemRow(layout)
        itemRow = nil
        defer {
            encoded.removeAll()
            itemRow = encoded.isWorthKeeping ? encoded : nil
        }
        return try diagnosingFailures(of: database) {
            try encoded.encode(made: item, id: id)
            return try encoded.withRow { row in try insert(row, in: database) }
        }
    }

    private func diagnosingFailures<Value>(of database: Database, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as SQLiteFailure {
            // A statement that failed is not used again.
            dropStatements()
            throw database.diagnosed(failure)
        }
    }

    private func write(_ row: borrowing EncodedRow, in database: Database) throws {
        if insertsFirst, try insert(row, in: database) { return }
        let statements = unsafe statements(for: row)
        try unsafe statements.pointee.runUpdate(with: row, in: database)
        let isNew = database.changes == 0
        insertsFirst = isNew && layout.searchIndexes.isEmpty
        if isNew {
            try unsafe statements.pointee.runInsert(of: row, in: database)
        } else if layout.foldsIDs {
            try storeNewestCasing(row, in: database)
        }
    }

    private func insert(
        _ row: borrowing EncodedRow,
        uniqueColumns: [String] = [],
        in database: Database
    ) throws(SQLiteFailure) -> Bool {
        let statements = unsafe statements(for: row, uniqueColumns: uniqueColumns)
        do throws(SQLiteFailure) {
            try unsafe statements.pointee.runInsert(of: row, in: database)
            return true
        } catch {
            // It is found out before anything is written.
            guard error.isTakenID else { throw error }
            return false
        }
    }

    private func statements(
        for row: borrowing EncodedRow,
        uniqueColumns: [String] = []
    ) -> UnsafeMutablePointer<Statements> {
        if let statements = unsafe statements, unsafe row.has(statements.pointee.shape, uniqueColumns: uniqueColumns) {
            return unsafe statements
        }
        let next: UnsafeMutablePointer<Statements>
        if let kept = unsafe takeStatements(of: row, uniqueColumns) {
            unsafe next = kept
        } else {
            unsafe next = keep(Statements(row.shape(uniqueColumns: uniqueColumns), layout))
        }
        if let before = unsafe statements { unsafe otherStatements.append(before) }
        if unsafe otherStatements.count > Self.otherShapes { unsafe drop(otherStatements.removeFirst()) }
        unsafe statements = next
        return unsafe next
    }

    /// The statements of a shape that came before the last one.
    private func takeStatements(
        of row: borrowing EncodedRow,
        _ uniqueColumns: [String]
    ) -> UnsafeMutablePointer<Statements>? {
        for index in unsafe otherStatements.indices
        where unsafe row.has(otherStatements[index].pointee.shape, uniqueColumns: uniqueColumns) {
            return unsafe otherStatements.remove(at: index)
        }
        return nil
    }

    private func keep(_ made: consuming Statements) -> UnsafeMutablePointer<Statements> {
        let kept = UnsafeMutablePointer<Statements>.allocate(capacity: 1)
        unsafe kept.initialize(to: made)
        return unsafe kept
    }

    private func dropStatements() {
        if let dropped = unsafe statements { unsafe drop(dropped) }
        for index in unsafe otherStatements.indices { unsafe drop(otherStatements[index]) }
        unsafe statements = nil
        unsafe otherStatements = []
    }

    private func drop(_ dropped: UnsafeMutablePointer<Statements>) {
        unsafe dropped.deinitialize(count: 1)
        unsafe dropped.deallocate()
    }

    private func storeNewestCasing(_ row: borrowing EncodedRow, in database: Database) throws {
        let statement = try database.prepare(
            "UPDATE \(layout.sqlName) SET \"id\" = ?1 WHERE \"id\" = ?1 AND \"id\" COLLATE BINARY <> ?1"
        )
        try statement.bind(row.id, in: row.buffer, at: 1)
        try statement.run()
    }
}

extension EncodedRow.Shape {
    /// The columns that are written, in order.
    var slots: [Int] { writesSlot.indices.filter { writesSlot[$0] } }

    /// Updates the row with the id; parameters: the id, the columns, the extra values and the patch for them.
    func updateSQL(_ layout: TableLayout) -> String {
        let extraColumn = TableLayout.extraColumn.sqlIdentifier
        var assignments = slots.enumerated().map { "\(layout.columns[$1].name.sqlIdentifier) = ?\($0 + 2)" }
        if extra != .none {
            let first = slots.count + 2
            assignments.append(
                "\(extraColumn) = CASE WHEN \(extraColumn) IS NULL THEN ?\(first) ELSE"
                    + " \(SQLFunctions.merge)(\(extraColumn), ?\(first + 1)) END"
            )
        }
        // A record without values still has to find out whether its row exists.
        if assignments.isEmpty { assignments = ["\(extraColumn) = \(extraColumn)"] }
        let table = layout.conflictClause + layout.sqlName
        return "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \"id\" = ?1"
    }

    /// Inserts a row; parameters: the id, the columns, the extra values.
    ///
    /// A row that is not alone in the columns in which it has to be gets the id of the other one, which is taken.
    func insertSQL(_ layout: TableLayout) -> String {
        var names = ["\"id\""] + slots.map { layout.columns[$0].name.sqlIdentifier }
        if extra != .none { names.append(TableLayout.extraColumn.sqlIdentifier) }
        var parameters = names.indices.map { "?\($0 + 1)" }
        if !uniqueColumns.isEmpty {
            let conditions = zip(names, parameters).dropFirst()
                .filter { name, _ in uniqueColumns.contains { $0.sqlIdentifier == name } }
                .map { "\($0) = \($1)" }
            let other = "SELECT \"id\" FROM \(layout.sqlName) WHERE \(conditions.joined(separator: " AND "))"
            parameters[0] = "ifnull((\(other)), ?1)"
        }
        return "INSERT \(layout.conflictClause)INTO \(layout.sqlName) (\(names.joined(separator: ", ")))"
            + " VALUES (\(parameters.joined(separator: ", ")))"
    }
}

/// A value as it lies in an array.
///
/// Not copyable, so that what reads it counts no references. Counting writes to memory that the thread which made the row
/// still has in its cache, and was a fifth of the time that writing the row took.
struct Borrowed<Value>: ~Copyable {
    let value: Value

    /// Lends the elements of an array, one after the other.
    static func forEach<Failure: Error>(
        _ array: [Value],
        _ body: (borrowing Borrowed) throws(Failure) -> Void
    ) throws(Failure) {
        assert(MemoryLayout<Borrowed>.stride == MemoryLayout<Value>.stride, "a struct lies as its only property")
        try unsafe array.withUnsafeBufferPointer { elements throws(Failure) in
            // A struct lies in memory as its only property does.
            try unsafe elements.withMemoryRebound(to: Borrowed.self) { elements throws(Failure) in
                guard var element = unsafe UnsafeRawPointer(elements.baseAddress) else { return }
                // Asked for once: outside the module's own types it is looked up at run time.
                let stride = MemoryLayout<Value>.stride
                for _ in elements.indices {
                    try unsafe body(element.assumingMemoryBound(to: Borrowed.self).pointee)
                    unsafe element += stride
                }
            }
        }
    }
}
