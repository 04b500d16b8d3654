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
final class UnfinishedFile {
    /// The temporary name.
    let path: String
    private let place: String
    private let descriptor: FileDescriptor

    /// Creates the file, empty, in place of one that was left behind.
    ///
    /// - Throws: ``StoreError/Code/inUse`` when somebody is writing it.
    init(_ files: StoreFiles) throws {
        path = files.unfinished
        place = files.database
        try Self.removeLeftBehind(path, place)
        try files.removeLeftovers()
        descriptor = try Self.create(path, place)
        guard fchmod(descriptor.number, 0o600) == 0 else { throw SystemCallFailure("fchmod") }
        guard descriptor.tryLock(), isInPlace else { throw Self.inUse(place) }
    }

    deinit { descriptor.unlock() }

    /// Gives the file its name, in place of what had it.
    func replace() throws {
        guard isInPlace else { throw Self.inUse(place) }
        try FileSystem.rename(path, to: place)
    }

    /// Gives the file its name, which nothing may have yet.
    ///
    /// - Throws: ``StoreError/Code/alreadyExists``.
    func appear() throws {
        guard isInPlace else { throw Self.inUse(place) }
        do {
            try FileSystem.renameExclusively(path, to: place)
        } catch let failure as SystemCallFailure where failure.number == EEXIST {
            throw StoreError.alreadyExists(at: place)
        }
    }

    /// Deletes the file.
    func discard() throws {
        if isInPlace { try FileSystem.remove(path) }
    }

    /// Whether the temporary name still means this file.
    private var isInPlace: Bool { descriptor.isOpened(from: path) }

    private static func create(_ path: String, _ place: String) throws -> FileDescriptor {
        do {
            return try FileDescriptor(path, O_RDWR | O_CREAT | O_EXCL)
        } catch let failure as SystemCallFailure where failure.number == EEXIST {
            throw inUse(place)
        }
    }

    private static func removeLeftBehind(_ path: String, _ place: String) throws {
        guard FileSystem.exists(path) else { return }
        let descriptor = try FileDescriptor(path, O_RDONLY)
        guard descriptor.tryLock() else { throw inUse(place) }
        defer { descriptor.unlock() }
        // It may have got its name, or have been replaced, in the meantime.
        if descriptor.isOpened(from: path) { try FileSystem.remove(path) }
    }

    static func inUse(_ place: String) -> StoreError {
        StoreError(.inUse, "another program is writing '\(place)'; wait for it, or choose another place")
    }
}
