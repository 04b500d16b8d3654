internal import Attachments
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
    /// ```swift
    /// let context = try await SyncContext.open(
    ///     .named("todos"),
    ///     schema: [.init(TodoItem.self), .init(RecentSearch.self, .localOnly)],
    ///     unlocker: .passphrase(passphrase)
    /// )
    /// ```
    ///
    /// **A store for one device, and a server later.** Without a remote a store is a whole one: everything works but what asks
    /// a server, which throws `SyncError.Code.unsupported`. Changes of tables that are not `localOnly` are queued all the
    /// same, and what makes up for each other is one change: an item that was inserted and edited is one insert, one that was
    /// inserted and deleted is nothing. So the day the store is opened with a remote, nothing has to be brought over: the next
    /// ``SyncContext/sync()`` or session sends everything, in the order in which it was made, and brings what the server has.
    /// Where both have a row of one id, that is a conflict like any other. Tables that are for the device alone are declared
    /// `localOnly`, and columns `local`: these are never sent, whatever the store is opened with.
    ///
    /// - Parameters:
    ///   - folder: Where the store is.
    ///   - schema: Its tables: a `StoreSchema`, or a literal for those of version 1. Tables and columns that are new are
    ///     added, and a store of a lower version is migrated, with the changes that wait.
    ///   - unlocker: What opens it, or will open it: `.passphrase(…)`. There is no default, because none would be safe
    ///     everywhere.
    ///   - remote: The server: `.datasync("https://…")`. Without one nothing is sent; changes wait until the store is opened
    ///     with a server, for ever if need be.
    ///   - options: Settings with defaults. With `attachments` the store keeps files beside its rows:
    ///     ``SyncContext/attachments``.
    /// - Returns: The context.
    /// - Throws: As ``StoreFolder/openOrCreate(_:unlocker:options:)``; `StoreError` with code `invalidSchema` for a literal that
    ///   is wrong, before anything is made.
    public static func open(
        _ folder: StoreFolder,
        schema: StoreSchema,
        unlocker: some StoreUnlocker,
        remote: DatasyncRemote? = nil,
        options: SyncOptions = .init()
    ) async throws -> SyncContext {
        try await open(folder, schema, unlocker, remote, options)
    }

    /// The same with a server of another kind.
    public static func open(
        _ folder: StoreFolder,
        schema: StoreSchema,
        unlocker: some StoreUnlocker,
        remote: any SyncRemote,
        options: SyncOptions = .init()
    ) async throws -> SyncContext {
        try await open(folder, schema, unlocker, remote, options)
    }

    private static func open(
        _ folder: StoreFolder,
        _ schema: StoreSchema,
        _ unlocker: any StoreUnlocker,
        _ remote: (any SyncRemote)?,
        _ options: SyncOptions
    ) async throws -> SyncContext {
        guard let attachments = options.attachments else {
            let store = try await folder.openOrCreate(schema, unlocker: unlocker)
            return SyncContext(store: store, remote: remote, options: options).remembering(folder)
        }
        // What is wrong with the settings is said before anything is made.
        let service = try (remote as? any AttachmentRemote)?.attachments(path: attachments.path)
        let transport: (any AttachmentTransport)? = attachments.transport ?? service
        let ahead = try attachments.ahead.rules(for: schema)
        let store = try await folder.openOrCreate(schema.withAttachments(), unlocker: unlocker)
        let context = SyncContext(store: store, remote: remote, options: options).remembering(folder)
        do {
            // Files of rows that wait from now on are not sent before their rows.
            try await context.followDeclarations()
            try await context.startAttachments(
                in: folder.attachmentsURL,
                attachments,
                transport: transport,
                ahead: ahead
            )
        } catch {
            await store.close()
            throw error
        }
        return context
    }

    /// Takes the keys of an encrypted store out of memory; the same object goes on after ``unlock(with:)``.
    ///
    /// Pushes and pulls that run end with `SyncError.Code.storeUnavailable`. What the server has done by then without its
    /// answer being recorded is found out by the next push. A store of another kind stays as it is.
    ///
    /// Files that travel stop, and go on after ``unlock(with:)``; those that are read end with `StoreError.Code.locked`.
    public func lock() async {
        await attachments.lock()
        await (store as? EncryptedStore)?.lock()
    }

    /// Takes the keys back into memory; live queries go on.
    ///
    /// - Throws: As ``StoreFolder/unlock(_:with:)``.
    public func unlock(with unlocker: some StoreUnlocker) async throws {
        guard let store = store as? EncryptedStore else { return }
        try await folder(of: store).unlock(store, with: unlocker)
        await attachments.unlock()
    }

    /// Keeps the folder with what it asks of the keyslot file, its `minimumRevision`.
    private func remembering(_ folder: StoreFolder) -> SyncContext {
        _ = companion { OpenedFolder(folder) }
        return self
    }

    /// The folder that the context was opened with. One that was made of a store knows where that lies, and no more.
    private func folder(of store: EncryptedStore) -> StoreFolder {
        companion { OpenedFolder(StoreFolder(store.url.deletingLastPathComponent())) }.folder
    }

    /// Ends the session, closes an encrypted store, and ends live queries. What runs ends as after ``lock()``. A store of
    /// another kind is closed by whoever has made it.
    public func close() async {
        await session.close()
        await attachments.close()
        await (store as? EncryptedStore)?.close()
    }
}

/// What a context remembers of the folder that it was opened with.
private final class OpenedFolder: Sendable {
    let folder: StoreFolder

    init(_ folder: StoreFolder) { self.folder = folder }
}
