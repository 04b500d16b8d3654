import CSQLCipher
package import DurableFiles
package import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The whole table of what SQLite and the operating system report, and what it means for a store.
///
/// A row is chosen by the extended code where it says more than the primary one. No message quotes SQLite's own, which
/// names tables and SQL.
extension StoreError {
    /// The error for a failure of SQLite. The message names the database at the given path; nil stands for one in
    /// memory.
    package init(_ failure: SQLiteFailure, at path: String?) {
        let (code, message) = Self.meaning(of: failure, path)
        self.init(code, message, cause: failure)
    }

    /// What is done about damage, behind the semicolon. The WAL of a store that was not closed is refused beside a backup; with
    /// one that an older version has made, or a plain copy of a store's files, it would be mixed.
    package static var restoring: String { "restore the store from a backup, into an empty folder" }

    private static func meaning(of failure: SQLiteFailure, _ path: String?) -> (Code, String) {
        let name = path.map { " '\($0)'" } ?? ""
        // The file ended before the page did; with extended codes SQLite reports it as an input error.
        if failure.code == SQLITE_IOERR | 2 << 8 { return (.damaged, "the database\(name) is cut short; \(restoring)") }
        if let number = failure.systemNumber, let meaning = meaning(ofSystemNumber: number, name) { return meaning }
        switch failure.primaryCode {
        case SQLITE_FULL:
            return (.full, "no space is left on the disk, or a size limit was reached; free some space and repeat")
        case SQLITE_READONLY:
            return hindrance(to: failure, path)
                ?? (
                    .readOnly,
                    "the store\(name) cannot be written; check the permissions of its files and their folder, and that the"
                        + " disk has space"
                )
        case SQLITE_PERM, SQLITE_AUTH:
            return (
                .readOnly, "access to the store\(name) was refused; check the permissions of its files and their folder"
            )
        case SQLITE_CANTOPEN:
            return hindrance(to: failure, path)
                ?? (
                    .inputOutput,
                    "a file of the store\(name) cannot be opened or made; check that the folder exists and may be written,"
                        + " and that the disk has space"
                )
        case SQLITE_IOERR:
            return (.inputOutput, "the system could not read or write the store\(name); check the disk and repeat")
        case SQLITE_CORRUPT:
            return (.damaged, "the database\(name) is damaged; \(restoring)")
        case SQLITE_NOTADB:
            return (.damaged, "a page of the database\(name) cannot be decrypted; \(restoring)")
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            return (.inUse, "another program holds a lock on the store\(name); close the store there and repeat")
        case SQLITE_CONSTRAINT:
            return (.constraint, "a rule of the database was broken, such as a unique id; the transaction was undone")
        case SQLITE_NOMEM:
            return (.internal, "memory ran out; use a smaller cache or smaller transactions and repeat")
        case SQLITE_TOOBIG:
            return (
                .invalidRecord, "a value or a query is too large for the database, which takes about 1 GB; split it"
            )
        case SQLITE_INTERRUPT, SQLITE_ABORT:
            return (.internal, "the work was interrupted; repeat it")
        default:
            return (.internal, "the database refused a statement of the store; please report this with the code below")
        }
    }

    /// What the system's answer means, where it says more than the code of SQLite.
    private static func meaning(ofSystemNumber number: Int32, _ name: String) -> (Code, String)? {
        switch number {
        case ENOSPC, EDQUOT, EFBIG: (.full, "no space is left on the disk; free some space and repeat")
        case EMFILE, ENFILE: (.inputOutput, tooManyFiles)
        case EROFS, EACCES, EPERM:
            (
                .readOnly, "access to the store\(name) was refused; check the permissions of its files and their folder"
            )
        default: nil
        }
    }

    private static var tooManyFiles: String {
        "too many files are open in this process or on this machine; close some, or raise the limit, and repeat"
    }

    /// What keeps a file from being made or written, where a look at the folder shows it: SQLite tries such a file again, to
    /// read it, and knows only what came of that.
    private static func hindrance(to failure: SQLiteFailure, _ path: String?) -> (Code, String)? {
        // One that was moved away under its connection is no question of permissions.
        guard let path, failure.code != SQLITE_READONLY | 4 << 8 else { return nil }
        let folder = FileSystem.folder(of: path)
        if !FileSystem.mayBeWritten(folder) {
            return (
                .readOnly,
                "the folder of the store '\(path)' cannot be written, where files beside the database have to be made; make it"
                    + " writable, or work on a copy of the whole folder"
            )
        }
        if FileSystem.isFull(folder) { return (.full, "no space is left on the disk; free some space and repeat") }
        return nil
    }

    /// The error for a failure of the system with a file of the store whose database is at the given path.
    package init(_ failure: SystemCallFailure, at path: String) {
        let (code, message): (Code, String) =
            switch failure.number {
            case ENOSPC, EDQUOT, EFBIG: (.full, "no space is left on the disk; free some space and repeat")
            case EROFS, EACCES, EPERM:
                (
                    .readOnly,
                    "a file of the store '\(path)' cannot be used; check the permissions of the files and their folder"
                )
            case ELOOP: (.readOnly, "a file of the store '\(path)' is a symbolic link; put the file itself there")
            case EMFILE, ENFILE: (.inputOutput, Self.tooManyFiles)
            case ENOENT, ENOTDIR: (.notFound, "a file of the store '\(path)' or its folder is missing; check the path")
            default:
                (
                    .inputOutput,
                    "the system could not work on the files of the store '\(path)'; check the disk and repeat"
                )
            }
        self.init(code, message, cause: failure)
    }

    /// The error for a call on a store that is locked.
    static var locked: StoreError {
        StoreError(.locked, "The store is locked; unlock it first.")
    }

    /// The error for a call on a store that was closed.
    static var closed: StoreError {
        StoreError(.closed, "The store was closed; open it again.")
    }

    /// The error for a library that leaves the data readable.
    package static var notEncrypting: StoreError {
        StoreError(
            .notEncrypting,
            "The linked library does not encrypt; link SQLCipher, and nothing that brings plain SQLite in front of it."
        )
    }
}
