import CSQLCipher
package import SQLCipherStore
import Synchronization

extension Database {
    /// Calls a closure when the connection is closed, on the thread that closes it.
    package func whenClosed(_ action: @escaping @Sendable () -> Void) {
        let context = unsafe Unmanaged.passRetained(ClosingProbe(action)).toOpaque()
        // SQLite gives up its functions at the end of the closing, after the checkpoint.
        _ = unsafe sqlite3_create_function_v2(
            pointer,
            "closing_probe",
            0,
            SQLITE_UTF8,
            context,
            { _, _, _ in },
            nil,
            nil,
            { context in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<ClosingProbe>.fromOpaque(context).takeRetainedValue().action()
            }
        )
    }

    /// Lets every rolling back fail from now on, but for the one that comes with the closing.
    package func refuseRollback() {
        _ = unsafe sqlite3_set_authorizer(
            pointer,
            { _, action, argument, _, _, _ in
                guard action == SQLITE_TRANSACTION, let argument = unsafe argument else { return SQLITE_OK }
                return unsafe String(cString: argument) == "ROLLBACK" ? SQLITE_DENY : SQLITE_OK
            },
            nil
        )
    }
}

extension Database {
    /// How many pages the connection has read so far, those apart that it had in memory.
    package var pagesRead: Int { count(SQLITE_DBSTATUS_CACHE_MISS) }

    /// How many pages the connection has written so far.
    package var pagesWritten: Int { count(SQLITE_DBSTATUS_CACHE_WRITE) }

    private func count(_ what: Int32) -> Int {
        var (count, highest): (Int32, Int32) = (0, 0)
        _ = unsafe sqlite3_db_status(pointer, what, &count, &highest, 0)
        return Int(count)
    }
}

private final class ClosingProbe: Sendable {
    let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }
}

/// The statements that a connection begins to run, as SQL.
package final class StatementLog: Sendable {
    private let log = Mutex<[String]>([])

    package init() {}

    /// Watches a connection, which must not outlive this.
    package func watch(_ database: Database) {
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe sqlite3_trace_v2(
            database.pointer,
            UInt32(SQLITE_TRACE_STMT),
            { _, context, _, sql in
                guard let context = unsafe context, let sql = unsafe sql else { return 0 }
                let text = unsafe String(cString: sql.assumingMemoryBound(to: CChar.self))
                unsafe Unmanaged<StatementLog>.fromOpaque(context).takeUnretainedValue().log
                    .withLock { $0.append(text) }
                return 0
            },
            context
        )
    }

    /// What ran since this was asked last.
    package func take() -> [String] { log.withLock { exchange(&$0, with: []) } }
}
