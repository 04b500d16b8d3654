import SyncContract

/// What one connection keeps ready for one table, so that the commonest calls neither write SQL nor look it up.
final class TableAccess {
    let layout: TableLayout
    /// Reads whole rows.
    let reader: RowReader
    /// Writes rows.
    let writer: RowWriter

    private let rowByIDSQL: String
    private var rowByID: Statement?
    private var buffer = RowBuffer()

    init(_ layout: TableLayout) {
        self.layout = layout
        reader = RowReader(layout)
        writer = RowWriter(layout)
        rowByIDSQL = "SELECT \(reader.sqlColumns) FROM \(layout.sqlName) WHERE \"id\" = ?1"
    }

    /// The record with an id, nil when there is none.
    func record(_ id: RecordID, in database: Database) throws -> Record? {
        do {
            try layout.check(id)
            let statement = try rowByID ?? database.prepare(rowByIDSQL)
            // Kept again when all went well: a statement that failed is not used again.
            rowByID = nil
            buffer.removeAll()
            try statement.bind(buffer.append(id), in: buffer, at: 1)
            let record = try statement.step() ? reader.record(statement) : nil
            statement.reset()
            rowByID = statement
            return record
        } catch let failure as SQLiteFailure {
            throw database.diagnosed(failure)
        }
    }
}
