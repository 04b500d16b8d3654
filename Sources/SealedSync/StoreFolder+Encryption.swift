public import Foundation
public import SQLCipherMaintenance
public import StoreKeys
public import SyncContract

extension StoreFolder {
    /// Creates the folder when it is missing, a new key, and a store with the content of a plain SQLite file.
    ///
    /// Like ``create(_:unlocker:options:)``: the keyslot file is written first, and a kill before the database is
    /// complete leaves a folder without one, in which nothing was ever stored; calling this again with the same
    /// unlocker finishes the work. When it fails in another way, the keyslot file and the folder that it made are
    /// removed.
    ///
    /// What can be taken over, and how, is said at
    /// ``/SQLCipherMaintenance/StoreFile/encrypt(plaintext:into:key:schema:progress:)``.
    ///
    /// - Parameters:
    ///   - plaintext: The SQLite file. It is only read, and still lies there afterwards, readable.
    ///   - unlocker: What will open the store.
    ///   - schema: Declarations for tables of the file.
    ///   - progress: Is told how far the work has come.
    /// - Returns: The tables and how many rows each has.
    /// - Throws: As ``/SQLCipherMaintenance/StoreFile/encrypt(plaintext:into:key:schema:progress:)``, `KeyError`.
    @discardableResult
    public func encrypt(
        _ plaintext: URL,
        unlocker: any StoreUnlocker,
        schema: StoreSchema? = nil,
        progress: StoreProgressHandler? = nil
    ) async throws -> StoreEncryptionResult {
        let folderIsNew = !FileManager.default.fileExists(atPath: url.path)
        let keyslotsAreNew = try !hasKeyslots
        do {
            let keyring = try await makeKeyring(unlocker)
            return try await StoreFile.encrypt(
                plaintext: plaintext,
                into: databaseURL,
                key: keyring.dataKey,
                schema: schema,
                progress: progress,
                in: fileSystem,
                beforeCreating: { try refuseOutdatedNow(keyring) }
            )
        } catch {
            // In a task of its own: this one may be cancelled.
            if keyslotsAreNew { await Task { await removeUnusedKeyslots() }.value }
            // Fails, as it should, when there is something in it.
            if folderIsNew { _ = unsafe rmdir(url.path) }
            throw error
        }
    }

    /// Removes the keys of a store that was never made, and the lock beside them.
    private func removeUnusedKeyslots() async {
        do {
            guard try hasKeyslots, try !hasDatabase else { return }
            try await StoreFile(databaseURL)
                .wipe {
                    // Somebody else may have made the store before the lock was ours.
                    guard try !hasDatabase else {
                        throw StoreError(.alreadyExists, "'\(url.path)' has a store now; open it.")
                    }
                    try await KeyslotFile.destroy(at: keyslotsURL)
                }
        } catch {
            // They are harmless, and the next attempt uses them; the caller gets the reason for the failure.
        }
    }
}
