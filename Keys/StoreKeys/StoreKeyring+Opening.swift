import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoreKeyring {
    /// Opens a keyslot file.
    ///
    /// The unlocker is tried on each slot of its kind, in the order of the file, until one opens. If that slot is weaker
    /// than the unlocker asks for today (scrypt's costs, of a passphrase), it is made anew as by
    /// ``Keyslots/replace(_:with:)``, but keeps its age, as the secret is the same; a failure of that does not keep the
    /// file from being opened, and ``slotRenewal`` reports it. Otherwise nothing is written.
    ///
    /// - Parameters:
    ///   - url: The location of the keyslot file.
    ///   - unlocker: What gives the secret.
    ///   - minimumRevision: The lowest ``revision`` that is taken; see ``Keyslots/minimumRevision``.
    /// - Returns: The store's keys.
    /// - Throws: `KeyError` with code `wrongSecret` if the secret opens no slot; `secretUnavailable` if the keyslot
    ///   file or the secret is not there or may not be read, or no slot is of the unlocker's kind; `damagedFile`;
    ///   `insecurePermissions`; `newerFormat`; `invalidParameters` if a slot asks for more than the limits allow; `io`;
    ///   `cryptographyUnavailable`; `outdatedKeyslotFile` for a lower revision. `CancellationError` if the task was cancelled.
    public static func open(
        at url: URL,
        unlocker: any StoreUnlocker,
        minimumRevision: UInt64 = 0
    ) async throws -> StoreKeyring {
        var keyslots = Keyslots(url)
        keyslots.minimumRevision = minimumRevision
        return try await open(keyslots, unlocker: unlocker)
    }

    package static func open(_ keyslots: Keyslots, unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        try await KeyError.convertingMemoryErrors {
            let file = try await KeyslotFile.read(at: keyslots.url)
            try file.checkRevision(keyslots.minimumRevision)
            let opened = try await file.openSlot(with: unlocker)
            guard unlocker.wantsRenewal(of: opened.slot) else {
                return try StoreKeyring(opening: file, rootKey: opened.rootKey)
            }
            do {
                let renewed = try await keyslots.renew(opened, with: unlocker)
                return try StoreKeyring(opening: renewed, rootKey: opened.rootKey, slotRenewal: .done)
            } catch let error as KeyError {
                return try StoreKeyring(opening: file, rootKey: opened.rootKey, slotRenewal: .failed(error))
            }
        }
    }
}
