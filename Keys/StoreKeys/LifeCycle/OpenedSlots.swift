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

    /// A slot on which an unlocker was not tried, because that would have cost more than an opening may.
    struct TooDear: Sendable {
        let slot: Keyslot.ID
        /// The place of the unlocker among the unlockers.
        let unlocker: Int
        let error: KeyError
    }

    /// What all of them hold; the file was verified with it.
    let rootKey: SecretBytes
    let slots: [Opening]
    /// Why slots that none of the unlockers opens could not be tried, by an unlocker that may be theirs.
    let failures: [Keyslot.ID: KeyError]
    /// Of these, nobody knows whether the unlocker opens the slot.
    let tooDear: [TooDear]
}

extension KeyslotFile {
    /// Opens every slot that one of several unlockers opens, and proves that the file is what was written.
    ///
    /// - Returns: The slots; `nil` without an unlocker.
    /// - Throws: The error of the first unlocker that opens no slot at all.
    func openSlots(with unlockers: [any StoreUnlocker]) async throws -> OpenedSlots? {
        var openings: [Keyslot.ID: OpenedSlots.Opening] = [:]
        var failures: [Keyslot.ID: KeyError] = [:]
        var tooDear: [OpenedSlots.TooDear] = []
        var rootKey: SecretBytes?
        for (place, unlocker) in unlockers.enumerated() {
            let trials = try await trySlots(slots.filter { $0.kind == unlocker.slotKind }, with: unlocker)
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
            for failure in trials.failures {
                if failure.isForCost {
                    tooDear.append(.init(slot: failure.slot.id, unlocker: place, error: failure.error))
                }
                // A service that answers that the slot is not its own has tried it.
                guard failure.error.code != .wrongSecret else { continue }
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
            failures: failures.filter { openings[$0.key] == nil },
            tooDear: tooDear
        )
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
