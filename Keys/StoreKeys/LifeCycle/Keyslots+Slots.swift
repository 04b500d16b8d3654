import SecretMemory

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Keyslots {
    /// Adds a slot, so that one more unlocker opens the store.
    ///
    /// - Parameters:
    ///   - unlocker: What will open the store as well. It makes its slot's secret, and is asked for it a second time.
    ///   - authorizer: An unlocker that opens the store already.
    /// - Returns: The new slot, the last one of the file.
    /// - Throws: As said for the type; `KeyError` with code `invalidParameters` if the file has 32 slots.
    @discardableResult
    public func add(
        _ unlocker: any StoreUnlocker,
        authorizedBy authorizer: any StoreUnlocker
    ) async throws -> Keyslot {
        try await change { transaction in
            let file = transaction.content
            guard file.slots.count < KeyslotFile.maximumSlotCount else {
                throw KeyError(
                    .invalidParameters,
                    "A keyslot file has at most \(KeyslotFile.maximumSlotCount) slots; remove one first."
                )
            }
            let rootKey = try await file.openSlot(with: authorizer).rootKey
            let slot = try await makeSlot(for: unlocker, in: file, rootKey: rootKey)
            try await transaction.write(
                file.replacingSlots(file.slots + [slot], rootKey: rootKey),
                inForce: "The new \(slot.kind.noun) is in force"
            )
            return slot
        }
    }

    /// Puts a new slot in the place of the one that an unlocker opens. The other slots stay as they are.
    ///
    /// **This shuts nobody out who kept a copy.** The root key stays: whoever has a copy of the old file and the old secret
    /// can open the database and, as long as the root key is the same, later data keys too. After a leak, revoke the slot
    /// instead: ``revoke(_:authorizedBy:keeping:replacement:dropMissing:isEncryptedWith:reencrypt:)`` takes a replacement. What was
    /// replaced already is shut out by ``rotateKeys(keeping:dropMissing:isEncryptedWith:reencrypt:)``.
    ///
    /// - Parameters:
    ///   - old: An unlocker that opens the store; the first slot that it opens is the one replaced.
    ///   - new: What will open the store instead. Without a label of its own, its slot keeps that of the old one.
    /// - Returns: The new slot.
    /// - Throws: As said for the type; `KeyError` with code `lastReliableSlot` if the old unlocker survives a restart of
    ///   the machine and the new one does not.
    @discardableResult
    public func replace(_ old: any StoreUnlocker, with new: any StoreUnlocker) async throws -> Keyslot {
        guard new.survivesRestart || !old.survivesRestart else {
            throw KeyError.lastReliableSlot("Add it beside the old unlocker instead.")
        }
        return try await change { transaction in
            let opened = try await transaction.content.openSlot(with: old)
            return try await replace(opened, with: new, created: Date().milliseconds, in: transaction)
        }
    }

    /// Puts a new slot in the place of one that is named, which nothing has to open any more: its key was in a keyring before
    /// the machine was started anew, in a TPM that was cleared, in a service that has lost it. The other slots stay as they
    /// are. Shuts nobody out who kept a copy, as ``replace(_:with:)``.
    ///
    /// - Parameters:
    ///   - slotID: The slot to be replaced.
    ///   - new: What will open the store instead. Without a label of its own, its slot keeps that of the old one.
    ///   - authorizer: An unlocker that opens the store.
    /// - Returns: The new slot, in the place of the old one.
    /// - Throws: As said for the type; `KeyError` with code `lastReliableSlot` if neither the new unlocker nor, with a slot
    ///   that stays, the authorizer survives a restart of the machine; `invalidParameters` if there is no such slot.
    @discardableResult
    public func replace(
        _ slotID: Keyslot.ID,
        with new: any StoreUnlocker,
        authorizedBy authorizer: any StoreUnlocker
    ) async throws -> Keyslot {
        try await change { transaction in
            let file = transaction.content
            guard let place = file.slots.firstIndex(where: { $0.id == slotID }) else { throw KeyError.noSuchSlot }
            let opened = try await file.openSlot(with: authorizer)
            // Of the other slots nobody knows whether they can still be opened.
            guard new.survivesRestart || (authorizer.survivesRestart && opened.slot.id != slotID) else {
                throw KeyError.lastReliableSlot("Authorize it with an unlocker whose slot stays and that survives one.")
            }
            var slots = file.slots
            let label = slots[place].label
            slots[place] = try await makeSlot(for: new, labelled: label, in: file, rootKey: opened.rootKey)
            try await transaction.write(
                file.replacingSlots(slots, rootKey: opened.rootKey),
                inForce: "The new \(slots[place].kind.noun) is in force"
            )
            return slots[place]
        }
    }

    /// Changes a passphrase. The database is not touched, and other unlockers keep working. Like ``replace(_:with:)``, this
    /// shuts nobody out who kept a copy of the old file and knows the old passphrase.
    ///
    /// - Parameters:
    ///   - old: The passphrase so far.
    ///   - new: The passphrase from now on; its cost is that of the new slot, and so is its label, if it has one.
    /// - Returns: The new slot.
    /// - Throws: As ``replace(_:with:)``, which this is.
    @discardableResult
    public func changePassphrase(
        from old: PassphraseUnlocker,
        to new: PassphraseUnlocker
    ) async throws -> Keyslot {
        try await replace(old, with: new)
    }

    /// Makes a slot anew that was opened a moment ago, with the secret and the age it has, and returns the file as it is
    /// then.
    func renew(_ opened: OpenedSlot, with unlocker: any StoreUnlocker) async throws -> KeyslotFile {
        try await change { transaction in
            // Somebody else may have been here since: then the slot may be gone, or another root key in use.
            guard let slot = transaction.content.slots.first(where: { $0.id == opened.slot.id }),
                try await transaction.content.open(slot, with: unlocker)?.rootKey == opened.rootKey
            else { throw try file().inUse() }
            try await replace(
                opened,
                with: unlocker,
                created: opened.slot.createdMilliseconds,
                in: transaction,
                inForce: "The slot is made anew"
            )
            return transaction.content
        }
    }

    @discardableResult
    private func replace(
        _ opened: OpenedSlot,
        with unlocker: any StoreUnlocker,
        created: Int64,
        in transaction: KeyslotTransaction,
        inForce effect: String? = nil
    ) async throws -> Keyslot {
        let file = transaction.content
        let slot = try await makeSlot(
            for: unlocker,
            labelled: opened.slot.label,
            created: created,
            in: file,
            rootKey: opened.rootKey
        )
        let slots = file.slots.map { $0.id == opened.slot.id ? slot : $0 }
        try await transaction.write(
            file.replacingSlots(slots, rootKey: opened.rootKey),
            inForce: effect ?? "The new \(slot.kind.noun) is in force"
        )
        return slot
    }

    /// Makes a slot and proves that its unlocker opens it. The label is for an unlocker that has none.
    func makeSlot(
        for unlocker: any StoreUnlocker,
        labelled label: String = "",
        created: Int64 = Date().milliseconds,
        in file: KeyslotFile,
        rootKey: SecretBytes
    ) async throws -> Keyslot {
        let slot = try KeyslotFile.seal(
            rootKey,
            into: NewSlot(
                kind: unlocker.slotKind,
                label: unlocker.slotLabel.isEmpty ? label : unlocker.slotLabel,
                enrollment: await unlocker.checkedEnrollment(storeID: file.storeID)
            ),
            storeID: file.storeID,
            created: created,
            random: random
        )
        let secret = try await unlocker.checkedSecret(of: slot, storeID: file.storeID)
        guard try file.unprovenRootKey(in: slot, secret: secret) == rootKey else {
            throw KeyError.unreliableUnlocker(slot.kind)
        }
        return slot
    }
}

extension SlotKind {
    /// What a person calls the secret of such a slot.
    fileprivate var noun: String {
        switch self {
        case .passphrase: "passphrase"
        case .recoveryCode: "recovery code"
        case .secretFile: "secret file"
        default: "slot"
        }
    }
}

extension KeyError {
    static func unreliableUnlocker(_ kind: SlotKind) -> KeyError {
        KeyError(
            .unreliableUnlocker,
            "An unlocker of the kind \(kind) gave one secret when its slot was made and another when it was "
                + "asked again. Nothing was written."
        )
    }

    static func lastReliableSlot(_ remedy: String) -> KeyError {
        KeyError(
            .lastReliableSlot,
            "No slot would be left that can be opened after a restart of the machine. \(remedy)"
        )
    }
}
