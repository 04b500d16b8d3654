import Attachments
import Foundation
import SQLCipherMaintenance
import StoreKeys
import SyncContract

extension StoreFolder {
    /// Makes the data unreadable for good, and deletes the store.
    ///
    /// The keyslot file goes first: it is overwritten, brought to the medium and removed, after which nobody can open
    /// the database. Then go the attachments, the database, its WAL, what interrupted work has left, and the lock. The folder itself
    /// stays, and so does every file that is not the store's, secret files among them: others may need those.
    ///
    /// **This cannot be undone**, and it reaches no copies: whoever has a backup of the folder and one of its secrets
    /// still reads what it holds. Flash memory and file systems that write in other places than before may keep the
    /// overwritten bytes for a while.
    ///
    /// A kill in between leaves fewer files; calling this again removes the rest.
    ///
    /// - Throws: `StoreError` with code `notFound` when the folder has no file of a store, `inUse` when the store is
    ///   open in this or another process, after which nothing has changed; `KeyError` when the keyslot file cannot be
    ///   destroyed: the database is as it was then, and the message says whether the keys are still there, as they are when the
    ///   folder may not be written; those of the file system, after which what was removed stays removed, the keys first.
    ///   `CancellationError`.
    public func wipe() async throws {
        let (file, keyslots) = (StoreFile(databaseURL), keyslotsURL)
        guard FileManager.default.fileExists(atPath: keyslots.path) || file.hasFiles else {
            throw StoreError(.notFound, "'\(url.path)' has no store; check the path.")
        }
        let attachments = AttachmentFolder(attachmentsURL)
        try await file.wipe(after: {
            try await KeyslotFile.destroy(at: keyslots)
            do {
                try attachments.removeAll()
            } catch let error as StoreError {
                throw StoreError(
                    error.code,
                    "The keys are destroyed, and not all files yet. \(error.message)",
                    cause: error.cause
                )
            }
        })
    }
}
