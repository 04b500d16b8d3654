import DurableFiles
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
package final class LockFile: Sendable {
    /// Seen by tests only.
    let lock: FileLock

    /// Takes the lock on a store.
    ///
    /// - Throws: ``StoreError/Code/inUse`` when somebody holds it; ``StoreError/Code/readOnly`` when a file of the store is a
    ///   symbolic link; `SystemCallFailure` when the file cannot be opened.
    package init(_ files: StoreFiles) throws { lock = try Self.lock(files) }

    /// Takes the lock on the file that a closure opens, or creates, at the path it is given.
    static func lock(
        _ files: StoreFiles,
        opening open: (String) throws -> FileDescriptor = { path in
            try FileDescriptor(opening: path, flags: O_RDWR | O_CREAT | O_NOFOLLOW)
        }
    ) throws -> FileLock {
        try files.refuseLinks()
        while true {
            guard let lock = try FileLock(open(files.lock)) else {
                throw StoreError(
                    .inUse,
                    "The store at '\(files.database)' is open in this or another process; close it there first, or"
                        + " share one store object."
                )
            }
            // Whoever wiped the store in between has removed the file: a lock on that keeps nobody out.
            if try lock.descriptor.isFile(at: files.lock) { return lock }
        }
    }

    /// Whether somebody holds the lock on a store. Nothing is created, and nobody who wants the lock finds it taken for
    /// longer than it takes to look.
    package static func isHeld(_ files: StoreFiles) throws -> Bool {
        guard FileSystem.exists(files.lock) else { return false }
        let descriptor = try FileDescriptor(opening: files.lock, flags: O_RDONLY | O_NOFOLLOW)
        guard let lock = try FileLock(descriptor, isShared: true) else { return true }
        _ = consume lock
        return false
    }
}
