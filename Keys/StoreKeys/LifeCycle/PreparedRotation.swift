import SecretMemory

/// Everything that a rotation with a new root key writes, made before the first write: no root key outlives the making.
struct PreparedRotation: Sendable {
    /// The key that opens the database now.
    let from: SecretBytes
    /// The key that will open it.
    let to: SecretBytes
    /// The revision with both data keys, and the one with the new one only.
    let begun, finished: KeyslotFile
    let rotation: KeyRotation
}

extension Keyslots {
    /// Opens the slots that stay, finds the key that opens the database, and makes the new keys. Writes nothing.
    func prepare(
        _ selection: SlotSelection,
        in file: KeyslotFile,
        _ isEncryptedWith: (SecretBytes) async throws -> Bool
    ) async throws -> PreparedRotation {
        try selection.checkSlots(of: file)
        guard let opened = try await file.openSlots(with: selection.unlockers, revoking: selection.revoked) else {
            throw KeyError(.secretUnavailable, "No unlocker was given that opens the keyslot file.")
        }
        try selection.checkUnlockers(of: file, opened)
        let from = try await file.databaseKey(opened.rootKey, isEncryptedWith)

        let newRootKey = try random.makeSecret()
        let kept = try opened.slots.filter { !selection.revoked.contains($0.slot.id) }
            .map { try $0.sealed(with: newRootKey, storeID: file.storeID, random: random) }
        let added = try await replacement(in: selection, of: file, newRootKey)
        let firstRevoked = file.slots.first { selection.revoked.contains($0.id) }
        let slots = file.slots.compactMap { slot in
            slot.id == firstRevoked?.id ? added : kept.first { $0.id == slot.id }
        }

        let new = try NewDataKey(random: random)
        let begun = try file.beginningRotation(
            to: new,
            from: from.role,
            rootKey: opened.rootKey,
            newRootKey: newRootKey,
            slots: slots,
            random: random
        )
        let finished = try begun.promotingPendingDataKey(rootKey: newRootKey, random: random)
        return PreparedRotation(
            from: from.key,
            to: new.key,
            begun: begun,
            finished: finished,
            rotation: KeyRotation(
                keyring: try StoreKeyring(opening: finished, rootKey: newRootKey),
                revoked: file.slots.filter { selection.revoked.contains($0.id) },
                dropped: selection.missing(of: file, opened),
                kept: kept,
                added: added
            )
        )
    }

    /// Makes the slot of the replacement, if there is one, and proves that it brings in none of the revoked secrets.
    private func replacement(
        in selection: SlotSelection,
        of file: KeyslotFile,
        _ rootKey: SecretBytes
    ) async throws -> Keyslot? {
        guard let unlocker = selection.replacement else { return nil }
        let revoked = file.slots.filter { selection.revoked.contains($0.id) }
        for slot in revoked where slot.kind == unlocker.slotKind && slot.kind.hasOneSecretPerUnlocker {
            // Whatever that costs: the file is proven by now.
            let trials = try await file.trySlots([slot], with: unlocker, isProven: true)
            if let failure = trials.failures.first { throw failure.error }
            guard trials.opened.isEmpty else {
                throw KeyError(
                    .invalidParameters,
                    "The replacement has the secret of \(file.name(of: slot)), which is to be revoked; "
                        + "nothing was written. Give a new one."
                )
            }
        }
        return try await makeSlot(for: unlocker, labelled: revoked.first?.label ?? "", in: file, rootKey: rootKey)
    }
}

extension KeyslotFile {
    /// The data key that opens the database: after an interrupted rotation it may be the pending one. When neither does,
    /// the re-encryption of the database says what is wrong with it.
    fileprivate func databaseKey(
        _ rootKey: SecretBytes,
        _ isEncryptedWith: (SecretBytes) async throws -> Bool
    ) async throws -> (role: WrappedDataKey.Role, key: SecretBytes) {
        guard let current = try dataKey(.current, rootKey: rootKey) else {
            throw KeyError.damaged("It has no current data key.")
        }
        guard let pending = try dataKey(.pending, rootKey: rootKey),
            try await !isEncryptedWith(current),
            try await isEncryptedWith(pending)
        else { return (.current, current) }
        return (.pending, pending)
    }
}
