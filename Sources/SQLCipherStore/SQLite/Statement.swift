import CSQLCipher
import SyncContract
#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A prepared statement.
///
/// Texts and blobs are bound with their byte counts, so that an embedded U+0000 is a character like any other. SQLite
/// keeps the buffer of a bound value until the bindings are cleared, and uses it again for the next row.
@safe
package final class Statement {
    private let pointer: OpaquePointer

    /// Whether somebody is using the statement: nobody else may then.
    var isInUse = false

    init(_ sql: String, in database: Database) throws(SQLiteFailure) {
        var pointer: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(database.pointer, sql, -1, &pointer, nil)
        guard code == SQLITE_OK, let pointer = unsafe pointer else {
            throw unsafe SQLiteFailure(code: code, on: database.pointer)
        }
        unsafe self.pointer = pointer
    }

    private init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { _ = unsafe sqlite3_finalize(pointer) }

    /// The first statement of a text, nil where there are only spaces and comments, and the text behind it.
    static func first(
        of sql: String,
        in database: Database
    ) throws(SQLiteFailure) -> (statement: Statement?, rest: String) {
        var (statement, rest, code) = (nil as Statement?, "", SQLITE_OK)
        unsafe sql.withCString { text in
            var pointer: OpaquePointer?
            var tail: UnsafePointer<CChar>?
            code = unsafe sqlite3_prepare_v2(database.pointer, text, -1, &pointer, &tail)
            if let pointer = unsafe pointer { statement = unsafe Statement(pointer) }
            if let tail = unsafe tail { rest = unsafe String(cString: tail) }
        }
        guard code == SQLITE_OK else { throw unsafe SQLiteFailure(code: code, on: database.pointer) }
        return (statement, rest)
    }

    /// Whether it writes nothing, by SQLite's own account.
    var isReading: Bool { unsafe sqlite3_stmt_readonly(pointer) != 0 }

    /// The largest number of a parameter.
    var parameterCount: Int { Int(unsafe sqlite3_bind_parameter_count(pointer)) }

    /// Runs to the next row and returns whether there is one.
    package func step() throws(SQLiteFailure) -> Bool {
        let code = unsafe sqlite3_step(pointer)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw unsafe SQLiteFailure(code: code, on: sqlite3_db_handle(pointer))
        }
    }

    /// Runs a statement that gives no rows and makes it ready to run again, its bindings unchanged.
    func run() throws(SQLiteFailure) {
        let code = unsafe sqlite3_step(pointer)
        _ = unsafe sqlite3_reset(pointer)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            throw unsafe SQLiteFailure(code: code, on: sqlite3_db_handle(pointer))
        }
    }

    /// Lets go of locks and values. What `sqlite3_reset` reports is the failure of the last step, thrown already.
    func clear() {
        _ = unsafe sqlite3_reset(pointer)
        _ = unsafe sqlite3_clear_bindings(pointer)
    }
}

extension Statement {
    /// SQLite copies the bytes: its constant for that is a macro with a cast, which is not imported.
    private static var copied: sqlite3_destructor_type {
        unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// Binds values to the parameters from 1 on.
    package func bind(_ values: [SQLValue]) throws(SQLiteFailure) {
        for (index, value) in values.enumerated() { try bind(value, at: index + 1) }
    }

    /// Binds a value to a parameter; the first is 1.
    func bind(_ value: SQLValue, at index: Int) throws(SQLiteFailure) {
        let index = Int32(index)
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(pointer, index)
            case .int64(let value): unsafe sqlite3_bind_int64(pointer, index, value)
            case .double(let value): unsafe sqlite3_bind_double(pointer, index, value)
            case .text(let value): bind(text: value, at: index)
            case .blob(let value): bind(blob: value, at: index)
            }
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    /// Binds a value whose texts and bytes lie in a buffer. They are not copied: the buffer must stay as it is until the
    /// statement has run.
    func bind(_ value: BoundValue, in buffer: borrowing RowBuffer, at index: Int) throws(SQLiteFailure) {
        let index = Int32(truncatingIfNeeded: index)
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(pointer, index)
            case .int64(let value): unsafe sqlite3_bind_int64(pointer, index, value)
            case .double(let value): unsafe sqlite3_bind_double(pointer, index, value)
            case .text(let offset, let count):
                unsafe sqlite3_bind_text64(
                    pointer,
                    index,
                    buffer.address(offset)?.assumingMemoryBound(to: CChar.self),
                    UInt64(count),
                    nil,
                    UInt8(SQLITE_UTF8)
                )
            case .bytes(let offset, let count):
                unsafe sqlite3_bind_blob64(pointer, index, buffer.address(offset), UInt64(count), nil)
            }
        guard code == SQLITE_OK else { throw SQLiteFailure(code: code) }
    }

    private func bind(text: String, at index: Int32) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                // An empty text may have no address, which would bind a null.
                guard let base = characters.baseAddress else {
                    return unsafe sqlite3_bind_text64(pointer, index, "", 0, Self.copied, UInt8(SQLITE_UTF8))
                }
                return unsafe sqlite3_bind_text64(
                    pointer,
                    index,
                    base,
                    UInt64(characters.count),
                    Self.copied,
                    UInt8(SQLITE_UTF8)
                )
            }
        }
    }

    private func bind(blob: [UInt8], at index: Int32) -> Int32 {
        guard !blob.isEmpty else { return unsafe sqlite3_bind_zeroblob(pointer, index, 0) }
        return unsafe blob.withUnsafeBytes { bytes in
            unsafe sqlite3_bind_blob64(pointer, index, bytes.baseAddress, UInt64(bytes.count), Self.copied)
        }
    }
}

/// The columns of the current row; the first is 0.
extension Statement {
    /// How the value in a column is stored, whatever the column is declared as.
    package func storageClass(_ column: Int) -> StorageClass {
        switch unsafe sqlite3_column_type(pointer, Int32(column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    /// The number of columns.
    package var columnCount: Int { Int(unsafe sqlite3_column_count(pointer)) }

    /// The name of a column.
    func name(_ column: Int) -> String {
        unsafe sqlite3_column_name(pointer, Int32(column)).map { unsafe String(cString: $0) } ?? ""
    }

    /// The column of a table that a column's values come straight from; nil where they are computed.
    func origin(_ column: Int) -> (table: String, column: String)? {
        guard let table = unsafe sqlite3_column_table_name(pointer, Int32(column)),
            let origin = unsafe sqlite3_column_origin_name(pointer, Int32(column))
        else { return nil }
        return unsafe (String(cString: table), String(cString: origin))
    }

    package func isNull(_ column: Int) -> Bool { unsafe sqlite3_column_type(pointer, Int32(column)) == SQLITE_NULL }

    package func int64(_ column: Int) -> Int64 { unsafe sqlite3_column_int64(pointer, Int32(column)) }

    package func double(_ column: Int) -> Double { unsafe sqlite3_column_double(pointer, Int32(column)) }

    package func text(_ column: Int) -> String {
        guard let start = unsafe sqlite3_column_text(pointer, Int32(column)) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(pointer, Int32(column)))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// Whether a column holds this text, byte by byte.
    func isText(_ column: Int, _ text: String) -> Bool {
        // One that does not lie in memory as it is was never bound like that.
        unsafe text.utf8.withContiguousStorageIfAvailable { bytes in
            let start = unsafe sqlite3_column_text(pointer, Int32(column))
            return unsafe isSame(UnsafeRawPointer(start), column, UnsafeRawBufferPointer(bytes))
        } ?? false
    }

    /// Whether a column holds these bytes.
    func isBlob(_ column: Int, _ blob: [UInt8]) -> Bool {
        unsafe blob.withUnsafeBytes { bytes in
            let start = unsafe sqlite3_column_blob(pointer, Int32(column))
            return unsafe isSame(start, column, bytes)
        }
    }

    /// Whether what a column holds, and lies at an address, are these bytes.
    private func isSame(_ start: UnsafeRawPointer?, _ column: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
        guard byteCount(column) == bytes.count else { return false }
        guard let start = unsafe start, let other = bytes.baseAddress else { return unsafe bytes.isEmpty }
        return unsafe memcmp(start, other, bytes.count) == 0
    }

    /// The length of a text or blob, as the row states it: its bytes are not read for that.
    package func byteCount(_ column: Int) -> Int { Int(unsafe sqlite3_column_bytes(pointer, Int32(column))) }

    package func bytes(_ column: Int) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(pointer, Int32(column)) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(pointer, Int32(column)))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}

/// The ways in which SQLite stores a value.
package enum StorageClass {
    case null
    case integer
    case real
    case text
    case blob
}

/// A value as SQLite stores it.
package enum SQLValue: Sendable, Hashable {
    case null
    case int64(Int64)
    case double(Double)
    case text(String)
    case blob([UInt8])
}

extension SQLValue {
    /// The stored form of a value; dates without their finer text.
    init(_ value: FieldValue) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .int64(value ? 1 : 0)
        case .int64(let value): self = .int64(value)
        case .double(let value): self = .double(value)
        case .decimal(let value): self = .text(value.text)
        case .string(let value): self = .text(value)
        case .date(let value): self = .int64(value.milliseconds)
        case .bytes(let value): self = .blob(value)
        case .json(let value): self = .text(value.text)
        }
    }

    /// The stored form of an id.
    init(_ id: RecordID) {
        switch id {
        case .string(let value): self = .text(value)
        case .int64(let value): self = .int64(value)
        }
    }
}
