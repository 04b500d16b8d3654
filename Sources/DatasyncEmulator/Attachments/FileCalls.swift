import Foundation

/// The calls of the system that work on files, with errors that say which one failed.
enum FileCalls {
    static func open(_ path: String, _ flags: Int32) throws(SystemFailure) -> Int32 {
        let descriptor = unsafe Foundation.open(path, flags | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure(call: "open", code: errno) }
        return descriptor
    }

    /// The size of a file; nil when there is none.
    static func size(of path: String) throws(SystemFailure) -> Int64? {
        var status = stat()
        if unsafe lstat(path, &status) == 0 { return Int64(status.st_size) }
        guard errno == ENOENT else { throw SystemFailure(call: "stat", code: errno) }
        return nil
    }

    static func size(of descriptor: Int32) throws(SystemFailure) -> Int64 {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemFailure(call: "fstat", code: errno) }
        return Int64(status.st_size)
    }

    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(SystemFailure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            var failure: Int32 = 0
            let count = unsafe rest.withUnsafeBytes { buffer in
                let count = unsafe Foundation.write(descriptor, buffer.baseAddress, buffer.count)
                failure = count < 0 ? errno : 0
                return max(0, count)
            }
            guard failure == 0 || failure == EINTR else { throw SystemFailure(call: "write", code: failure) }
            rest = rest.dropFirst(count)
        }
    }

    /// So many bytes from an offset on, or fewer at the end of the file.
    static func read(_ descriptor: Int32, at offset: Int64, count: Int) throws(SystemFailure) -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                let result = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
                failure = result < 0 ? errno : 0
                filled = max(0, result)
            }
            if failure == 0 { return bytes }
            guard failure == EINTR else { throw SystemFailure(call: "pread", code: failure) }
        }
    }

    static func synchronize(_ descriptor: Int32) throws(SystemFailure) {
        guard fsync(descriptor) == 0 else { throw SystemFailure(call: "fsync", code: errno) }
    }

    static func rename(_ path: String, to other: String) throws(SystemFailure) {
        guard unsafe Foundation.rename(path, other) == 0 else { throw SystemFailure(call: "rename", code: errno) }
    }

    /// Removes a file; false when there was none.
    static func remove(_ path: String) throws(SystemFailure) -> Bool {
        if unsafe unlink(path) == 0 { return true }
        guard errno == ENOENT else { throw SystemFailure(call: "unlink", code: errno) }
        return false
    }
}

/// Bytes of a file that are the body of an answer. The file stays readable as long as this is there, whatever becomes of
/// its name.
package final class FilePart: Sendable {
    private let descriptor: Int32
    /// How long the whole file is.
    let length: Int64
    /// What tells this file from another one of the same name, as it stands in a field.
    let tag: String

    /// Nil when there is no such file.
    init?(opening path: String) throws(SystemFailure) {
        do throws(SystemFailure) {
            descriptor = try FileCalls.open(path, O_RDONLY)
        } catch {
            guard error.code == ENOENT else { throw error }
            return nil
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw SystemFailure(call: "fstat", code: errno) }
        length = Int64(status.st_size)
        tag = "\"\(String(UInt64(status.st_ino), radix: 16))-\(String(status.st_size, radix: 16))\""
    }

    deinit { close(descriptor) }

    func read(at offset: Int64, count: Int) throws(SystemFailure) -> [UInt8] {
        try FileCalls.read(descriptor, at: offset, count: count)
    }
}
