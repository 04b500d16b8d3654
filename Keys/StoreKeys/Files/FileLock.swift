/// The right to replace a file: an advisory lock on the file itself, held as long as this object lives.
///
/// `flock` belongs to the open file, so that a second task of this process is refused like a second process, and the
/// system lifts it when the process ends, however it ends. Who replaces the file locks the new one before it gets its
/// name: there is no instant at which the file at the path is free.
struct FileLock: ~Copyable {
    private let descriptor: FileDescriptor

    /// Locks an open file, or returns `nil` when somebody else has it.
    init?(_ descriptor: consuming FileDescriptor) throws(SystemCallFailure) {
        do throws(SystemCallFailure) {
            try descriptor.lock()
        } catch {
            guard error.isLockedElsewhere else { throw error }
            return nil
        }
        self.descriptor = descriptor
    }

    /// Whether the locked file is the one at a path, and not one that was replaced by it.
    func isLock(ofFileAt path: String) throws(SystemCallFailure) -> Bool {
        try descriptor.isFile(at: path)
    }

    /// A program that this process is just starting has a duplicate of the descriptor until it runs; unlocking lifts
    /// the lock for both.
    deinit { descriptor.unlock() }
}
