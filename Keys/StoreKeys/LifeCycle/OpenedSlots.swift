import SecretMemory

/// Every slot of a file that one of several unlockers opens, in the order of the file.
struct OpenedSlots: Sendable {
    struct Opening: Sendable {
        let slot: Keyslot
        let secret: SecretBytes
        /// Whether one of the unlockers that open the slot survives a restart of the machine.
        var survivesRestart: Bool
        /// The places, among the unlockers, of those that open the slot.
        var unlockers: Set<Int>

        /// The slot with another root key in it.
        func sealed(with rootKey: SecretBytes, storeID: RandomIdentifier, random: RandomSource) throws -> Keyslot {
            try KeyslotFile.seal(rootKey, into: slot, secret: secret, storeID: storeID, random: random)
        }
    }

    /// What all of them hold; the file was verified with it.
    let rootKey: SecretBytes
    let slots: [Opening]
    /// Why slots that none of the unlockers opens could not be tried, by an unlocker that may be theirs.
    let failures: [Keyslot.ID: KeyError]
}

extension KeyslotFile {
    /// Opens every slot that one of several unlockers opens, and proves that the file is what was written.
    ///
    /// - Returns: The slots; `nil` without an unlocker.
    /// - Throws: The error of the first unlocker that opens no slot at all.
    func openSlots(with unlockers: [any StoreUnlocker]) async throws -> OpenedSlots? {
        var openings: [Keyslot.ID: OpenedSlots.Opening] = [:]
        var failures: [Keyslot.ID: KeyError] = [:]
        var rootKey: SecretBytes?
        for (place, unlocker) in unlockers.enumerated() {
            var isOpener = false
            var errors: [(slot: Keyslot, error: KeyError)] = []
            var budget = DerivationBudget(of: unlocker)
            for slot in slots where slot.kind == unlocker.slotKind {
                do {
                    guard let opened = try await open(slot, with: unlocker, &budget) else { continue }
                    isOpener = true
                    rootKey = opened.rootKey
                    let before = openings[slot.id]
                    openings[slot.id] = OpenedSlots.Opening(
                        slot: slot,
                        secret: opened.secret,
                        survivesRestart: before?.survivesRestart == true || unlocker.survivesRestart,
                        unlockers: (before?.unlockers ?? []).union([place])
                    )
                } catch let error as KeyError {
                    // Another slot may be this unlocker's; if none is, this is why.
                    errors.append((slot, error))
                    // A service that answers that the slot is not its own has tried it.
                    if error.code != .wrongSecret { failures[slot.id] = failures[slot.id] ?? error }
                }
            }
            guard isOpener else {
                throw noSlot(openedBy: unlocker, errors)
            }
        }
        // Each has proven the whole file, which fits one root key: they are one.
        guard let rootKey else { return nil }
        return OpenedSlots(
            rootKey: rootKey,
            slots: slots.compactMap { openings[$0.id] },
            failures: failures.filter { openings[$0.key] == nil }
        )
    }

    /// The error for an unlocker that opens no slot: why it could not try those it may be for, or that it is for none.
    private func noSlot(
        openedBy unlocker: any StoreUnlocker,
        _ errors: [(slot: Keyslot, error: KeyError)]
    ) -> KeyError {
        guard let (_, error) = errors.first(where: { $0.error.code != .wrongSecret }) else {
            return errors.first?.error
                ?? KeyError(
                    .wrongSecret,
                    "An unlocker of the kind \(unlocker.slotKind) that is to be kept opens no slot. "
                        + "Nothing was written."
                )
        }
        let slots = errors.filter { $0.error.code != .wrongSecret }.map(\.slot)
        return KeyError(
            error.code,
            "\(error.message) It is needed for \(names(of: slots)); nothing was written.",
            cause: error.cause
        )
    }
}
