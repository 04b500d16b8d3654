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
    /// at hand. What the removed unlocker could read so far it can still read from a copy of the database: a rotation of
    /// the data key ends that for what is written from then on.
    ///
    /// - Parameters:
    ///   - slotID: The slot to remove.
    ///   - unlockers: The unlockers to keep; each must open a slot, and every other slot that one of them opens is kept.
    ///     Any of them authorizes the change, also that of the slot to remove.
    /// - Returns: The slots removed, dropped and kept.
    /// - Throws: As said for the type; `KeyError` with code `lastReliableSlot` if no slot would be kept whose unlocker
    ///   survives a restart of the machine; `wrongSecret` if one of the unlockers opens no slot; `invalidParameters` if
    ///   there is no such slot.
    @discardableResult
    public func remove(_ slotID: Keyslot.ID, keeping unlockers: [any StoreUnlocker]) async throws -> SlotRemoval {
        try await renewRootKey(removing: slotID, keeping: unlockers)
    }

    /// Renews the root key and drops every slot whose unlocker is not at hand: the answer to a secret that has leaked
    /// and was changed, or to unlockers that are lost.
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
            guard slotID == nil || removed != nil else {
                throw KeyError(.invalidParameters, message: "The keyslot file has no such slot; list its slots.")
            }
            let opened = try await file.openSlots(with: unlockers, except: slotID)
            guard let rootKey = opened.first?.rootKey, opened.allSatisfy({ $0.rootKey == rootKey }) else {
                throw KeyError.damaged("Its slots hold different root keys.")
            }
            try file.verify(with: rootKey)
            let newRootKey = try random.makeSecret()
            let kept = try opened.map { opened in
                try KeyslotFile.seal(
                    newRootKey,
                    into: opened.slot,
                    secret: opened.secret,
                    storeID: file.storeID,
                    random: random
                )
            }
            try await transaction.write(
                file.renewingRootKey(from: rootKey, to: newRootKey, slots: kept, random: random)
            )
            let dropped = file.slots.filter { slot in slot.id != slotID && !kept.contains { $0.id == slot.id } }
            return SlotRemoval(removed: removed, dropped: dropped, kept: kept)
        }
    }
}

extension KeyslotFile {
    /// Opens every slot that stays and that one of several unlockers opens, in the order of the file.
    ///
    /// - Throws: `KeyError` with code `lastReliableSlot` if none of them survives a restart of the machine; the error of
    ///   the first unlocker that opens no slot at all.
    fileprivate func openSlots(
        with unlockers: [any StoreUnlocker],
        except slotID: Keyslot.ID?
    ) async throws -> [OpenedSlot] {
        var openedSlots: [Keyslot.ID: OpenedSlot] = [:]
        var isReliable = false
        for unlocker in unlockers {
            var (isOpener, firstError) = (false, nil as KeyError?)
            for slot in slots where slot.kind == unlocker.slotKind {
                do {
                    guard let opened = try await open(slot, with: unlocker) else { continue }
                    isOpener = true
                    guard slot.id != slotID else { continue }
                    openedSlots[slot.id] = opened
                    isReliable = isReliable || unlocker.survivesRestart
                } catch let error as KeyError {
                    // Another slot may be this unlocker's; if none is, this is why.
                    firstError = firstError ?? error
                }
            }
            guard isOpener else {
                throw firstError
                    ?? KeyError(
                        .wrongSecret,
                        message: "An unlocker of the kind \(unlocker.slotKind) that is to be kept opens no slot. "
                            + "Nothing was written."
                    )
            }
        }
        guard isReliable else {
            throw KeyError.lastReliableSlot("Keep an unlocker that opens a slot that stays.")
        }
        return slots.compactMap { openedSlots[$0.id] }
    }
}
