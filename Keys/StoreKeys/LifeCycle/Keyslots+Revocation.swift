public import SecretMemory

extension Keyslots {
    /// Renews the root key and rotates the data key: whoever kept an older keyslot file, and a secret that opened it, has
    /// no way to what is written from now on.
    ///
    /// Nothing is written before `reencrypt` says that the new database is ready. The durable steps are then, in order:
    /// one revision of the keyslot file with the new root key in the slots that stay, and under it the new data key as
    /// the *pending* one beside the current one; the database; the revision in which the new data key is the only one.
    /// The new data key is never under the old root key.
    ///
    /// A kill before the first of these steps leaves everything as it was, and one after the second is made good by the
    /// next ``recoverRotation(authorizedBy:isEncryptedWith:finish:)``. One in between leaves the slots as they are to be
    /// and the database under the old data key: the recovery has the new database put into its place. When that is no
    /// more, it drops the new data key, and ``KeyslotFile/isRotationOverdue`` stays true until a rotation, of any kind, has
    /// come to its end.
    ///
    /// The keyslot file is locked for changes throughout. Copies of the database stay under the key they were made with.
    ///
    /// - Parameters:
    ///   - unlockers: The unlockers to keep; each must open a slot, and every slot that one of them opens is kept. Any of
    ///     them authorizes the change.
    ///   - dropMissing: Whether slots that none of them opens are dropped; otherwise these are an error. A slot whose
    ///     unlocker could not try it is never dropped.
    ///   - isEncryptedWith: Tells whether a key opens the database. Asked only when a rotation was interrupted before.
    ///   - reencrypt: Makes a database under the second key of the one under the first, calls the commit, and puts the new
    ///     database into its place, wholly or not at all; returns when that is durable.
    /// - Returns: The keys from now on, and what became of the slots.
    /// - Throws: As said for the type; `KeyError` with code `missingUnlocker`, which names the slots that none of the
    ///   unlockers opens; `lastReliableSlot` if no slot would be kept whose unlocker survives a restart of the machine;
    ///   `wrongSecret` if one of the unlockers opens no slot; the code of the unlocker's error, and the name of the slot,
    ///   if one could not try a slot that none of the others opens. What `reencrypt` throws: nothing has changed then, unless
    ///   it was after the commit. A cancelled task does not end the rotation once `reencrypt` has returned.
    public func rotateKeys(
        keeping unlockers: [any StoreUnlocker],
        dropMissing: Bool = false,
        isEncryptedWith: (SecretBytes) async throws -> Bool,
        reencrypt: (_ from: SecretBytes, _ to: SecretBytes, _ commit: @escaping RotationCommit) async throws -> Void
    ) async throws -> KeyRotation {
        let selection = SlotSelection(kept: unlockers, dropsMissing: dropMissing)
        return try await rotateKeys(selection, isEncryptedWith, reencrypt)
    }

    /// Takes the way in from slots whose secrets have leaked: removes them, renews the root key and rotates the data key,
    /// in one run as said for ``rotateKeys(keeping:dropMissing:isEncryptedWith:reencrypt:)``.
    ///
    /// - Parameters:
    ///   - slotIDs: The slots to revoke, at least one. An id names the same slot as long as that exists: a call that was
    ///     interrupted can be repeated, and what it has done already is refused as a slot that is not there.
    ///   - authorizer: An unlocker that opens the store now, be it with a slot that is revoked. Other slots that it opens
    ///     stay. It is not needed when one of the others opens the store.
    ///   - unlockers: The unlockers of the slots that stay. One that opens only slots to be revoked is refused: those are
    ///     not the slots that were meant. So is one whose secret opens a slot that is revoked and another one as well:
    ///     with that slot, the leaked secret would stay. To know that, the slots that are revoked are tried whatever they cost.
    ///   - replacement: What gets a slot in the place of the first one that is revoked, and its label if it has none of
    ///     its own; its secret must be another one.
    ///   - dropMissing: Whether slots that none of the unlockers opens are dropped; otherwise these are an error.
    ///   - isEncryptedWith: As for ``rotateKeys(keeping:dropMissing:isEncryptedWith:reencrypt:)``.
    ///   - reencrypt: As there.
    /// - Returns: The keys from now on, and what became of the slots.
    /// - Throws: As there; `KeyError` with code `invalidParameters` if there is no such slot, an unlocker that is to stay
    ///   opens no slot that stays, or a secret that opens a revoked slot would still open another; `unreliableUnlocker` and the others of ``add(_:authorizedBy:)`` for the replacement.
    public func revoke(
        _ slotIDs: [Keyslot.ID],
        authorizedBy authorizer: (any StoreUnlocker)? = nil,
        keeping unlockers: [any StoreUnlocker],
        replacement: (any StoreUnlocker)? = nil,
        dropMissing: Bool = false,
        isEncryptedWith: (SecretBytes) async throws -> Bool,
        reencrypt: (_ from: SecretBytes, _ to: SecretBytes, _ commit: @escaping RotationCommit) async throws -> Void
    ) async throws -> KeyRotation {
        guard !slotIDs.isEmpty else {
            throw KeyError(.invalidParameters, "Name the slots to revoke; without one, rotate the keys.")
        }
        let selection = SlotSelection(
            authorizer: authorizer,
            kept: unlockers,
            revoked: Set(slotIDs),
            replacement: replacement,
            dropsMissing: dropMissing
        )
        return try await rotateKeys(selection, isEncryptedWith, reencrypt)
    }

    private func rotateKeys(
        _ selection: SlotSelection,
        _ isEncryptedWith: (SecretBytes) async throws -> Bool,
        _ reencrypt: (SecretBytes, SecretBytes, @escaping RotationCommit) async throws -> Void
    ) async throws -> KeyRotation {
        try await change { transaction in
            let prepared = try await prepare(selection, in: transaction.content, isEncryptedWith)
            try await reencrypt(prepared.from, prepared.to) { try transaction.writeBlocking(prepared.begun) }
            // In a task of its own, which nobody cancels: the database has its new key already.
            try await Task {
                if transaction.content.revision != prepared.begun.revision {
                    try await transaction.write(prepared.begun)
                }
                try await transaction.write(prepared.finished)
            }
            .value
            return prepared.rotation
        }
    }
}
