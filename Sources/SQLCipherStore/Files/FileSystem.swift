import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A system call that failed.
struct SystemCallFailure: Error, Sendable, CustomStringConvertible {
    let call: String
    let number: Int32

    /// The failure of the call that has just returned.
    init(_ call: String) {
        self.call = call
        number = errno
    }

    var description: String {
        let text = unsafe strerror(number).map { unsafe String(cString: $0) } ?? "unknown"
        return "\(call): \(text)"
    }
}

/// The few things done with files beside SQLite.
enum FileSystem {
    /// The size of a file in bytes, or nil when it cannot be told, as for a file that does not exist.
    static func size(of path: String) -> Int? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether there is something at a path.
    static func exists(_ path: String) -> Bool { size(of: path) != nil }

    /// Whether there is a folder at a path.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The path with every symbolic link followed, or nil when there is nothing at the path.
    static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The first bytes of a file; fewer when the file is shorter.
    static func prefix(of path: String, count: Int) throws -> [UInt8] {
        let descriptor = try FileDescriptor(path, O_RDONLY)
        return try unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let step = unsafe read(descriptor.number, buffer.baseAddress! + filled, count - filled)
                if step < 0, errno == EINTR { continue }
                guard step >= 0 else { throw SystemCallFailure("read") }
                if step == 0 { return }
                filled += step
            }
        }
    }

    /// Creates an empty file that only its owner may use; one that is there already is an error.
    static func createPrivateFile(_ path: String) throws { _ = try FileDescriptor(path, O_RDWR | O_CREAT | O_EXCL) }

    /// Copies a file of a few pages into a new one that only its owner may use, and waits until that is on the disk.
    static func copySmallFile(_ path: String, to newPath: String) throws {
        let bytes = try prefix(of: path, count: size(of: path) ?? 0)
        let descriptor = try FileDescriptor(newPath, O_WRONLY | O_CREAT | O_EXCL)
        var written = 0
        while written < bytes.count {
            let step = unsafe bytes.withUnsafeBytes { buffer in
                unsafe write(descriptor.number, buffer.baseAddress! + written, buffer.count - written)
            }
            if step < 0, errno == EINTR { continue }
            guard step > 0 else { throw SystemCallFailure("write") }
            written += step
        }
        guard fsync(descriptor.number) == 0 else { throw SystemCallFailure("fsync") }
    }

    /// Throws when no file can be created in a folder.
    static func checkWritable(_ folder: String) throws {
        guard unsafe access(folder, W_OK | X_OK) == 0 else { throw SystemCallFailure("access") }
    }

    /// Deletes a file if it exists.
    static func remove(_ path: String) throws {
        guard unsafe unlink(path) == 0 || errno == ENOENT else { throw SystemCallFailure("unlink") }
    }

    /// Gives a file a name that nothing has yet.
    ///
    /// - Throws: `SystemCallFailure` with number `EEXIST` when something has the name.
    static func renameExclusively(_ path: String, to newPath: String) throws {
        // Unlike `rename`, `link` never replaces: it decides who was first.
        if unsafe link(path, newPath) == 0 { return try remove(path) }
        // File systems without such links, as on memory sticks, leave a moment between looking and renaming.
        guard [EPERM, ENOTSUP, EOPNOTSUPP].contains(errno) else { throw SystemCallFailure("link") }
        if exists(newPath) {
            errno = EEXIST
            throw SystemCallFailure("link")
        }
        try rename(path, to: newPath)
    }

    /// Gives a file another name, in place of what had that name.
    static func rename(_ path: String, to newPath: String) throws {
        #if canImport(Darwin)
        let code = unsafe Darwin.rename(path, newPath)
        #elseif canImport(Musl)
        let code = unsafe Musl.rename(path, newPath)
        #else
        let code = unsafe Glibc.rename(path, newPath)
        #endif
        guard code == 0 else { throw SystemCallFailure("rename") }
    }

    /// Waits until a file or the entries of a folder are on the disk.
    static func synchronize(_ path: String) throws {
        let descriptor = try FileDescriptor(path, O_RDONLY)
        guard fsync(descriptor.number) == 0 else { throw SystemCallFailure("fsync") }
    }
}

/// An open file, closed with its end, and never passed on to other programs.
struct FileDescriptor: ~Copyable {
    let number: Int32

    init(_ path: String, _ flags: Int32) throws {
        number = unsafe open(path, flags | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw SystemCallFailure("open") }
    }

    deinit { _ = close(number) }

    /// Whether the open file is the one that is at a path now.
    func isOpen(at path: String) throws -> Bool {
        var (open, there) = (stat(), stat())
        guard unsafe fstat(number, &open) == 0 else { throw SystemCallFailure("fstat") }
        guard unsafe stat(path, &there) == 0 else {
            guard errno == ENOENT else { throw SystemCallFailure("stat") }
            return false
        }
        return open.st_dev == there.st_dev && open.st_ino == there.st_ino
    }
}
