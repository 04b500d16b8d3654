import SecretMemory

/// A slot that an unlocker opened, and the root key that was in it.
struct OpenedSlot: Sendable {
    let slot: Keyslot
    let secret: SecretBytes
    let rootKey: SecretBytes
}

/// What became of the slots that an unlocker was tried on. What is in neither list does not open.
struct SlotTrials {
    /// A slot that could not be tried.
    struct Failure {
        let slot: Keyslot
        let error: KeyError
        /// Whether it would have cost more than an opening may.
        var isForCost = false
    }

    var opened: [OpenedSlot] = []
    var failures: [Failure] = []
}

extension KeyslotFile {
    /// Throws as ``StoreKeyring/open(at:unlocker:minimumRevision:)`` does when an unlocker opens no slot, and changes nothing: a weak slot
    /// is not made anew here, so that every slot keeps its id.
    package func checkSlot(openedBy unlocker: any StoreUnlocker) async throws {
        try await KeyError.convertingMemoryErrors { _ = try await openSlot(with: unlocker) }
    }

    /// Tries an unlocker on each slot of its kind, in the order of the file, until one opens a file that is what was
    /// written.
    func openSlot(with unlocker: any StoreUnlocker) async throws -> OpenedSlot {
        let candidates = slots.filter { $0.kind == unlocker.slotKind }
        guard !candidates.isEmpty else {
            let kinds = Set(slots.map(\.kind.description)).sorted().joined(separator: ", ")
            throw KeyError(
                .secretUnavailable,
                "No slot is of the kind \(unlocker.slotKind); the file has slots of the kinds \(kinds)."
            )
        }
        let trials = try await trySlots(candidates, with: unlocker, untilOneOpens: true)
        if let opened = trials.opened.first { return opened }
        let slots = candidates.count == 1 ? "does not open the slot" : "opens none of the \(candidates.count) slots"
        throw trials.failures.first?.error
            ?? KeyError(
                .wrongSecret,
                "The secret \(slots) of the kind \(unlocker.slotKind). Check it; if it is right, the file was altered: "
                    + "restore it from a backup."
            )
    }

    /// Tries an unlocker on one slot; returns `nil` if its secret is not the slot's, or the file was altered.
    func open(_ slot: Keyslot, with unlocker: any StoreUnlocker) async throws -> OpenedSlot? {
        let trials = try await trySlots([slot], with: unlocker)
        if let failure = trials.failures.first { throw failure.error }
        return trials.opened.first
    }

    /// Tries an unlocker on slots, in their order, and then its older form, if it has one, on those that it does not open.
    ///
    /// Each form has what one opening may cost for itself: a slot that opened before there was a newer form still does. In a file
    /// that is proven, nothing costs too much.
    func trySlots(
        _ candidates: [Keyslot],
        with unlocker: any StoreUnlocker,
        isProven: Bool = false,
        untilOneOpens: Bool = false
    ) async throws -> SlotTrials {
        var trials = SlotTrials()
        func budget(_ form: any StoreUnlocker) -> DerivationBudget? { isProven ? nil : DerivationBudget(of: form) }
        let closed = try await trySlots(candidates, as: unlocker, budget(unlocker), untilOneOpens, &trials)
        guard !closed.isEmpty, !untilOneOpens || trials.opened.isEmpty else { return trials }
        do {
            guard let older = try await unlocker.checkedOlderForm() else { return trials }
            _ = try await trySlots(closed, as: older, budget(older), untilOneOpens, &trials)
        } catch let error as KeyError {
            trials.failures += closed.map { SlotTrials.Failure(slot: $0, error: error) }
        }
        return trials
    }

    /// Tries one form of an unlocker, and returns the slots that it does not open.
    private func trySlots(
        _ candidates: [Keyslot],
        as form: any StoreUnlocker,
        _ budget: DerivationBudget?,
        _ untilOneOpens: Bool,
        _ trials: inout SlotTrials
    ) async throws -> [Keyslot] {
        var budget = budget
        var closed: [Keyslot] = []
        for slot in candidates {
            do throws(KeyError) {
                try budget?.spend(on: slot, with: form)
            } catch {
                trials.failures.append(SlotTrials.Failure(slot: slot, error: error, isForCost: true))
                continue
            }
            // One slot that cannot be tried must not hide another one that opens.
            do {
                if let opened = try await tryToOpen(slot, with: form) {
                    trials.opened.append(opened)
                    if untilOneOpens { break }
                } else {
                    closed.append(slot)
                }
            } catch let error as KeyError {
                trials.failures.append(SlotTrials.Failure(slot: slot, error: error))
            }
        }
        return closed
    }

    private func tryToOpen(_ slot: Keyslot, with unlocker: any StoreUnlocker) async throws -> OpenedSlot? {
        let secret = try await unlocker.checkedSecret(of: slot, storeID: storeID)
        guard let rootKey = try rootKey(in: slot, secret: secret) else { return nil }
        return OpenedSlot(slot: slot, secret: secret, rootKey: rootKey)
    }
}
