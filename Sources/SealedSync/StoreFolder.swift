internal import Attachments
package import DurableFiles
public import Foundation
internal import OfflineSync
import SQLCipherMaintenance
public import SQLCipherStore
public import StoreKeys
public import SyncContract

/// A folder that holds one encrypted store: its database and, beside it, the keyslot file.
///
/// A copy of the whole folder, made while no process has the store open, is a complete backup. It can be opened by
/// whoever has one of the secrets that the keyslot file names.
public struct StoreFolder: Sendable {
    /// The folder.
    public let url: URL
    /// The lowest revision of the keyslot file that is taken, by every call; 0, any, by default. See
    /// ``/StoreKeys/Keyslots/minimumRevision``.
    public var minimumRevision: UInt64 = 0

    /// What changes the files. Not public: tests look on, and forget there what was not synchronized.
    package var fileSystem = FileSystem()

    /// Names a folder. Nothing is read or created.
    public init(_ url: URL) { self.url = url }

    /// The database file, `store.db`.
    public var databaseURL: URL { url.appendingPathComponent("store.db") }

    /// The keyslot file, `store.keys`.
    public var keyslotsURL: URL { url.appendingPathComponent("store.keys") }

    /// The folder of the files beside the rows, `attachments`; it is there when something was added.
    public var attachmentsURL: URL { url.appendingPathComponent(AttachmentFolder.name) }

    /// The keyslot file: what is done to it after its creation, such as changing a passphrase.
    public var keyslots: Keyslots {
        var keyslots = Keyslots(keyslotsURL, in: fileSystem)
        keyslots.minimumRevision = minimumRevision
        return keyslots
    }

    /// Whether a keyslot file or a database is there, as far as this process may look into the folder.
    public var isOccupied: Bool {
        [keyslotsURL, databaseURL].contains { FileManager.default.fileExists(atPath: $0.path) }
    }

    /// Whether a keyslot file is there; an error when this process may not look into the folder.
    package var hasKeyslots: Bool {
        get throws { try isThere(keyslotsURL) }
    }

    /// Whether a database is there; an error when this process may not look into the folder.
    package var hasDatabase: Bool {
        get throws { try isThere(databaseURL) }
    }

    /// Creates the folder when it is missing, a new key, and an empty store.
    ///
    /// The keyslot file is written before the database: a process that is killed in between leaves a folder without a
    /// database, in which nothing was ever stored; calling this again with the same unlocker finishes the work.
    ///
    /// - Parameters:
    ///   - schema: The tables.
    ///   - unlocker: What will open the store.
    ///   - options: How the store works.
    /// - Returns: The open store.
    /// - Throws: `StoreError` with code `alreadyExists` when the folder has a database, `KeyError`, `StoreError`.
    public func create(
        _ schema: StoreSchema,
        unlocker: any StoreUnlocker,
        options: EncryptedStoreOptions = .init()
    ) async throws -> EncryptedStore {
        try schema.check()
        let keyring = try await makeKeyring(unlocker)
        return try await open(schema, keyring: keyring, mode: .createNew, options: options)
    }

    /// Unlocks the keys and opens the store.
    ///
    /// - Parameters:
    ///   - schema: The tables. Tables and columns that are new are added, and a store of a lower version is migrated, with
    ///     the changes that wait.
    ///   - unlocker: The secret.
    ///   - options: How the store works.
    /// - Returns: The open store.
    /// - Throws: `KeyError` when the keys stay locked: wrong secret, secret unavailable, or damaged file;
    ///   `StoreError` with code `notFound` when the folder has no store, `readOnly` when it may not be used by this
    ///   process, `damaged`, `inUse`, `schemaMismatch`, `newerSchema` for a schema of a lower version than the store's,
    ///   `migrationRefused` when a migration would orphan changes that wait.
    public func open(
        _ schema: StoreSchema,
        unlocker: any StoreUnlocker,
        options: EncryptedStoreOptions = .init()
    ) async throws -> EncryptedStore {
        do {
            return try await open(schema, keyring: try await unlock(unlocker), options: options)
        } catch let error as KeyError where error.code == .outdatedKeyring {
            // Another process has rotated the data key in between.
            return try await open(schema, keyring: try await unlock(unlocker), options: options)
        }
    }

    /// Unlocks the keys without opening the store.
    ///
    /// When a rotation was interrupted, this ends it: the database says which of the two keys is its own, and the other one
    /// leaves the keyslot file. A new database that had only to take the old one's place does so.
    ///
    /// - Throws: As ``open(_:unlocker:options:)``; `KeyError` with code `inUse` while a rotation is under way elsewhere.
    public func unlock(_ unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        guard try isThere(keyslotsURL) || isThere(databaseURL) else {
            throw StoreError(.notFound, "'\(url.path)' is not a store folder; create a store there first.")
        }
        var file = StoreFile(databaseURL)
        file.fileSystem = fileSystem
        return try await keyslots.recoverRotation(
            authorizedBy: unlocker,
            isEncryptedWith: { try await file.isEncrypted(with: $0) },
            finish: { _ = try await file.finishRekey(from: $0, to: $1) }
        )
    }

    /// Opens the store with keys that are unlocked already.
    ///
    /// - Throws: As ``open(_:unlocker:options:)``; `KeyError` with code `outdatedKeyring` when the data key was rotated,
    ///   or a rotation begun that has not come to its end, after the keyring was opened, `locked` when the keyring was locked.
    public func open(
        _ schema: StoreSchema,
        keyring: StoreKeyring,
        options: EncryptedStoreOptions = .init()
    ) async throws -> EncryptedStore {
        try await open(schema, keyring: keyring, mode: .openExisting, options: options)
    }

    /// Opens the store with the tables that it remembers, for tools that know nothing of its app: see
    /// ``/SQLCipherStore/EncryptedStore/openWithStoredSchema(at:key:options:)``.
    ///
    /// - Throws: As ``open(_:unlocker:options:)``.
    public func openWithStoredSchema(
        _ keyring: StoreKeyring,
        options: EncryptedStoreOptions = .init()
    ) async throws -> EncryptedStore {
        try await withCurrent(keyring) { key in
            try await EncryptedStore.openWithStoredSchema(
                at: databaseURL,
                key: key,
                options: Self.vouched(options),
                whenLocked: { try refuseOutdatedNow(keyring) }
            )
        }
    }

    func open(
        _ schema: StoreSchema,
        keyring: StoreKeyring,
        mode: OpenMode,
        options: EncryptedStoreOptions
    ) async throws -> EncryptedStore {
        try await withCurrent(keyring) { key in
            try await EncryptedStore.open(
                at: databaseURL,
                key: key,
                schema: schema,
                translating: .operations,
                mode: mode,
                options: Self.vouched(options),
                in: fileSystem,
                whenLocked: { try refuseOutdatedNow(keyring) }
            )
        }
    }

    /// The keyslot file vouches for the key: a database that it does not open is damaged.
    private static func vouched(_ options: EncryptedStoreOptions) -> EncryptedStoreOptions {
        var options = options
        options.keyIsVerified = true
        return options
    }

    /// The keys of a folder that has no database yet: new ones, or those of a creation that was interrupted.
    func makeKeyring(_ unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        guard try !isThere(databaseURL) else {
            throw StoreError(
                .alreadyExists,
                "'\(url.path)' has a store already; open it, or choose another folder."
            )
        }
        try await BlockingWork.run { try makeFolder() }
        if try !isThere(keyslotsURL) {
            do {
                return try await StoreKeyring.create(at: keyslotsURL, unlocker: unlocker, in: fileSystem)
            } catch let error as KeyError where error.code == .alreadyExists {
                // Another process was first: its key is the one.
            }
        }
        try await BlockingWork.run { try synchronizeKeyslots() }
        return try await StoreKeyring.open(at: keyslotsURL, unlocker: unlocker, minimumRevision: minimumRevision)
    }

    /// Whoever has made the keys may have been killed before their name was on the medium. The database must not get there first:
    /// without its keys nobody could open it.
    private func synchronizeKeyslots() throws {
        do {
            try fileSystem.synchronize(url.path)
        } catch {
            throw StoreError(error, at: databaseURL.path)
        }
    }

    /// Tells a file that is not there from one that cannot be seen.
    private func isThere(_ file: URL) throws -> Bool {
        do {
            _ = try FileManager.default.attributesOfItem(atPath: file.path)
            return true
        } catch let error as CocoaError where error.code == .fileReadNoPermission {
            throw StoreError(
                .readOnly,
                "The folder '\(url.path)' may not be looked into; check its permissions and whose it is.",
                cause: error
            )
        } catch {
            // Not there, or behind something that is not a folder.
            return false
        }
    }

    private func makeFolder() throws {
        do {
            try fileSystem.createFolders(url.path)
        } catch {
            throw StoreError(
                .readOnly,
                "The folder '\(url.path)' cannot be created; choose a place that you may write to.",
                cause: error
            )
        }
    }
}
