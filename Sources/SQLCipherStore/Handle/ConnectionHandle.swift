import CSQLCipher

/// An open database connection, closed with its end.
@safe
package struct ConnectionHandle: ~Copyable {
    /// For the other handles, and what sets a connection up.
    package let pointer: OpaquePointer

    /// Opens a connection that one thread at a time may use.
    init(path: String, flags: Int32) throws(SQLiteFailure) {
        var pointer: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path, &pointer, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let pointer = unsafe pointer else {
            // A handle comes back even from a failed open.
            let extended = unsafe pointer == nil ? code : sqlite3_extended_errcode(pointer)
            _ = unsafe sqlite3_close_v2(pointer)
            throw SQLiteFailure(code: extended)
        }
        unsafe self.pointer = pointer
        _ = unsafe sqlite3_extended_result_codes(pointer, 1)
        setBusyTimeout(5_000)
    }

    /// `sqlite3_close_v2` waits for statements that are still about.
    deinit { _ = unsafe sqlite3_close_v2(pointer) }

    /// Whether no transaction is open: none was begun, or SQLite itself rolled it back.
    var isInAutocommit: Bool { unsafe sqlite3_get_autocommit(pointer) != 0 }

    /// The number of rows that the last statement inserted, updated or deleted.
    var changes: Int { Int(unsafe sqlite3_changes(pointer)) }

    /// Hands the key of a database over, as the text `x'…'` of a raw key and a salt.
    func setKey(_ text: UnsafeRawBufferPointer, of database: String = "main") throws(SQLiteFailure) {
        let code = unsafe sqlite3_key_v2(pointer, database, text.baseAddress, Int32(text.count))
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    /// Runs SQL whose rows nobody wants.
    func execute(_ sql: String) throws(SQLiteFailure) {
        let code = unsafe sqlite3_exec(pointer, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    /// Sets how many milliseconds a call waits for another connection's lock.
    func setBusyTimeout(_ milliseconds: Int32) { _ = unsafe sqlite3_busy_timeout(pointer, milliseconds) }

    /// Sets how many bytes a value or a row may have before it is refused with `SQLITE_TOOBIG`, unread. Returns what was
    /// set before.
    func setLargestValue(_ count: Int) -> Int {
        Int(unsafe sqlite3_limit(pointer, SQLITE_LIMIT_LENGTH, Int32(clamping: count)))
    }

    /// Keeps commits on this connection from making checkpoints.
    func disableCheckpoints() { _ = unsafe sqlite3_wal_autocheckpoint(pointer, 0) }

    /// Moves what the WAL holds into the database file.
    func checkpoint(_ mode: CheckpointMode) throws(SQLiteFailure) {
        let code = unsafe sqlite3_wal_checkpoint_v2(pointer, nil, mode.code, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }
}

/// How long the WAL was after the last commit of a connection.
final class WALLength {
    fileprivate(set) var pages = 0
}

extension ConnectionHandle {
    /// Keeps count of the WAL's pages with every commit, and leaves checkpoints to the caller.
    ///
    /// - Parameter length: Must live as long as the connection.
    func watchWAL(_ length: WALLength) {
        let context = unsafe Unmanaged.passUnretained(length).toOpaque()
        _ = unsafe sqlite3_wal_hook(
            pointer,
            { context, _, _, pages in
                if let context = unsafe context {
                    unsafe Unmanaged<WALLength>.fromOpaque(context).takeUnretainedValue().pages = Int(pages)
                }
                return SQLITE_OK
            },
            context
        )
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
