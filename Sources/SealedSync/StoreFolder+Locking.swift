public import SQLCipherStore
public import StoreKeys

extension StoreFolder {
    /// Opens a store again that was locked with ``/SQLCipherStore/EncryptedStore/lock()``, also under a data key that was rotated
    /// meanwhile.
    ///
    /// Unlocking a store that is not locked does nothing but check the secret.
    ///
    /// - Parameters:
    ///   - store: This folder's store.
    ///   - unlocker: The secret.
    /// - Throws: As ``open(_:unlocker:options:)``, after which the store is still locked; `StoreError` with code `closed`
    ///   when it was closed.
    public func unlock(_ store: EncryptedStore, with unlocker: any StoreUnlocker) async throws {
        do {
            try await unlock(store, keyring: try await unlock(unlocker))
        } catch let error as KeyError where error.code == .outdatedKeyring {
            // Another process has rotated the data key in between.
            try await unlock(store, keyring: try await unlock(unlocker))
        }
    }

    /// Opens a locked store again with keys that are unlocked already.
    ///
    /// - Throws: As ``unlock(_:with:)``, and `KeyError` with code `outdatedKeyring` or `locked`.
    public func unlock(_ store: EncryptedStore, keyring: StoreKeyring) async throws {
        try await withCurrent(keyring) { key in
            try await store.unlock(key: key, whenLocked: { try refuseOutdatedNow(keyring) })
        }
    }
}
