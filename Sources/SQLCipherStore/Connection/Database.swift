import CSQLCipher

/// A connection with its statement cache: what transactions work on. One thread at a time uses it.
@safe
package final class Database {
    /// The file.
    let path: String

    /// For statements, and what sets the connection up.
    package let pointer: OpaquePointer

    private let interruption = Interruption()
    private var cache = StatementCache(capacity: 64)

    /// What begins and ends transactions.
    let statements = TransactionStatements()

    /// What is kept ready for the tables that were used, by their names.
    var tableAccess: [String: TableAccess] = [:]

    /// What prepares statements of the app's own, once there was one.
    var appStatements: AppStatements?

    /// How many pages the WAL had after the last commit here. Known once ``watchWAL()`` was called.
    private(set) var walPages = 0

    /// Opens a file without a key.
    package init(path: String, flags: Int32) throws(SQLiteFailure) {
        var pointer: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &pointer, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let pointer = unsafe pointer else {
            // A handle comes back even from a failed open.
            let extended = unsafe pointer == nil ? code : sqlite3_extended_errcode(pointer)
            let failure = unsafe SQLiteFailure(code: extended, on: pointer)
            _ = unsafe sqlite3_close_v2(pointer)
            throw failure
        }
        self.path = path
        unsafe self.pointer = pointer
        _ = unsafe sqlite3_extended_result_codes(pointer, 1)
        setBusyTimeout(5_000)
    }

    /// `sqlite3_close_v2` waits for statements that are still about.
    deinit { _ = unsafe sqlite3_close_v2(pointer) }

    /// Hands the key of a database over, as the text `x'…'` of a raw key and a salt.
    func setKey(_ text: UnsafeRawBufferPointer, of database: String = "main") throws(SQLiteFailure) {
        let code = unsafe sqlite3_key_v2(pointer, database, text.baseAddress, Int32(text.count))
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    /// Sets how many milliseconds a call waits for another connection's lock.
    private func setBusyTimeout(_ milliseconds: Int32) { _ = unsafe sqlite3_busy_timeout(pointer, milliseconds) }

    /// Sets how many bytes a value or a row may have before it is refused with `SQLITE_TOOBIG`, unread. Returns what was
    /// set before.
    private func setLargestValue(_ count: Int) -> Int {
        Int(unsafe sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, Int32(clamping: count)))
    }

    /// The number of rows that the last statement inserted, updated or deleted.
    var changes: Int { Int(unsafe sqlite3_changes(pointer)) }

    /// Makes this a connection whose statements can be interrupted. See ``withInterruption(briefRows:_:)``.
    func allowInterruption() { interruptStatements(through: interruption) }

    /// Runs a closure whose statements are interrupted when the task is cancelled, and when the closure was to be brief
    /// and is not. It has failed then, whatever it made of that.
    ///
    /// - Parameters:
    ///   - briefRows: How many rows the closure reads, if it is to be brief.
    ///   - body: The closure.
    /// - Returns: What the closure returns.
    /// - Throws: What the closure throws; `CancellationError`; ``ReadTookLong``.
    func withInterruption<Value>(briefRows: Int?, _ body: () throws -> Value) throws -> Value {
        interruption.begin(isBrief: briefRows != nil)
        defer { interruption.end() }
        guard let briefRows else {
            let result = Result { try body() }
            if let reason = interruption.reason { throw reason }
            return try result.get()
        }
        let largestValue = setLargestValue(Interruption.largestValue(ofRows: briefRows))
        let result = Result { try body() }
        _ = setLargestValue(largestValue)
        if let reason = interruption.reason { throw reason }
        if case .failure(let error) = result, SQLiteFailure(beneath: error)?.primaryCode == SQLITE_TOOBIG {
            throw ReadTookLong()
        }
        return try result.get()
    }

    /// What SQLite says of the last failure. It may quote SQL.
    var message: String { unsafe sqlite3_errmsg(pointer).map { unsafe String(cString: $0) } ?? "" }

    /// Whether a transaction is open: one was begun, and SQLite itself has not rolled it back.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(pointer) == 0 }

    /// Runs a closure with a statement that is ready to bind. It is in use until the closure ends, and dropped when the
    /// closure throws: a statement that failed is not used again.
    package func withStatement<Value>(_ sql: String, _ body: (Statement) throws -> Value) throws -> Value {
        let statement: Statement
        if let cached = cache.statement(for: sql) {
            statement = cached
        } else {
            statement = try diagnosingFailure { () throws(SQLiteFailure) in try prepare(sql) }
            cache.insert(statement, for: sql)
        }
        statement.isInUse = true
        defer {
            statement.clear()
            statement.isInUse = false
        }
        do {
            return try body(statement)
        } catch let failure as SQLiteFailure {
            cache.remove(sql)
            statement.clear()
            throw diagnosed(failure)
        }
    }

    /// Prepares a statement for somebody who keeps it, and drops it when it fails. See ``diagnosed(_:)``.
    func prepare(_ sql: String) throws(SQLiteFailure) -> Statement { try Statement(sql, in: self) }

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
        try diagnosingFailure { () throws(SQLiteFailure) in
            let code = unsafe sqlite3_exec(pointer, sql, nil, nil, nil)
            guard code == SQLITE_OK else { throw unsafe SQLiteFailure(code: code, on: pointer) }
        }
    }

    /// The first column of the first row, or nil when there is no row.
    package func text(_ sql: String) throws -> String? {
        try withStatement(sql) { try $0.step() ? $0.text(0) : nil }
    }

    /// What a statement answers that changes a setting. It runs to its end: what such a one writes into the file is committed
    /// there, behind its only row, and fails there.
    package func setting(_ sql: String) throws -> String? {
        try withStatement(sql) { row in
            guard try row.step() else { return nil }
            let text = row.text(0)
            while try row.step() {}
            return text
        }
    }

    /// The first column of the first row, or nil when there is no row.
    package func int64(_ sql: String) throws -> Int64? {
        try withStatement(sql) { try $0.step() ? $0.int64(0) : nil }
    }

    /// Attaches a file without a key under a name. `KEY ''` keeps the library from using the key of the first database.
    package func attach(_ path: String, as name: String) throws {
        try run("ATTACH ?1 AS \(name) KEY ''", [.text(path)])
    }

    private func diagnosingFailure<Value>(_ body: () throws(SQLiteFailure) -> Value) throws -> Value {
        do throws(SQLiteFailure) {
            return try body()
        } catch {
            throw diagnosed(error)
        }
    }

    /// After a damaged page every call fails with the code for wrong SQL: what tells the two apart is whether a
    /// statement that is certainly right fails as well.
    func diagnosed(_ failure: SQLiteFailure) -> SQLiteFailure {
        guard failure.primaryCode == SQLITE_ERROR else { return failure }
        do throws(SQLiteFailure) {
            let probe = try prepare("SELECT COUNT(*) FROM sqlite_master")
            _ = try probe.step()
            return failure
        } catch {
            return error.primaryCode == SQLITE_ERROR ? SQLiteFailure(code: SQLITE_CORRUPT) : error
        }
    }
}

extension Database {
    /// Keeps count of the WAL's pages with every commit, and leaves checkpoints to the caller.
    func watchWAL() {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe sqlite3_wal_hook(
            pointer,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<Database>.fromOpaque(context).takeUnretainedValue().walPages = Int(pages)
                }
                return SQLITE_OK
            },
            context
        )
    }

    /// Keeps commits on this connection from making checkpoints.
    func disableCheckpoints() { _ = unsafe sqlite3_wal_autocheckpoint(pointer, 0) }

    /// Moves what the WAL holds into the database file, waiting for readers as long as given.
    func checkpoint(_ mode: CheckpointMode, waiting milliseconds: Int32) throws(SQLiteFailure) {
        setBusyTimeout(milliseconds)
        defer { setBusyTimeout(5_000) }
        let code = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, mode.code, nil, nil)
        guard code == SQLITE_OK else { throw unsafe SQLiteFailure(code: code, on: pointer) }
    }
}

/// How far a checkpoint goes.
enum CheckpointMode {
    /// Writes back what no reader needs.
    case passive
    /// Waits for readers, so that the next write starts the WAL anew.
    case restart
    /// The same, and cuts its file to nothing.
    case truncate

    fileprivate var code: Int32 {
        switch self {
        case .passive: SQLITE_CHECKPOINT_PASSIVE
        case .restart: SQLITE_CHECKPOINT_RESTART
        case .truncate: SQLITE_CHECKPOINT_TRUNCATE
        }
    }
}

/// How a transaction begins.
package enum TransactionKind {
    /// Sees the state of one instant, from its first read on.
    case reading
    /// The same for few rows, but fails when it turns out to take long.
    case readingBriefly(rows: Int)
    /// Takes the write lock at once.
    case writing
}

/// The statements around transactions.
struct TransactionStatements {
    fileprivate let begin = CachedStatement("BEGIN")
    fileprivate let beginWriting = CachedStatement("BEGIN IMMEDIATE")
    fileprivate let readAnyPage = CachedStatement("SELECT 1 FROM sqlite_master LIMIT 1")
    fileprivate let commit = CachedStatement("COMMIT")
}

extension TransactionKind {
    fileprivate func begin(_ statements: TransactionStatements) -> CachedStatement {
        if case .writing = self { statements.beginWriting } else { statements.begin }
    }
}

/// A statement that is kept at hand, instead of looked up by its text.
final class CachedStatement {
    private let sql: String
    private var statement: Statement?

    init(_ sql: String) { self.sql = sql }

    /// Runs a closure with the statement, ready to bind. Who comes meanwhile gets another; one that failed is not used
    /// again.
    func use<Value>(in database: Database, _ body: (Statement) throws -> Value) throws -> Value {
        do {
            let current = try statement ?? database.prepare(sql)
            statement = nil
            defer { current.clear() }
            let result = Result { try body(current) }
            if case .failure(is SQLiteFailure) = result {} else { statement = current }
            return try result.get()
        } catch let failure as SQLiteFailure {
            throw database.diagnosed(failure)
        }
    }

    /// Runs the statement, and drops the rows it gives.
    func run(in database: Database) throws { try use(in: database) { try $0.run() } }
}

extension Database {
    /// Runs a closure as one transaction: committed when it returns, rolled back when it throws.
    ///
    /// A task that is cancelled ends a read with `CancellationError`, and a write only if the closure looks for it. The
    /// first error wins: what goes wrong while rolling back after it is a consequence, and shows in ``isInTransaction``:
    /// the connection is of no more use then.
    ///
    /// - Throws: What the closure throws, `SQLiteFailure`, and as ``withInterruption(briefRows:_:)``.
    package func transaction<Value>(_ kind: TransactionKind, _ body: () throws -> Value) throws -> Value {
        try kind.begin(statements).run(in: self)
        do {
            let value: Value
            switch kind {
            case .writing: value = try body()
            case .reading: value = try reading(briefRows: nil, body)
            case .readingBriefly(let rows): value = try reading(briefRows: rows, body)
            }
            try statements.commit.run(in: self)
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    private func reading<Value>(briefRows: Int?, _ body: () throws -> Value) throws -> Value {
        let value = try withInterruption(briefRows: briefRows, body)
        // The commit of a write makes sure of it by itself: it is refused after a page that failed the check.
        try verifyPagesRead()
        return value
    }

    /// Throws when a page that this transaction read failed the cipher's check.
    ///
    /// The library hands such a page out as zeros and reports success; only the *next* page it is asked for fails. A
    /// value whose last page was damaged would otherwise come back with zeros at its end.
    package func verifyPagesRead() throws {
        do {
            try statements.readAnyPage.run(in: self)
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_ERROR {
            throw SQLiteFailure(code: SQLITE_CORRUPT)
        }
    }

    /// Ends a transaction without keeping anything. SQLite may have done so itself: after a full disk, for instance.
    private func rollBack() {
        guard isInTransaction else { return }
        do {
            try run("ROLLBACK")
        } catch {
            // Nothing is kept either way: the connection is given up, and the transaction ends with it. The caller throws
            // the reason.
        }
    }
}
