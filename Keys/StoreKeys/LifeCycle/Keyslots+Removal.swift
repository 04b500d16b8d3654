import SecretMemory

/// What became of the slots of a file whose root key was renewed.
public struct SlotRemoval: Sendable {
    /// The slot that was to be removed, or `nil` if only the root key was to be renewed.
    public let removed: Keyslot?
    /// The slots that had to go because none of the unlockers at hand opens them.
    public let dropped: [Keyslot]
    /// The slots that are left.
    public let kept: [Keyslot]
}

extension Keyslots {
    /// Removes a slot, renews the root key, and drops every slot that cannot be given the new one.
    ///
    /// A slot's unlocker has seen the root key, or could have: as long as that stays, a copy of the old file and the
    /// removed secret open later data keys. So the root key is made anew, and a slot can be kept only if its unlocker is
    /// at hand. The data key stays, and the removed unlocker could have that, too: after a leak, use
    /// ``revoke(_:authorizedBy:keeping:replacement:dropMissing:isEncryptedWith:reencrypt:)``, which rotates it in the same run.
    ///
    /// - Parameters:
    ///   - slotID: The slot to remove.
    ///   - unlockers: The unlockers to keep; each must open a slot, and every other slot that one of them opens is kept.
    ///     Any of them authorizes the change, also that of the slot to remove.
    /// - Returns: The slots removed, dropped and kept.
    /// - Throws: As said for the type; `KeyError` with code `lastReliableSlot` if no slot would be kept whose unlocker
    ///   survives a restart of the machine; `wrongSecret` if one of the unlockers opens no slot; the code of the unlocker's
    ///   error if one could not try a slot that none of the others opens; `invalidParameters` if there is no such slot.
    @discardableResult
    public func remove(_ slotID: Keyslot.ID, keeping unlockers: [any StoreUnlocker]) async throws -> SlotRemoval {
        try await renewRootKey(removing: slotID, keeping: unlockers)
    }

    /// Renews the root key and drops every slot whose unlocker is not at hand: the answer to unlockers that are lost.
    ///
    /// The data key stays; ``rotateKeys(keeping:dropMissing:isEncryptedWith:reencrypt:)`` renews both.
    ///
    /// - Parameter unlockers: The unlockers to keep, as in ``remove(_:keeping:)``.
    /// - Returns: The slots dropped and kept.
    /// - Throws: As ``remove(_:keeping:)``.
    @discardableResult
    public func renewRootKey(keeping unlockers: [any StoreUnlocker]) async throws -> SlotRemoval {
        try await renewRootKey(removing: nil, keeping: unlockers)
    }

    private func renewRootKey(
        removing slotID: Keyslot.ID?,
        keeping unlockers: [any StoreUnlocker]
    ) async throws -> SlotRemoval {
        try await change { transaction in
            let file = transaction.content
            let removed = file.slots.first { $0.id == slotID }
            guard slotID == nil || removed != nil else { throw KeyError.noSuchSlot }
            let opened = try await file.openSlots(with: unlockers)
            guard let opened, opened.slots.contains(where: { $0.slot.id != slotID && $0.survivesRestart }) else {
                throw KeyError.lastReliableSlot("Keep an unlocker that opens a slot that stays.")
            }
            try opened.checkFailures(of: file, sparing: Set([slotID].compactMap(\.self)))
            let (rootKey, newRootKey) = (opened.rootKey, try random.makeSecret())
            let kept = try opened.slots.filter { $0.slot.id != slotID }
                .map { try $0.sealed(with: newRootKey, storeID: file.storeID, random: random) }
            try await transaction.write(
                file.renewingRootKey(from: rootKey, to: newRootKey, slots: kept, random: random),
                inForce: "The root key is new, and the slots that go are gone"
            )
            let dropped = file.slots.filter { slot in slot.id != slotID && !kept.contains { $0.id == slot.id } }
            return SlotRemoval(removed: removed, dropped: dropped, kept: kept)
        }
    }
}
