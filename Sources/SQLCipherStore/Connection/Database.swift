import CSQLCipher

/// A connection with its statement cache: what transactions work on. One thread at a time uses it.
package final class Database {
    /// The file.
    let path: String
    private let log = LogLength()
    private let handle: ConnectionHandle
    private var cache = StatementCache(capacity: 64)

    /// What begins and ends transactions.
    let statements = TransactionStatements()

    /// What is kept ready for the tables that were used, by their names.
    var tableAccess: [String: TableAccess] = [:]

    /// Opens a file without a key.
    package init(path: String, flags: Int32) throws(SQLiteFailure) {
        self.path = path
        handle = try ConnectionHandle(path: path, flags: flags)
    }

    /// Lends the handle to what sets a connection up.
    package func configure<Failure: Error>(_ body: (borrowing ConnectionHandle) throws(Failure) -> Void) throws(Failure)
    {
        try body(handle)
    }

    /// The number of rows that the last statement inserted, updated or deleted.
    var changes: Int { handle.changes }

    /// The size of the log in bytes after the last commit here. Known once ``watchLog()`` was called.
    var logSize: Int { log.pages * LogLimits.frameSize }

    /// Makes this the connection that keeps the log short.
    func watchLog() { handle.watchLog(log) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { !handle.isInAutocommit }

    /// Lends a statement that is ready to bind. It is given back, reset, when the closure ends, and dropped when the
    /// closure throws: a statement that failed is not used again.
    package func withStatement<Value>(_ sql: String, _ body: (Statement) throws -> Value) throws -> Value {
        let statement: Statement
        if let cached = cache.statement(for: sql) {
            statement = cached
        } else {
            statement = try describingFailure { () throws(SQLiteFailure) in try Statement(sql, in: handle) }
            cache.insert(statement, for: sql)
        }
        statement.isLent = true
        defer {
            statement.clear()
            statement.isLent = false
        }
        do {
            return try body(statement)
        } catch let failure as SQLiteFailure {
            cache.remove(sql)
            statement.clear()
            throw explained(failure)
        }
    }

    /// Prepares a statement for somebody who keeps it, and drops it when it fails. See ``explained(_:)``.
    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement { try Statement(sql, in: handle) }

    /// Runs a statement that gives no rows, and returns how many rows it changed.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue] = []) throws -> Int {
        try withStatement(sql) { statement in
            try statement.bind(values)
            try statement.run()
            return changes
        }
    }

    /// Runs SQL once, such as a setting, and drops the rows it gives.
    func execute(_ sql: String) throws {
        try describingFailure { () throws(SQLiteFailure) in try handle.execute(sql) }
    }

    /// The first column of the first row, or nil when there is no row.
    package func text(_ sql: String) throws -> String? {
        try withStatement(sql) { try $0.step() ? $0.text(0) : nil }
    }

    /// The first column of the first row, or nil when there is no row.
    package func int64(_ sql: String) throws -> Int64? {
        try withStatement(sql) { try $0.step() ? $0.int64(0) : nil }
    }

    /// Attaches a file without a key under a name. `KEY ''` keeps the library from using the key of the first database.
    package func attach(_ path: String, as name: String) throws {
        try run("ATTACH ?1 AS \(name) KEY ''", [.text(path)])
    }

    /// Moves what the log holds into the database file, waiting for readers as long as given.
    func checkpoint(_ mode: CheckpointMode, waiting milliseconds: Int32) throws(SQLiteFailure) {
        handle.setBusyTimeout(milliseconds)
        defer { handle.setBusyTimeout(5_000) }
        try handle.checkpoint(mode)
    }

    private func describingFailure<Value>(_ body: () throws(SQLiteFailure) -> Value) throws -> Value {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw explained(error)
        }
    }

    /// After a damaged page every call fails with the code for wrong SQL: what tells the two apart is whether a
    /// statement that is certainly right fails as well.
    func explained(_ failure: SQLiteFailure) -> SQLiteFailure {
        guard failure.primaryCode == SQLITE_ERROR else { return failure }
        do throws(SQLiteFailure) {
            let probe = try Statement("SELECT COUNT(*) FROM sqlite_master", in: handle)
            _ = try probe.step()
            return failure
        } catch {
            return error.primaryCode == SQLITE_ERROR ? SQLiteFailure(code: SQLITE_CORRUPT) : error
        }
    }
}
