import SecretMemory

/// A slot that an unlocker opened, and the root key that was in it.
struct OpenedSlot: Sendable {
    let slot: Keyslot
    let secret: SecretBytes
    let rootKey: SecretBytes
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
        // One slot that cannot be tried must not hide another one that opens.
        var firstError: KeyError?
        var budget = DerivationBudget(of: unlocker)
        for slot in candidates {
            let opened: OpenedSlot?
            do {
                opened = try await open(slot, with: unlocker, &budget)
            } catch let error as KeyError {
                firstError = firstError ?? error
                continue
            }
            if let opened { return opened }
        }
        let slots = candidates.count == 1 ? "does not open the slot" : "opens none of the \(candidates.count) slots"
        throw firstError
            ?? KeyError(
                .wrongSecret,
                "The secret \(slots) of the kind \(unlocker.slotKind). Check it; if it is right, the file was altered: "
                    + "restore it from a backup."
            )
    }

    /// Tries an unlocker on one slot; returns `nil` if its secret is not the slot's, or the file was altered.
    func open(_ slot: Keyslot, with unlocker: any StoreUnlocker) async throws -> OpenedSlot? {
        var budget = DerivationBudget(of: unlocker)
        return try await open(slot, with: unlocker, &budget)
    }

    /// The same within what an opening may cost, and with the unlocker's older form if it has one.
    func open(
        _ slot: Keyslot,
        with unlocker: any StoreUnlocker,
        _ budget: inout DerivationBudget
    ) async throws -> OpenedSlot? {
        try budget.spend(on: slot, with: unlocker)
        if let opened = try await tryToOpen(slot, with: unlocker) { return opened }
        guard let older = try await unlocker.checkedOlderForm() else { return nil }
        try budget.spend(on: slot, with: older)
        return try await tryToOpen(slot, with: older)
    }

    private func tryToOpen(_ slot: Keyslot, with unlocker: any StoreUnlocker) async throws -> OpenedSlot? {
        let secret = try await unlocker.checkedSecret(of: slot, storeID: storeID)
        guard let rootKey = try rootKey(in: slot, secret: secret) else { return nil }
        return OpenedSlot(slot: slot, secret: secret, rootKey: rootKey)
    }
}
