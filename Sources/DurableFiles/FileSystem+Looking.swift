#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What is asked of files without changing them.
extension FileSystem {
    /// The size of a file in bytes, or nil when it cannot be told, as for a file that does not exist.
    package static func size(of path: String) -> Int? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether there is something at a path.
    package static func exists(_ path: String) -> Bool { size(of: path) != nil }

    /// Whether there is a folder at a path.
    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is a symbolic link at a path, be it one to nothing.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Whether there is a regular file at a path, or a link that leads to one.
    package static func isRegularFile(_ path: String) -> Bool {
        var status = stat()
        return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// The folder that a path names something in.
    package static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path with every symbolic link followed, or nil when there is nothing at the path.
    package static func resolved(_ path: String) -> String? {
        guard let real = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(real) }
        return unsafe String(cString: real)
    }

    /// The first bytes of a file; fewer when the file is shorter.
    package static func prefix(of path: String, count: Int) throws -> [UInt8] {
        try FileDescriptor(reading: path).prefix(count: count)
    }

    /// Throws when no file can be created in a folder.
    package static func checkWritable(_ folder: String) throws(SystemCallFailure) {
        try SystemCallFailure.check("access") { unsafe access(folder, W_OK | X_OK) }
    }

    /// Whether files can be created in a folder, as far as permissions go. True for one that cannot be looked at, such as one
    /// that is missing.
    package static func mayBeWritten(_ folder: String) -> Bool {
        do throws(SystemCallFailure) {
            try checkWritable(folder)
            return true
        } catch {
            return ![EACCES, EPERM, EROFS].contains(error.number)
        }
    }

    /// Whether the file system of a folder has no room left, be it for bytes or for files.
    package static func isFull(_ folder: String) -> Bool {
        var status = statvfs()
        guard unsafe statvfs(folder, &status) == 0 else { return false }
        // Those that keep no count of files say that there are none in all.
        return status.f_bavail == 0 || (status.f_files > 0 && status.f_favail == 0)
    }
}
