internal import Foundation
public import OfflineSync
public import RemoteContract
internal import SQLCipherStore
public import StoreKeys
public import SyncContract
internal import SyncSessions

extension SyncContext {
    /// Opens the encrypted store in a folder, or makes it on the first run, and ties it to a server.
    ///
    /// - Parameters:
    ///   - folder: Where the store is.
    ///   - schema: Its tables. Tables and columns that are new are added, and a store of a lower version is migrated, with
    ///     the changes that wait.
    ///   - unlocker: What opens it, or will open it: `.passphrase(…)`. There is no default, because none would be safe
    ///     everywhere.
    ///   - remote: The server: `.datasync("https://…")`. Without one nothing is sent; changes wait until the store is opened
    ///     with a server, for ever if need be.
    ///   - options: Settings with defaults.
    /// - Returns: The context.
    /// - Throws: As ``StoreFolder/openOrCreate(_:unlocker:options:)``.
    public static func open(
        _ folder: StoreFolder,
        schema: StoreSchema,
        unlocker: some StoreUnlocker,
        remote: DatasyncRemote? = nil,
        options: SyncOptions = .init()
    ) async throws -> SyncContext {
        let store = try await folder.openOrCreate(schema, unlocker: unlocker)
        return SyncContext(store: store, remote: remote, options: options)
    }

    /// The same with a server of another kind.
    public static func open(
        _ folder: StoreFolder,
        schema: StoreSchema,
        unlocker: some StoreUnlocker,
        remote: any SyncRemote,
        options: SyncOptions = .init()
    ) async throws -> SyncContext {
        let store = try await folder.openOrCreate(schema, unlocker: unlocker)
        return SyncContext(store: store, remote: remote, options: options)
    }

    /// Takes the keys of an encrypted store out of memory; the same object goes on after ``unlock(with:)``.
    ///
    /// Pushes and pulls that run end with `SyncError.Code.storeUnavailable`. What the server has done by then without its
    /// answer being recorded is found out by the next push. A store of another kind stays as it is.
    public func lock() async { await (store as? EncryptedStore)?.lock() }

    /// Takes the keys back into memory; live queries go on.
    ///
    /// - Throws: As ``StoreFolder/unlock(_:with:)``.
    public func unlock(with unlocker: some StoreUnlocker) async throws {
        guard let store = store as? EncryptedStore else { return }
        try await StoreFolder(store.url.deletingLastPathComponent()).unlock(store, with: unlocker)
    }

    /// Ends the session, closes an encrypted store, and ends live queries. What runs ends as after ``lock()``. A store of
    /// another kind is closed by whoever has made it.
    public func close() async {
        await session.close()
        await (store as? EncryptedStore)?.close()
    }
}
