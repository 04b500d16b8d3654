#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An advisory lock on an open file or folder, held as long as this value lives.
///
/// `flock` belongs to the open file, so that a second opening in this process is refused like one in a second process,
/// and the system lifts the lock when the process ends, however it ends.
package struct FileLock: ~Copyable, Sendable {
    /// What is locked.
    package let descriptor: FileDescriptor

    /// Locks an open file, or returns `nil` when somebody else has it locked. Others may have a shared lock as well.
    package init?(_ descriptor: consuming FileDescriptor, isShared: Bool = false) throws(SystemCallFailure) {
        do throws(SystemCallFailure) {
            let number = descriptor.number
            try SystemCallFailure.check("flock") { flock(number, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) }
        } catch {
            guard error.number == EWOULDBLOCK else { throw error }
            return nil
        }
        self.descriptor = descriptor
    }

    /// Closing the descriptor alone would not do: a program that this process is just starting has a duplicate of it
    /// until it runs, and the lock lasts as long as any. Unlocking lifts it for all of them.
    deinit { _ = flock(descriptor.number, LOCK_UN) }
}
