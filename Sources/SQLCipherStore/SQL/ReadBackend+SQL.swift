import SyncContract

extension ReadBackend {
    /// Hands the rows of a statement to a closure, and returns the tables that it reads.
    func forEachRow(_ query: SQLQuery, _ body: (SQLRow) throws -> Void) throws -> Set<String> {
        try reportingFailures {
            let database = try database()
            let statements = try database.appStatements ?? AppStatements(database, catalog)
            database.appStatements = statements
            let prepared = try statements.prepare(query, in: database)
            let statement = prepared.statement
            defer { statement.clear() }
            while try statements.step(statement, in: database) { try body(prepared.row()) }
            return prepared.tables
        }
    }
}

extension AppStatements {
    /// Runs to the next row.
    ///
    /// - Throws: ``StoreError/Code/outOfRange`` for a sum that is too large; ``StoreError/Code/invalidQuery`` for what
    ///   a function refuses. What SQLite says of it is not told: it may hold what is in a row.
    fileprivate func step(_ statement: Statement, in database: Database) throws -> Bool {
        do {
            return try authorizer.asked { try statement.step() }
        } catch let failure as SQLiteFailure {
            if failure.isOutOfRange || database.message == "integer overflow" {
                throw StoreError(
                    .outOfRange,
                    "The SQL adds up numbers to one that is too large, or adds what is no number."
                )
            }
            if let refusal = authorizer.refusal { throw StoreError(.invalidQuery, "The SQL is refused: \(refusal).") }
            let diagnosed = database.diagnosed(failure)
            guard diagnosed.isError else { throw diagnosed }
            throw StoreError(.invalidQuery, "The SQL failed while it ran: a function does not take what it was given.")
        }
    }
}
