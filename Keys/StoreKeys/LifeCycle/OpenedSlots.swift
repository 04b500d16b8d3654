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
    /// - Parameters:
    ///   - unlockers: The unlockers.
    ///   - revoked: Slots that are to go, of which it has to be known which unlockers open them as well.
    /// - Returns: The slots; `nil` without an unlocker.
    /// - Throws: The error of the first unlocker that opens no slot at all.
    func openSlots(
        with unlockers: [any StoreUnlocker],
        revoking revoked: Set<Keyslot.ID> = []
    ) async throws -> OpenedSlots? {
        var openings: [Keyslot.ID: OpenedSlots.Opening] = [:]
        var failures: [Keyslot.ID: KeyError] = [:]
        var rootKey: SecretBytes?
        for (place, unlocker) in unlockers.enumerated() {
            let trials = try await trySlots(unlocker, revoking: revoked)
            for opened in trials.opened {
                rootKey = opened.rootKey
                let before = openings[opened.slot.id]
                openings[opened.slot.id] = OpenedSlots.Opening(
                    slot: opened.slot,
                    secret: opened.secret,
                    survivesRestart: before?.survivesRestart == true || unlocker.survivesRestart,
                    unlockers: (before?.unlockers ?? []).union([place])
                )
            }
            // A service that answers that the slot is not its own has tried it.
            for failure in trials.failures where failure.error.code != .wrongSecret {
                failures[failure.slot.id] = failures[failure.slot.id] ?? failure.error
            }
            // Another slot may be this unlocker's; if none is, a failure is why.
            guard !trials.opened.isEmpty else { throw noSlot(openedBy: unlocker, trials.failures) }
        }
        // Each has proven the whole file, which fits one root key: they are one.
        guard let rootKey else { return nil }
        return OpenedSlots(
            rootKey: rootKey,
            slots: slots.compactMap { openings[$0.id] },
            failures: failures.filter { openings[$0.key] == nil }
        )
    }

    /// Tries an unlocker on every slot of its kind.
    ///
    /// When it opens one, the file is proven, and what another slot costs is no attacker's choice any more: one that is to be
    /// revoked is tried even if that costs more than an opening may. Its secret may be the one that stays.
    private func trySlots(
        _ unlocker: any StoreUnlocker,
        revoking revoked: Set<Keyslot.ID>
    ) async throws -> SlotTrials {
        var trials = try await trySlots(slots.filter { $0.kind == unlocker.slotKind }, with: unlocker)
        let untried = trials.failures.filter { $0.isForCost && revoked.contains($0.slot.id) }.map(\.slot)
        guard !trials.opened.isEmpty, !untried.isEmpty else { return trials }
        let more = try await trySlots(untried, with: unlocker, isProven: true)
        if let failure = more.failures.first { throw failure.error }
        trials.opened += more.opened
        return trials
    }

    /// The error for an unlocker that opens no slot: why it could not try those it may be for, or that it is for none.
    private func noSlot(
        openedBy unlocker: any StoreUnlocker,
        _ failures: [SlotTrials.Failure]
    ) -> KeyError {
        guard let error = failures.first(where: { $0.error.code != .wrongSecret })?.error else {
            return failures.first?.error
                ?? KeyError(
                    .wrongSecret,
                    "An unlocker of the kind \(unlocker.slotKind) that is to be kept opens no slot. "
                        + "Nothing was written."
                )
        }
        let slots = failures.filter { $0.error.code != .wrongSecret }.map(\.slot)
        return KeyError(
            error.code,
            "\(error.message) It is needed for \(names(of: slots)); nothing was written.",
            cause: error.cause
        )
    }
}
