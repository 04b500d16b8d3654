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
        let (code, message) = Self.meaning(of: failure, path.map { " '\($0)'" } ?? "")
        self.init(code, message, cause: failure)
    }

    private static func meaning(of failure: SQLiteFailure, _ name: String) -> (Code, String) {
        switch failure.code {
        // The file ended before the page did; with extended codes SQLite reports it as an input error.
        case SQLITE_IOERR | 2 << 8:
            return (.damaged, "the database\(name) is cut short; restore the store from a backup")
        // No room for the file that the connections of one process share.
        case SQLITE_IOERR | 19 << 8: return (.full, "no space is left for the store's shared index; free some space")
        default: break
        }
        switch failure.primaryCode {
        case SQLITE_FULL:
            return (.full, "no space is left on the disk, or a size limit was reached; free some space and repeat")
        case SQLITE_READONLY:
            return (
                .readOnly, "the store\(name) cannot be written; check the permissions of its files and their folder"
            )
        case SQLITE_PERM, SQLITE_AUTH:
            return (
                .readOnly, "access to the store\(name) was refused; check the permissions of its files and their folder"
            )
        case SQLITE_CANTOPEN:
            return (
                .inputOutput,
                "a file of the store\(name) cannot be opened; check that the folder exists and is accessible"
            )
        case SQLITE_IOERR:
            return (.inputOutput, "the system could not read or write the store\(name); check the disk and repeat")
        case SQLITE_CORRUPT:
            return (.damaged, "the database\(name) is damaged; restore the store from a backup")
        case SQLITE_NOTADB:
            return (.damaged, "a page of the database\(name) cannot be decrypted; restore the store from a backup")
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
