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

/// A folder that is being filled under a temporary name, beside the place it will have: see ``TemporaryFile``.
final class TemporaryFolder: Sendable {
    /// The temporary name.
    let path: String
    private let place: String
    private let names: [String]
    private let fileSystem: FileSystem
    private let clear: (@Sendable (String) throws -> Void)?
    private let lock: FileLock

    /// Creates the folder, empty, in place of one that was left behind.
    ///
    /// - Parameters:
    ///   - place: Where the folder will be.
    ///   - names: The files that may be in it. A folder left behind that has others is kept, and an error.
    ///   - fileSystem: What changes the folder.
    ///   - clear: Removes what else may be in the folder at a path.
    /// - Throws: ``StoreError/Code/inUse`` when somebody is filling it, ``StoreError/Code/alreadyExists``.
    init(
        _ place: String,
        names: [String],
        in fileSystem: FileSystem,
        clearing clear: (@Sendable (String) throws -> Void)? = nil
    ) throws {
        self.place = place
        self.names = names
        self.fileSystem = fileSystem
        self.clear = clear
        path = place + ".new"
        if FileSystem.exists(path) {
            let left = try Self.lock(path, place)
            try Self.remove(left, names, fileSystem, clear)
        }
        do throws(SystemCallFailure) {
            try fileSystem.createFolder(path)
        } catch {
            guard error.number == EEXIST else { throw error }
            throw StoreError.isBeingWritten(place)
        }
        lock = try Self.lock(path, place)
        try checkInPlace()
    }

    /// Gives the folder its name, which nothing may have yet, when all in it is on the disk, and waits until the name
    /// is.
    func publish() throws {
        try checkInPlace()
        try fileSystem.synchronize(path)
        guard !FileSystem.exists(place) else { throw StoreError.alreadyExists(at: place) }
        try fileSystem.replace(place, with: path)
    }

    /// Deletes the folder, unless it has its name.
    func discard() throws { try Self.remove(lock, names, fileSystem, clear) }

    /// Throws when the temporary name no longer means this folder.
    private func checkInPlace() throws {
        guard try lock.descriptor.isFile(at: path) else { throw StoreError.isBeingWritten(place) }
    }

    private static func lock(_ path: String, _ place: String) throws -> FileLock {
        guard let lock = try FileLock(FileDescriptor(opening: path, flags: O_RDONLY | O_DIRECTORY)) else {
            throw StoreError.isBeingWritten(place)
        }
        return lock
    }

    /// Removes a locked folder with the files in it, if it still has the path it was opened with.
    private static func remove(
        _ lock: borrowing FileLock,
        _ names: [String],
        _ fileSystem: FileSystem,
        _ clear: (@Sendable (String) throws -> Void)?
    ) throws {
        let path = lock.descriptor.path
        guard try lock.descriptor.isFile(at: path) else { return }
        for name in names { try fileSystem.remove("\(path)/\(name)") }
        try clear?(path)
        do throws(SystemCallFailure) {
            try fileSystem.removeFolder(path)
        } catch {
            guard error.number == ENOTEMPTY || error.number == EEXIST else { throw error }
            throw StoreError.alreadyExists(at: path)
        }
    }
}
