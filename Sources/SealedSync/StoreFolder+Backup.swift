import Attachments
import DurableFiles
public import Foundation
public import SQLCipherMaintenance
public import SQLCipherStore
import StoreKeys
import SyncContract

extension StoreFolder {
    /// Writes a complete copy of the folder, the keyslot file and the attachments included, while the store is in use.
    ///
    /// The copy is opened with the same secrets. It is a folder that appears under its name when it is complete and on
    /// the disk; what a kill leaves has the name with `.new` behind it, and the next backup to the same place
    /// replaces it. Secret files that lie in the folder are not copied: a backup beside its secret protects nothing.
    ///
    /// - Parameters:
    ///   - store: This folder's open store.
    ///   - url: The new folder. The folder around it must exist.
    ///   - progress: Is told how far the copy of the database has come.
    /// - Throws: `StoreError` as `EncryptedStore.backUp(to:progress:)`; with code `notFound` when the store is not the
    ///   one of this folder or the keyslot file is missing; `KeyError` with code `damagedFile` when that is not what was
    ///   written. `CancellationError`.
    public func backUp(
        _ store: EncryptedStore,
        to url: URL,
        progress: StoreProgressHandler? = nil
    ) async throws {
        guard store.url.resolvingSymlinksInPath().path == databaseURL.resolvingSymlinksInPath().path else {
            throw StoreError(.notFound, "The store is not the one in '\(self.url.path)'; pass that one.")
        }
        guard try hasKeyslots else {
            throw StoreError(
                .notFound,
                "The keyslot file of '\(self.url.path)' is missing, and without it a copy cannot be opened; put it back."
            )
        }
        let attachments = AttachmentFolder(attachmentsURL)
        try await attachments.keepingFiles {
            try await store.backUp(
                toFolder: url,
                with: [keyslotsURL],
                and: EncryptedStore.FurtherFiles(
                    copy: { path in
                        let copy = StoreFolder(URL(filePath: path))
                        // A keyslot file that is damaged would make a backup that nobody can open. Whose the copy is, and who
                        // may read it, is not asked: there are media that keep nothing of that.
                        let path = copy.keyslotsURL.path
                        try await BlockingWork.run {
                            let bytes = try FileSystem.prefix(of: path, count: KeyslotFile.maximumSize)
                            _ = try KeyslotFile(decoding: bytes)
                        }
                        try await attachments.copy(to: copy.attachmentsURL)
                    },
                    clear: { try AttachmentFolder(StoreFolder(URL(filePath: $0)).attachmentsURL).removeAll() }
                ),
                progress: progress
            )
        }
    }
}
