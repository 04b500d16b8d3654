import SyncContract

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A folder that is being filled under a temporary name, beside the place it will have: see ``UnfinishedFile``.
final class UnfinishedFolder: Sendable {
    /// The temporary name.
    let path: String
    private let place: String
    private let names: [String]
    private let descriptor: FileDescriptor

    /// Creates the folder, empty, in place of one that was left behind.
    ///
    /// - Parameters:
    ///   - place: Where the folder will be.
    ///   - names: The files that may be in it. A folder left behind that has others is kept, and an error.
    /// - Throws: ``StoreError/Code/inUse`` when somebody is filling it, ``StoreError/Code/alreadyExists``.
    init(_ place: String, names: [String]) throws {
        self.place = place
        self.names = names
        path = place + ".new"
        try Self.removeLeftBehind(path, place, names)
        guard unsafe mkdir(path, 0o700) == 0 else {
            if errno == EEXIST { throw Self.inUse(place) }
            throw SystemCallFailure("mkdir")
        }
        descriptor = try FileDescriptor(path, O_RDONLY | O_DIRECTORY)
        guard descriptor.tryLock(), descriptor.isOpened(from: path) else { throw Self.inUse(place) }
    }

    deinit { descriptor.unlock() }

    /// Gives the folder its name, which nothing may have yet, when all in it is on the disk.
    func appear() throws {
        guard descriptor.isOpened(from: path) else { throw Self.inUse(place) }
        try FileSystem.synchronize(path)
        guard !FileSystem.exists(place) else { throw StoreError.alreadyExists(at: place) }
        try FileSystem.rename(path, to: place)
    }

    /// Deletes the folder.
    func discard() throws {
        if descriptor.isOpened(from: path) { try Self.remove(path, names) }
    }

    private static func removeLeftBehind(_ path: String, _ place: String, _ names: [String]) throws {
        guard FileSystem.exists(path) else { return }
        let descriptor = try FileDescriptor(path, O_RDONLY | O_DIRECTORY)
        guard descriptor.tryLock() else { throw inUse(place) }
        defer { descriptor.unlock() }
        if descriptor.isOpened(from: path) { try remove(path, names) }
    }

    private static func remove(_ path: String, _ names: [String]) throws {
        for name in names { try FileSystem.remove("\(path)/\(name)") }
        guard unsafe rmdir(path) == 0 else {
            if errno == ENOTEMPTY || errno == EEXIST { throw StoreError.alreadyExists(at: path) }
            throw SystemCallFailure("rmdir")
        }
    }

    private static func inUse(_ place: String) -> StoreError { UnfinishedFile.inUse(place) }
}
