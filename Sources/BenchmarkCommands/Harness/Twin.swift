internal import CBenchmarkTwin
internal import Foundation
internal import SQLCipherStore

/// The twin in C: a connection with prepared statements, on the thread that calls.
@safe
final class Twin {
    private let pointer: OpaquePointer

    /// Opens a database, and creates it when it is missing.
    init(_ file: URL, _ encryption: Encryption, durability: EncryptedStoreOptions.Durability = .normal) throws {
        var pointer: OpaquePointer?
        let code = unsafe twin_open(
            file.path,
            encryption.keyText,
            Int32(EncryptedStoreOptions().cacheKibibytes),
            durability == .full,
            &pointer
        )
        unsafe self.pointer = try Self.checked(code, pointer)
    }

    /// Opens a database, durably, and reads one row.
    init(readingFirstRowOf file: URL, _ encryption: Encryption) throws {
        var pointer: OpaquePointer?
        let cache = Int32(EncryptedStoreOptions().cacheKibibytes)
        let code = unsafe twin_open_first_row(file.path, encryption.keyText, cache, &pointer)
        unsafe self.pointer = try Self.checked(code, pointer)
    }

    /// Opens a database, durably, and counts the operations by their states.
    init(readingStatusOf file: URL, _ encryption: Encryption, expecting count: Int) throws {
        var pointer: OpaquePointer?
        var found: Int64 = 0
        let cache = Int32(EncryptedStoreOptions().cacheKibibytes)
        let code = unsafe twin_open_status(file.path, encryption.keyText, cache, &pointer, &found)
        unsafe self.pointer = try Self.checked(code, pointer)
        try expect(found == count, "status")
    }

    deinit { unsafe twin_close(pointer) }

    func upsert(_ arrays: TwinArrays, page: Int) throws {
        try Self.check(unsafe twin_upsert(pointer, arrays.items.baseAddress, Int64(arrays.items.count), Int64(page)))
    }

    func writeWithOperations(_ arrays: TwinArrays, count: Int) throws {
        try Self.check(
            unsafe twin_write_with_operations(
                pointer,
                arrays.items.baseAddress,
                arrays.operations.baseAddress,
                Int64(count)
            )
        )
    }

    func upsert(_ arrays: SyncArrays, page: Int) throws {
        try Self.check(
            unsafe twin_upsert_synced(pointer, arrays.items.baseAddress, Int64(arrays.count), Int64(page))
        )
    }

    /// Inserts items, each with its operation.
    func change(_ arrays: SyncArrays, page: Int) throws {
        try Self.check(
            unsafe twin_change(
                pointer,
                arrays.items.baseAddress,
                arrays.operations.baseAddress,
                Int64(arrays.count),
                Int64(page)
            )
        )
    }

    func readByID(_ arrays: TwinArrays, count: Int, inOneTransaction: Bool) throws -> Int {
        try counting { found in
            unsafe twin_read_by_id(pointer, arrays.items.baseAddress, Int64(count), inOneTransaction, &found)
        }
    }

    func query() throws -> Int { try counting { unsafe twin_query(pointer, &$0) } }

    func scan() throws -> Int { try counting { unsafe twin_scan(pointer, &$0) } }

    func waiting() throws -> Int { try counting { unsafe twin_waiting(pointer, &$0) } }

    func scanStates() throws -> Int { try counting { unsafe twin_scan_states(pointer, &$0) } }

    func report(_ sql: String) throws -> Int { try counting { unsafe twin_report(pointer, sql, &$0) } }

    func delete() throws -> Int { try counting { unsafe twin_delete(pointer, &$0) } }

    private func counting(_ body: (inout Int64) -> Int32) throws -> Int {
        var count: Int64 = 0
        try Self.check(body(&count))
        return Int(count)
    }

    private static func checked(_ code: Int32, _ pointer: OpaquePointer?) throws -> OpaquePointer {
        guard code == 0, let pointer = unsafe pointer else {
            unsafe twin_close(pointer)
            throw BenchmarkFailure("the twin ended with SQLite's code \(code)")
        }
        return unsafe pointer
    }

    private static func check(_ code: Int32) throws {
        guard code == 0 else { throw BenchmarkFailure("the twin ended with SQLite's code \(code)") }
    }
}

/// Whether the twin encrypts.
enum Encryption: Sendable, Hashable {
    case encrypted
    case plain

    /// The key and salt of databases that hold nothing but made-up rows.
    fileprivate var keyText: String? {
        switch self {
        case .encrypted: "x'" + String(repeating: "5e", count: 32) + String(repeating: "a1", count: 16) + "'"
        case .plain: nil
        }
    }
}

/// Why a benchmark has no result.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
