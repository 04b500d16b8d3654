/// A statement without parameters that a connection runs with every transaction: kept at hand, instead of looked up by
/// its text.
final class FrequentStatement {
    private let sql: String
    private var statement: Statement?

    init(_ sql: String) { self.sql = sql }

    /// Runs the statement, and drops the rows it gives.
    func run(in database: Database) throws {
        do throws(SQLiteFailure) {
            let current = if let statement { statement } else { try database.prepare(sql) }
            // Kept again when all went well: a statement that failed is not used again.
            statement = nil
            try current.run()
            statement = current
        } catch {
            throw database.explained(error)
        }
    }
}
