#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// An open file or folder, closed at the end of its life and never passed on to other programs.
package struct FileDescriptor: ~Copyable, Sendable {
    /// The number that the system knows it by.
    package let number: Int32
    /// The path it was opened with.
    package let path: String
    private let fileSystem: FileSystem

    /// Opens a file; one that this creates is for its owner only, unless the process's mask takes that away as well.
    package init(
        opening path: String,
        flags: Int32,
        in fileSystem: FileSystem = FileSystem()
    ) throws(SystemCallFailure) {
        number = try SystemCallFailure.check("open") { unsafe open(path, flags | O_CLOEXEC, 0o600) }
        self.path = path
        self.fileSystem = fileSystem
    }

    /// Opens a file to read it.
    package init(reading path: String) throws(SystemCallFailure) { try self.init(opening: path, flags: O_RDONLY) }

    deinit {
        // Whatever was written has been synchronized before, so that an error here has no consequence.
        _ = close(number)
    }

    package func status() throws(SystemCallFailure) -> stat {
        var status = stat()
        try SystemCallFailure.check("fstat") { unsafe fstat(number, &status) }
        return status
    }

    /// Whether the open file is the one at a path, and not one that was replaced or removed meanwhile. A symbolic link
    /// at the path is another file.
    package func isFile(at path: String) throws(SystemCallFailure) -> Bool {
        var other = stat()
        do throws(SystemCallFailure) {
            try SystemCallFailure.check("lstat") { unsafe lstat(path, &other) }
        } catch {
            guard error.number == ENOENT else { throw error }
            return false
        }
        let own = try status()
        return own.st_dev == other.st_dev && own.st_ino == other.st_ino
    }

    package func setMode(_ mode: mode_t) throws(SystemCallFailure) {
        try SystemCallFailure.check("fchmod") { fchmod(number, mode) }
    }

    /// Returns when the content of the file, or the names in the folder, are on the medium.
    package func synchronize() throws(SystemCallFailure) {
        try flush()
        fileSystem.report(.synchronized(path))
    }

    private func flush() throws(SystemCallFailure) {
        #if canImport(Darwin)
        // There, `fsync` leaves the data in the drive's cache.
        if fcntl(number, F_FULLFSYNC) == 0 { return }
        #endif
        try SystemCallFailure.check("fsync") { fsync(number) }
    }
}

extension FileDescriptor {
    /// Reads on until the buffer is full or the file ends, and returns the number of bytes read.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(SystemCallFailure) -> Int {
        unsafe try fill(buffer) { rest, _ in unsafe systemRead(number, rest.baseAddress, rest.count) }
    }

    /// Reads on, and returns the bytes; fewer when the file ends before.
    package func prefix(count: Int) throws -> [UInt8] {
        try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = unsafe try read(into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// Reads from an offset on until the buffer is full or the file ends, and returns the number of bytes read.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int
    ) throws(SystemCallFailure) -> Int {
        unsafe try fill(buffer) { rest, count in
            unsafe pread(number, rest.baseAddress, rest.count, off_t(offset + count))
        }
    }

    private func fill(
        _ buffer: UnsafeMutableRawBufferPointer,
        _ readPart: (_ rest: UnsafeMutableRawBufferPointer, _ count: Int) -> Int
    ) throws(SystemCallFailure) -> Int {
        var count = 0
        while count < buffer.count {
            let part = try SystemCallFailure.check("read") {
                unsafe readPart(UnsafeMutableRawBufferPointer(rebasing: buffer[count...]), count)
            }
            guard part > 0 else { break }
            count += part
        }
        return count
    }

    /// Writes all bytes.
    package func write(_ buffer: UnsafeRawBufferPointer) throws(SystemCallFailure) {
        var count = 0
        while count < buffer.count {
            count += try SystemCallFailure.check("write") {
                let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[count...])
                return unsafe systemWrite(number, rest.baseAddress, rest.count)
            }
        }
        fileSystem.report(.wrote(path))
    }

    /// Writes all bytes; the error, if any, is a `SystemCallFailure`.
    package func write(_ bytes: [UInt8]) throws {
        try unsafe bytes.withUnsafeBytes { bytes in unsafe try write(bytes) }
    }
}

private func systemRead(_ number: Int32, _ address: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    unsafe read(number, address, count)
}

private func systemWrite(_ number: Int32, _ address: UnsafeRawPointer?, _ count: Int) -> Int {
    unsafe write(number, address, count)
}
