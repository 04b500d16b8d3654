public import SecretMemory
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The opened keys of one store, until they are locked.
///
/// A keyring holds data keys only: the root key that unwrapped them is wiped before it is returned. Nothing in this
/// module creates keys but ``create(at:unlocker:)``, its sibling and a rotation, which an app asks for, and never
/// because a store could not be opened.
///
/// A keyring is what the file said when it was opened. After a rotation of the data key, open the file again.
public final class StoreKeyring: Sendable {
    /// The identifier of the store, made with its keys.
    public let storeID: RandomIdentifier
    /// The identifier of ``dataKey``. A keyslot file with another one has rotated its data key since.
    public let dataKeyID: RandomIdentifier
    /// When ``dataKey`` was made, by the clock of the machine that made it.
    public let dataKeyCreated: Date
    /// Whether ``dataKey`` should have been replaced already, as ``KeyslotFile/isRotationOverdue`` says.
    public let isRotationOverdue: Bool
    /// The slots of the file the keys came from, now authenticated.
    public let slots: [Keyslot]
    /// The revision of the file the keys came from.
    public let revision: UInt64
    /// What became of the slot that was opened, if its unlocker asks for a stronger one today.
    public let slotRenewal: SlotRenewal

    private struct Keys {
        let dataKey: SecretBytes
        let pendingDataKey: SecretBytes?
    }

    private let keys: Mutex<Keys?>

    /// Unwraps the data keys of a file whose root key is known.
    ///
    /// - Throws: `KeyError` with code `damagedFile` if any part of the file was altered since it was opened.
    package init(opening file: KeyslotFile, rootKey: SecretBytes, slotRenewal: SlotRenewal = .notNeeded) throws {
        guard try file.isAuthentic(under: rootKey) else { throw KeyError.damaged("It is not what was opened.") }
        guard let dataKey = try file.dataKey(.current, rootKey: rootKey) else {
            throw KeyError.damaged("It has no current data key.")
        }
        storeID = file.storeID
        dataKeyID = file.dataKeyID
        dataKeyCreated = file.dataKeyCreated
        isRotationOverdue = file.isRotationOverdue
        slots = file.slots
        revision = file.revision
        self.slotRenewal = slotRenewal
        keys = Mutex(Keys(dataKey: dataKey, pendingDataKey: try file.dataKey(.pending, rootKey: rootKey)))
    }

    /// The key of the database: 32 random bytes, to be used raw, without a derivation.
    ///
    /// - Throws: `KeyError` with code `locked` after ``lock()``.
    public var dataKey: SecretBytes {
        get throws(KeyError) { try unlockedKeys().dataKey }
    }

    /// The key that an interrupted rotation was changing the database to, or `nil`.
    ///
    /// When there is one, the database is opened by ``dataKey`` or by this, wholly;
    /// ``Keyslots/recoverRotation(authorizedBy:isEncryptedWith:finish:)`` finds out and ends the rotation.
    ///
    /// - Throws: `KeyError` with code `locked` after ``lock()``.
    public var pendingDataKey: SecretBytes? {
        get throws(KeyError) { try unlockedKeys().pendingDataKey }
    }

    /// Forgets the keys. They are wiped from memory as soon as nobody uses them: a store that was opened with them has
    /// a copy of its own, until it is closed or locked.
    ///
    /// Locking a locked keyring does nothing. To unlock, open the keyslot file again.
    public func lock() {
        keys.withLock { $0 = nil }
    }

    private func unlockedKeys() throws(KeyError) -> Keys {
        guard let keys = keys.withLock({ $0 }) else {
            throw KeyError(.locked, "The keyring was locked; open the keyslot file again.")
        }
        return keys
    }
}

/// What became of a slot that was weaker than its unlocker asks for today.
public enum SlotRenewal: Sendable {
    /// The slot is as strong as it should be.
    case notNeeded
    /// The slot was made anew, as strong as the unlocker asks for.
    case done
    /// The slot is as weak as before, for this reason; the next unlock tries again.
    case failed(KeyError)
}
