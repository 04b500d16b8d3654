import CSQLCipher
import DurableFiles
import SQLCipherStore
import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A plain SQLite file that is read and never written, locked or given companions.
///
/// Without locks a program that writes at the same time would not be noticed: what the file looks like from outside is
/// compared before and after.
final class PlainDatabase {
    let path: String
    let database: Database
    private let files: StoreFiles
    private let before: Appearance

    /// Opens the file.
    ///
    /// - Throws: ``StoreError/Code/notFound``; ``StoreError/Code/unsupportedFormat`` for anything but a plain SQLite
    ///   database; ``StoreError/Code/inUse`` when there is something beside it that belongs to its content.
    init(_ files: StoreFiles, work: CancellableWork) throws {
        self.files = files
        path = files.database
        guard FileSystem.exists(path) else {
            throw StoreError(.notFound, "There is no file at '\(path)'; check the path.")
        }
        // To open a pipe would wait for somebody who writes into it.
        guard FileSystem.isRegularFile(path) else {
            throw StoreError(.unsupportedFormat, "'\(path)' is not a regular file; name an SQLite file.")
        }
        do {
            try Self.checkStart(path)
            before = try Appearance(path)
            try Self.checkCompanions(files)
        } catch let failure as SystemCallFailure {
            throw Self.unreadable(path, failure)
        }
        database = try Database(
            // With permission to write as far as this library is concerned, which files attached to it inherit.
            path: StoreFiles.uri(path, "mode=ro&immutable=1"),
            flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI
        )
        try database.configureSession(EncryptedStoreOptions())
        database.end(with: work)
        try reportingDamage { try checkStructure() }
    }

    /// The size in bytes.
    var size: Int64 { before.size }

    /// Throws when the file has changed since it was opened.
    func checkUnchanged() throws {
        try Self.checkCompanions(files)
        guard try Appearance(path) == before else { throw Self.inUse(path) }
    }

    /// Runs a closure that reads the file, and lets the errors about damage name it.
    func reportingDamage<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as SQLiteFailure where failure.isDamage {
            throw Self.damaged(path, failure)
        }
    }

    private func checkStructure() throws {
        guard try database.text("PRAGMA encoding") == "UTF-8" else {
            throw StoreError(
                .schemaMismatch,
                "The texts in '\(path)' are stored as UTF-16; write it anew as UTF-8 with 'sqlite3 OLD .dump | sqlite3"
                    + " NEW' and take the new file."
            )
        }
        guard try database.text("PRAGMA quick_check(1)") == "ok" else { throw Self.damaged(path, nil) }
    }

    private static func checkStart(_ path: String) throws {
        let start = try FileSystem.prefix(of: path, count: FileHeader.count)
        guard start != FileHeader.plainHeader else { return }
        let reason =
            if start.starts(with: FileHeader.magic) {
                "is an encrypted store already; open it with its key"
            } else if start.isEmpty {
                "is empty; create a new store instead"
            } else {
                "is not a SQLite database, or another program has encrypted it; take the plain database"
            }
        throw StoreError(.unsupportedFormat, "'\(path)' \(reason).")
    }

    /// A WAL with commits and a journal with pages to be put back are parts of the database that an immutable
    /// connection does not read.
    private static func checkCompanions(_ files: StoreFiles) throws {
        let hasWAL = FileSystem.size(of: files.wal) ?? 0 > 0
        // A journal that starts with a zero has been settled, and is kept for the next time.
        let hasJournal =
            try FileSystem.size(of: files.journal) ?? 0 > 0
            && FileSystem.prefix(of: files.journal, count: 1) != [0]
        guard !hasWAL, !hasJournal else {
            throw StoreError(
                .inUse,
                "Beside '\(files.database)' lies a WAL or journal: a program has it open or was killed; close it there,"
                    + " or open it once with 'sqlite3', read something, and repeat."
            )
        }
    }

    private static func unreadable(_ path: String, _ failure: SystemCallFailure) -> StoreError {
        StoreError(
            [EACCES, EPERM].contains(failure.number) ? .readOnly : .inputOutput,
            "The file '\(path)', or what lies beside it, cannot be read; check its permissions and the disk.",
            cause: failure
        )
    }

    private static func inUse(_ path: String) -> StoreError {
        StoreError(.inUse, "'\(path)' was changed while it was read; close the program that uses it and repeat.")
    }

    private static func damaged(_ path: String, _ cause: SQLiteFailure?) -> StoreError {
        StoreError(
            .damaged,
            "The SQLite file '\(path)' is damaged, or a newer SQLite than the one linked here made it; take one that is"
                + " mended with 'sqlite3 OLD .recover | sqlite3 NEW', or one without newer features.",
            cause: cause
        )
    }
}

/// What a change of a file would change in its looks from outside.
private struct Appearance: Equatable {
    let size: Int64
    private let inode: UInt64
    private let changed: [Int]
    /// The counter of transactions among others.
    private let head: [UInt8]

    init(_ path: String) throws {
        var status = stat()
        try SystemCallFailure.check("stat") { unsafe stat(path, &status) }
        size = Int64(status.st_size)
        inode = UInt64(status.st_ino)
        #if canImport(Darwin)
        changed = [status.st_mtimespec.tv_sec, status.st_mtimespec.tv_nsec]
        #else
        changed = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
        #endif
        head = try FileSystem.prefix(of: path, count: 100)
    }
}
