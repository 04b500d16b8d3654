import DurableFiles
import SQLCipherStore
import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A file that is being written under a temporary name, beside the place it will have.
///
/// Only its owner may use it. It is locked: what a killed process has left is told from what another one is writing.
final class TemporaryFile {
    /// The temporary name.
    let path: String
    private let files: StoreFiles
    private let lock: FileLock

    /// Creates the file, empty, in place of one that was left behind.
    ///
    /// - Throws: ``StoreError/Code/inUse`` when somebody is writing it.
    init(_ files: StoreFiles) throws {
        self.files = files
        path = files.temporary
        try Self.removeLeftBehind(files)
        guard let lock = try FileLock(Self.create(files)) else { throw StoreError.isBeingWritten(files.database) }
        self.lock = lock
        try checkInPlace()
        // What lies beside the name belongs to whoever has it: it goes when that is this file.
        do { try files.removeLeftoversBesideNew() } catch {
            try discard()
            throw error
        }
    }

    /// Gives the file its name, in place of what had it, and waits until that is on the disk.
    func replace() throws {
        try checkInPlace()
        try files.fileSystem.replace(files.database, with: path)
    }

    /// Gives the file its name, which nothing may have yet, and waits until that is on the disk.
    ///
    /// - Throws: ``StoreError/Code/alreadyExists``.
    func publish() throws {
        try checkInPlace()
        do throws(SystemCallFailure) {
            try files.fileSystem.publish(path, as: files.database)
        } catch {
            guard error.number == EEXIST else { throw error }
            throw StoreError.alreadyExists(at: files.database)
        }
    }

    /// Deletes the file, unless it has its name.
    func discard() throws {
        if try lock.descriptor.isFile(at: path) { try files.fileSystem.remove(path) }
    }

    /// Throws when the temporary name no longer means this file.
    private func checkInPlace() throws {
        guard try lock.descriptor.isFile(at: path) else { throw StoreError.isBeingWritten(files.database) }
    }

    private static func create(_ files: StoreFiles) throws -> FileDescriptor {
        do throws(SystemCallFailure) {
            return try files.fileSystem.create(files.temporary)
        } catch {
            guard error.number == EEXIST else { throw error }
            throw StoreError.isBeingWritten(files.database)
        }
    }

    private static func removeLeftBehind(_ files: StoreFiles) throws {
        let path = files.temporary
        // Nobody writes a link: it is removed, and what it leads to stays.
        guard !FileSystem.isLink(path) else { return try files.fileSystem.remove(path) }
        guard FileSystem.exists(path) else { return }
        // Without O_NONBLOCK a named pipe would block until somebody writes to it.
        let descriptor = try FileDescriptor(opening: path, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        guard try descriptor.status().st_mode & S_IFMT == S_IFREG else {
            throw StoreError(.inputOutput, "'\(path)' is no regular file, and in the way; remove it.")
        }
        guard let lock = try FileLock(descriptor) else {
            throw StoreError.isBeingWritten(files.database)
        }
        // It may have got its name, or have been replaced, in the meantime.
        if try lock.descriptor.isFile(at: path) { try files.fileSystem.remove(path) }
    }
}

extension StoreError {
    /// The error for a place where somebody else is writing a file or folder.
    static func isBeingWritten(_ place: String) -> StoreError {
        StoreError(.inUse, "Another program is writing '\(place)'; wait for it, or choose another place.")
    }
}
