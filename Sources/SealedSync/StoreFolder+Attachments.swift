import Attachments
import SQLCipherStore
public import StoreKeys
import SyncContract

extension StoreFolder {
    /// Encrypts attachments anew whose keys somebody may have who was shut out since.
    ///
    /// ``revoke(_:authorizedBy:keeping:replacement:dropMissing:progress:)`` and ``rotateKeys(keeping:dropMissing:progress:)`` mark
    /// every file, in the step in which they change the database: whoever opened that before could read the files' keys in it.
    /// From then on the store does this by itself whenever it is open with attachments; this call does it at once, for a store
    /// that must not be open.
    ///
    /// One file after the other: it is written a second time under a key of its own, its row changes over, and the old file goes.
    /// Each needs as much space as it has, for that long. A kill or an error in between lose nothing, and the rest is done by the
    /// next call or opening.
    ///
    /// - Parameters:
    ///   - keyring: The keys, as ``unlock(_:)`` gives them.
    ///   - progress: Is told how many files are done, and how many there are.
    /// - Returns: How many files have another key now; 0 when none was marked.
    /// - Throws: As ``open(_:keyring:options:)``; `StoreError` with code `full` when there is no space for a second copy of the
    ///   file whose turn it is; with code `damaged` when all is done but files that are damaged: these keep their keys, see
    ///   ``verify(_:progress:)``. `CancellationError`.
    @discardableResult
    public func reencryptAttachments(
        _ keyring: StoreKeyring,
        progress: (_ completed: Int, _ total: Int) -> Void = { _, _ in }
    ) async throws -> Int {
        let store = try await openWithStoredSchema(keyring)
        do {
            let count = try await AttachmentReencryption.run(store, in: attachmentsURL, fileSystem, progress: progress)
            await store.close()
            return count
        } catch {
            await store.close()
            throw error
        }
    }
}
