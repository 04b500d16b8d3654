import Attachments
import OfflineSync
public import SQLCipherMaintenance
public import StoreKeys
import SyncContract

extension StoreFolder {
    /// Says what is in the store: ``/SQLCipherMaintenance/StoreFile/inspect(key:)``. The tables in which the store keeps what it
    /// knows of attachments count as the sync engine's.
    ///
    /// - Parameter keyring: The keys, as ``unlock(_:)`` gives them.
    /// - Returns: The tables and what else the store says of itself.
    /// - Throws: As ``/SQLCipherMaintenance/StoreFile/inspect(key:)``.
    public func inspect(_ keyring: StoreKeyring) async throws -> StoreContent {
        try await withCurrent(keyring) { key in try await vouchedFile.inspect(key: key, systemTables: Self.systemTables)
        }
    }

    /// Looks for damage in every page and row of the store and in what the sync engine keeps in it: see
    /// ``/SQLCipherMaintenance/StoreFile/verify(key:progress:)`` and `QueueVerification`.
    ///
    /// Attachments are read as well, each to its end: those that are damaged or missing are named, and files that belong to no
    /// row.
    ///
    /// The keyslot file has been verified by then: its code was checked when the keyring was opened.
    ///
    /// - Parameters:
    ///   - keyring: The keys, as ``unlock(_:)`` gives them.
    ///   - progress: Is told how far the work has come.
    /// - Returns: What was found. Damage is a finding and no error.
    /// - Throws: As ``/SQLCipherMaintenance/StoreFile/verify(key:progress:)``.
    public func verify(
        _ keyring: StoreKeyring,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreVerification {
        let attachments = AttachmentFolder(attachmentsURL)
        return try await withCurrent(keyring) { key in
            try await vouchedFile.verify(
                key: key,
                progress: progress,
                queueCheck: { reader, schema in
                    try QueueVerification.findings(in: &reader, schema, schemaIsComplete: true)
                        + AttachmentVerification.findings(in: attachments, &reader, schema)
                }
            )
        }
    }

    private static var systemTables: [TableDefinition] {
        SystemTables.all + [AttachmentFiles.table, AttachmentRemovals.table]
    }

    /// The database, whose key the keyslot file vouches for.
    var vouchedFile: StoreFile {
        var file = StoreFile(databaseURL, keyIsVerified: true)
        file.fileSystem = fileSystem
        return file
    }
}
