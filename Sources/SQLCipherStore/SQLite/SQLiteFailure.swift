import CSQLCipher
import SyncContract

/// A result code of SQLite that is not success, with its generic description.
///
/// `sqlite3_errmsg` is not kept: it quotes names and SQL.
package struct SQLiteFailure: Error, Sendable, CustomStringConvertible {
    /// The extended result code.
    package let code: Int32

    package init(code: Int32) { self.code = code }

    /// The failure that an error is, or reports as its cause.
    init?(beneath error: any Error) {
        guard let failure = error as? SQLiteFailure ?? (error as? StoreError)?.cause as? SQLiteFailure else {
            return nil
        }
        self = failure
    }

    /// The result code without its details.
    package var primaryCode: Int32 { code & 0xFF }

    /// Whether another connection stands in the way.
    var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

    /// Whether it is the code for wrong SQL, for what a function refuses, and for much else.
    var isError: Bool { primaryCode == SQLITE_ERROR }

    /// Whether the statement was told to stop.
    var isInterruption: Bool { primaryCode == SQLITE_INTERRUPT }

    /// Whether a sum did not fit its type. SQLite reports a parameter that is not there with this code, which no statement
    /// here has.
    var isOutOfRange: Bool { primaryCode == SQLITE_RANGE }

    /// Whether a row with the same id is in the way. The extended code is a macro that is not imported.
    var isTakenID: Bool { code == SQLITE_CONSTRAINT | (6 << 8) }

    package var description: String {
        let text = unsafe sqlite3_errstr(code).map { unsafe String(cString: $0) } ?? "unknown"
        return "SQLite \(code): \(text)"
    }
}

extension SQLiteFailure {
    /// Whether a statement that is certainly right failed because the file is not what was written, and not because
    /// something stands in the way: after a damaged page the library calls every statement wrong.
    package var isDamage: Bool { primaryCode == SQLITE_ERROR || StoreError(self, at: nil).code == .damaged }
}
