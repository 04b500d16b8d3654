import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The lock on a store: an advisory lock on a file beside it, held as long as this object lives.
///
/// `flock` belongs to the open file, so that a second object in the same process is refused like a second process, and
/// the system lifts it when the process ends, however it ends. The file itself stays: removing it would let a third
/// process lock a new file of the same name while a second one still waits on the old.
final class LockFile: Sendable {
    /// Seen by tests only.
    let descriptor: FileDescriptor

    /// Takes the lock on a store.
    ///
    /// - Throws: ``StoreError/Code/inUse`` when somebody holds it; `SystemCallFailure` when the file cannot be opened.
    init(_ files: StoreFiles) throws {
        descriptor = try FileDescriptor(files.lock, O_RDWR | O_CREAT)
        while flock(descriptor.number, LOCK_EX | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK:
                throw StoreError(
                    .inUse,
                    "the store at '\(files.database)' is open in this or another process; close it there first, or share"
                        + " one store object"
                )
            default: throw SystemCallFailure("flock")
            }
        }
    }

    /// Closing the descriptor alone would not do: a program that this process is just starting has a duplicate of it
    /// until it runs, and the lock lasts as long as any. Unlocking lifts it for all of them.
    deinit { _ = flock(descriptor.number, LOCK_UN) }
}
