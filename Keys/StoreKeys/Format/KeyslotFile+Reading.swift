#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension KeyslotFile {
    /// Reads a keyslot file without opening it: its store and its slots can be listed, no secret is needed.
    ///
    /// - Parameter url: The location of the file.
    /// - Returns: The content, checked against its checksum but not yet authenticated.
    /// - Throws: `KeyError` with code `secretUnavailable` if there is no file or it may not be read,
    ///   `insecurePermissions` if it is a symbolic link or its mode is wider than 0600, `damagedFile`, `newerFormat` or
    ///   `io`; `CancellationError`.
    public static func read(at url: URL) async throws -> KeyslotFile {
        try await BlockingWork.run { try readBlocking(at: url) }
    }

    /// The same, on the thread of the caller, who may wait.
    package static func readBlocking(at url: URL) throws -> KeyslotFile {
        try KeyslotFile(decoding: PrivateFile(url, role: "keyslot file").readBytes(maximum: maximumSize))
    }

    /// Refuses a file that is older than one that was seen before.
    func checkRevision(_ minimum: UInt64) throws(KeyError) {
        guard revision < minimum else { return }
        throw KeyError(
            .outdatedKeyslotFile,
            "The keyslot file has revision \(revision), and revision \(minimum) was there before: an older file was put in its "
                + "place. Restore the latest one; if it is lost, open this one without asking for a revision, and rotate the keys."
        )
    }
}
