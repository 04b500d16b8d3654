package import DurableFiles

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension KeyslotFile {
    /// Destroys a keyslot file, and with it the way to the data of its store: the file is overwritten, brought to the
    /// medium, and removed, and so is what an interrupted creation has left of it.
    ///
    /// **This cannot be undone.** Nor can it reach copies: whoever has one of the file, in a backup for instance, and
    /// one of its secrets, still opens the database. Flash memory and file systems that write in other places than
    /// before may keep the old bytes for a while.
    ///
    /// A kill in between leaves a file that opens nothing or none; calling this again finishes the work. Cancelling the
    /// task has no effect once the work has begun.
    ///
    /// - Parameter url: The location of the file. When there is none, nothing is done.
    /// - Throws: `KeyError` with code `insecurePermissions` if it is no regular file, `inUse` while another
    ///   task or process is changing it, or `io`, whose message says whether the keys are still there: in a folder that may not
    ///   be written nothing is done; `CancellationError`.
    public static func destroy(at url: URL) async throws { try await destroy(at: url, in: FileSystem()) }

    package static func destroy(at url: URL, in fileSystem: FileSystem) async throws {
        let file = try PrivateFile(url, role: "keyslot file", in: fileSystem)
        try await BlockingWork.run { try file.destroy() }
    }
}

extension SecretFileUnlocker {
    /// Destroys the secret file, in the way of ``KeyslotFile/destroy(at:)``. Slots that it opened are lost, in every
    /// store that uses it.
    ///
    /// - Throws: As ``KeyslotFile/destroy(at:)``.
    public func destroySecret() async throws {
        let file = try PrivateFile(url, role: "secret file", in: fileSystem)
        try await BlockingWork.run { try file.destroy() }
    }
}
