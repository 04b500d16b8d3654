public import SQLCipherStore
public import StoreKeys
public import SyncContract

extension StoreFolder {
    /// Opens the store, or creates it on the first run.
    ///
    /// A new key is made only when the folder has neither a keyslot file nor a database: a database without its keyslot
    /// file is `secretUnavailable`, and both stay as they are. Of several processes that run first at the same time, one
    /// makes the key, all use it, and one opens the store; the others are told `inUse`, as always.
    ///
    /// - Parameters:
    ///   - schema: The tables. Tables and columns that are new are added.
    ///   - unlocker: What opens the store, or will open it.
    ///   - options: How the store works.
    /// - Returns: The open store.
    /// - Throws: As ``open(_:unlocker:options:)`` and ``create(_:unlocker:options:)``.
    public func openOrCreate(
        _ schema: StoreSchema,
        unlocker: any StoreUnlocker,
        options: EncryptedStoreOptions = .init()
    ) async throws -> EncryptedStore {
        try schema.check()
        guard try !hasDatabase else { return try await open(schema, unlocker: unlocker, options: options) }
        let keyring: StoreKeyring
        do {
            keyring = try await makeKeyring(unlocker)
        } catch let error as StoreError where error.code == .alreadyExists {
            // Another process has made the store in between.
            return try await open(schema, unlocker: unlocker, options: options)
        }
        return try await open(schema, keyring: keyring, mode: .openOrCreate, options: options)
    }
}
