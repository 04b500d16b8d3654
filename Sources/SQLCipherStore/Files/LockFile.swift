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
/// the system lifts it when the process ends, however it ends. The file itself stays until the store is wiped.
final class LockFile: Sendable {
    /// Seen by tests only.
    let descriptor: FileDescriptor

    /// Takes the lock on a store.
    ///
    /// - Throws: ``StoreError/Code/inUse`` when somebody holds it; `SystemCallFailure` when the file cannot be opened.
    init(_ files: StoreFiles) throws {
        var descriptor = try Self.lock(files)
        // Whoever wiped the store in between has removed the file: a lock on that keeps nobody out.
        while try !descriptor.isOpen(at: files.lock) { descriptor = try Self.lock(files) }
        self.descriptor = descriptor
    }

    private static func lock(_ files: StoreFiles) throws -> FileDescriptor {
        let descriptor = try FileDescriptor(files.lock, O_RDWR | O_CREAT)
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
        return descriptor
    }

    /// Whether somebody holds the lock on a store. Nothing is created, and nobody who wants the lock finds it taken for
    /// longer than it takes to look.
    static func isHeld(_ files: StoreFiles) throws -> Bool {
        guard FileSystem.exists(files.lock) else { return false }
        let descriptor = try FileDescriptor(files.lock, O_RDONLY)
        while flock(descriptor.number, LOCK_SH | LOCK_NB) != 0 {
            switch errno {
            case EINTR: continue
            case EWOULDBLOCK: return true
            default: throw SystemCallFailure("flock")
            }
        }
        _ = flock(descriptor.number, LOCK_UN)
        return false
    }

    /// Closing the descriptor alone would not do: a program that this process is just starting has a duplicate of it
    /// until it runs, and the lock lasts as long as any. Unlocking lifts it for all of them.
    deinit { _ = flock(descriptor.number, LOCK_UN) }
}
