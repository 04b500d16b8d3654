#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// An open file, closed at the end of its life.
struct FileDescriptor: ~Copyable {
    private let number: Int32

    /// Opens a file; the error, if any, is the system's own.
    init(opening path: String, flags: Int32, mode: mode_t = 0) throws(SystemCallFailure) {
        number = try SystemCallFailure.check("open") { unsafe open(path, flags | O_CLOEXEC, mode) }
    }

    func status() throws(SystemCallFailure) -> stat {
        var status = stat()
        _ = try SystemCallFailure.check("fstat") { unsafe fstat(number, &status) }
        return status
    }

    /// Reads until the buffer is full or the file ends, and returns the number of bytes read.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallFailure) -> Int {
        var count = 0
        while count < buffer.count {
            let part = try SystemCallFailure.check("read") {
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                return unsafe systemRead(number, rest.baseAddress, rest.count)
            }
            guard part > 0 else { break }
            count += part
        }
        return count
    }

    func write(_ buffer: UnsafeRawBufferPointer) throws(SystemCallFailure) {
        var count = 0
        while count < buffer.count {
            count += try SystemCallFailure.check("write") {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[count...])
                return unsafe systemWrite(number, rest.baseAddress, rest.count)
            }
        }
    }

    /// Writes all bytes; the error, if any, is the system's own.
    func write(_ bytes: [UInt8]) throws {
        try unsafe bytes.withUnsafeBytes { bytes in unsafe try write(bytes) }
    }

    func setMode(_ mode: mode_t) throws(SystemCallFailure) {
        _ = try SystemCallFailure.check("fchmod") { fchmod(number, mode) }
    }

    /// Returns when the content is on the medium.
    func synchronize() throws(SystemCallFailure) {
        #if canImport(Darwin)
        // There, `fsync` leaves the data in the drive's cache.
        if fcntl(number, F_FULLFSYNC) == 0 { return }
        #endif
        _ = try SystemCallFailure.check("fsync") { fsync(number) }
    }

    /// Takes the lock on the file, or fails at once with EWOULDBLOCK.
    func lock() throws(SystemCallFailure) {
        _ = try SystemCallFailure.check("flock") { flock(number, LOCK_EX | LOCK_NB) }
    }

    /// Whether the open file is the one at a path, and not one that was replaced by it.
    func isFile(at path: String) throws(SystemCallFailure) -> Bool {
        var other = stat()
        _ = try SystemCallFailure.check("lstat") { unsafe lstat(path, &other) }
        let own = try status()
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    func unlock() {
        _ = flock(number, LOCK_UN)
    }

    deinit {
        // Whatever was written has been synchronized before, so that an error here has no consequence.
        _ = close(number)
    }
}

private func systemRead(_ number: Int32, _ address: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(number, address, count)
}

private func systemWrite(_ number: Int32, _ address: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(number, address, count)
}
