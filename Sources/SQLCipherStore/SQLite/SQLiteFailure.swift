import CSQLCipher
import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A result code of SQLite that is not success, with its generic description.
///
/// `sqlite3_errmsg` is not kept: it quotes names and SQL.
package struct SQLiteFailure: Error, Sendable, CustomStringConvertible {
    /// The extended result code.
    package let code: Int32

    /// What the system answered (`errno`), where a call to it failed and that is known.
    package let systemNumber: Int32?

    package init(code: Int32, systemNumber: Int32? = nil) {
        self.code = code
        self.systemNumber = systemNumber
    }

    /// The failure of the last call on a connection.
    init(code: Int32, on connection: OpaquePointer?) {
        self.init(code: code, systemNumber: unsafe Self.systemNumber(code & 0xFF, connection))
    }

    private static func systemNumber(_ primaryCode: Int32, _ connection: OpaquePointer?) -> Int32? {
        // SQLite asks for it with these codes only.
        guard primaryCode == SQLITE_IOERR || primaryCode == SQLITE_CANTOPEN, let connection = unsafe connection else {
            return nil
        }
        let number = unsafe sqlite3_system_errno(connection)
        // A file that cannot be made is then opened to be read: that there is none is no reason.
        return number == 0 || (primaryCode == SQLITE_CANTOPEN && number == ENOENT) ? nil : number
    }

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
        let system = systemNumber.map { ", \(unsafe String(cString: strerror($0))) (errno \($0))" } ?? ""
        return "SQLite \(code): \(text)\(system)"
    }
}

extension SQLiteFailure {
    /// Whether a statement that is certainly right failed because the file is not what was written, and not because
    /// something stands in the way: after a damaged page the library calls every statement wrong.
    package var isDamage: Bool { primaryCode == SQLITE_ERROR || StoreError(self, at: nil).code == .damaged }
}
