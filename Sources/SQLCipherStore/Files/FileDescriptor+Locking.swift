#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What tells a file or folder that is being written from one that a killed process has left.
extension FileDescriptor {
    /// Takes an advisory lock, and returns false when somebody holds it.
    func tryLock() -> Bool {
        while flock(number, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EINTR else { return false }
        }
        return true
    }

    /// Lifts the lock, also for duplicates that programs have which this process is just starting.
    func unlock() { _ = flock(number, LOCK_UN) }

    /// Whether a path still means what was opened.
    func isOpened(from path: String) -> Bool {
        var (own, named) = (stat(), stat())
        guard unsafe fstat(number, &own) == 0, unsafe stat(path, &named) == 0 else { return false }
        return own.st_dev == named.st_dev && own.st_ino == named.st_ino
    }
}
