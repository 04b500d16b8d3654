public import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The opened keys of one store.
///
/// A keyring holds data keys only: the root key that unwrapped them is wiped before it is returned. Nothing in this
/// module creates keys but ``create(at:unlocker:)`` and its sibling, which an app calls when it creates a database, and
/// never because one could not be opened.
public struct StoreKeyring: Sendable {
    /// The identifier of the store, made with its keys.
    public let storeID: RandomIdentifier
    /// The key of the database: 32 random bytes, to be used raw, without a derivation.
    public let dataKey: SecretBytes
    /// The key that a rotation in progress is changing the database to, or `nil`.
    ///
    /// No version starts a rotation yet. When one is there, a database that ``dataKey`` does not open is opened by
    /// this.
    public let pendingDataKey: SecretBytes?
    /// When ``dataKey`` was made, by the clock of the machine that made it.
    public let dataKeyCreated: Date
    /// The slots of the file the keys came from, now authenticated.
    public let slots: [Keyslot]

    /// Unwraps the data keys of a file whose root key is known.
    ///
    /// - Throws: `KeyError` with code `damagedFile` if any part of the file was altered.
    package init(opening file: KeyslotFile, rootKey: SecretBytes) throws {
        try file.verify(with: rootKey)
        guard let dataKey = try file.dataKey(.current, rootKey: rootKey) else {
            throw KeyError.damaged("It has no current data key.")
        }
        storeID = file.storeID
        self.dataKey = dataKey
        pendingDataKey = try file.dataKey(.pending, rootKey: rootKey)
        dataKeyCreated = file.dataKeys[0].created
        slots = file.slots
    }
}
