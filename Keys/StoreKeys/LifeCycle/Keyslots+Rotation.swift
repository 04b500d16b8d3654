public import SecretMemory

extension Keyslots {
    /// Rotates the data key: makes a new one, has the database encrypted anew, and destroys the old one.
    ///
    /// The durable steps, in order: the new key is written as the *pending* one, under the root key; `reencrypt` changes
    /// the database; the pending key becomes the current one, and the old one leaves the file. A kill in between leaves
    /// a file with both keys and a database that is opened by one of them: this call, or
    /// ``recoverRotation(authorizedBy:isEncryptedWith:finish:)``, goes on from there. One unlocker is enough, and every slot
    /// keeps working.
    ///
    /// **This shuts nobody out.** The root key stays: whoever kept an older keyslot file and a secret that opened it
    /// unwraps the new data key as well. ``rotateKeys(keeping:dropMissing:isEncryptedWith:reencrypt:)`` and
    /// ``revoke(_:authorizedBy:keeping:replacement:dropMissing:isEncryptedWith:reencrypt:)`` renew the root key, too.
    ///
    /// The keyslot file is locked for changes throughout. Copies of the database stay under the key they were made with,
    /// and copies of the keyslot file still hold that key.
    ///
    /// - Parameters:
    ///   - unlocker: An unlocker that opens the store.
    ///   - reencrypt: Changes the database from the first key to the second, wholly or not at all, and returns when that
    ///     is durable. It may find a database that is under the second key already, because a kill came after its work;
    ///     then it does nothing. What it throws ends the rotation, with both keys kept.
    /// - Returns: The keys from now on.
    /// - Throws: As said for the type, and what `reencrypt` throws. A cancelled task does not end the rotation once
    ///   `reencrypt` has returned.
    public func rotateDataKey(
        authorizedBy unlocker: any StoreUnlocker,
        reencrypt: (_ from: SecretBytes, _ to: SecretBytes) async throws -> Void
    ) async throws -> StoreKeyring {
        try await rotateDataKey(authorizedBy: unlocker, checking: { _ in }, reencrypt: reencrypt)
    }

    /// The same; the keys so far are shown before anything is written, and nothing is when that throws.
    package func rotateDataKey(
        authorizedBy unlocker: any StoreUnlocker,
        checking check: (StoreKeyring) async throws -> Void,
        reencrypt: (_ from: SecretBytes, _ to: SecretBytes) async throws -> Void
    ) async throws -> StoreKeyring {
        try await change { transaction in
            let rootKey = try await transaction.content.openSlot(with: unlocker).rootKey
            try await check(StoreKeyring(opening: transaction.content, rootKey: rootKey))
            if !transaction.content.isRotationPending {
                try await transaction.write(
                    transaction.content.addingPendingDataKey(
                        NewDataKey(random: random),
                        rootKey: rootKey,
                        random: random
                    )
                )
            }
            let keyring = try StoreKeyring(opening: transaction.content, rootKey: rootKey)
            guard let pending = try keyring.pendingDataKey else { throw KeyError.damaged("A data key is missing.") }
            try await reencrypt(keyring.dataKey, pending)
            return try await promote(in: transaction, rootKey: rootKey)
        }
    }

    /// Ends a rotation that was interrupted, and opens the file.
    ///
    /// When the database is under the pending key, that becomes the current one; when it is under the current key, the
    /// pending one is dropped, and ``KeyslotFile/isRotationOverdue`` says if the current one is no longer to be relied
    /// upon; when it is under neither, because it is damaged for instance, both are kept. Without a
    /// rotation to end, this opens the file and nothing else.
    ///
    /// - Parameters:
    ///   - unlocker: An unlocker that opens the store.
    ///   - isEncryptedWith: Tells whether a key opens the database. Asked only when a rotation was interrupted.
    ///   - finish: Asked when a rotation with a new root key was interrupted between its commit and the new database taking
    ///     its place. It puts that database into its place if it still can without reading it all, wholly or not at all, and
    ///     returns when that is durable. Doing nothing is always right.
    /// - Returns: The keys; with a pending one only if neither opens the database.
    /// - Throws: As said for the type: `inUse` when the rotation is not interrupted but under way. What
    ///   `isEncryptedWith` and `finish` throw, after which both keys are kept.
    public func recoverRotation(
        authorizedBy unlocker: any StoreUnlocker,
        isEncryptedWith: (SecretBytes) async throws -> Bool,
        finish: (_ from: SecretBytes, _ to: SecretBytes) async throws -> Void = { _, _ in }
    ) async throws -> StoreKeyring {
        let keyring = try await StoreKeyring.open(self, unlocker: unlocker)
        guard try keyring.pendingDataKey != nil else { return keyring }
        return try await change { transaction in
            let rootKey = try await transaction.content.openSlot(with: unlocker).rootKey
            let keyring = try StoreKeyring(opening: transaction.content, rootKey: rootKey)
            guard let pending = try keyring.pendingDataKey else { return keyring }
            if keyring.isRotationOverdue, try await isEncryptedWith(keyring.dataKey) {
                try await finish(keyring.dataKey, pending)
            }
            if try await isEncryptedWith(keyring.dataKey) {
                try await transaction.write(transaction.content.droppingPendingDataKey(rootKey: rootKey))
                return try StoreKeyring(opening: transaction.content, rootKey: rootKey)
            }
            guard try await isEncryptedWith(pending) else { return keyring }
            return try await promote(in: transaction, rootKey: rootKey)
        }
    }

    /// In a task of its own, which nobody cancels: the database has its new key already.
    private func promote(in transaction: KeyslotTransaction, rootKey: SecretBytes) async throws -> StoreKeyring {
        try await Task { [random] in
            try await transaction.write(
                transaction.content.promotingPendingDataKey(rootKey: rootKey, random: random)
            )
            return try StoreKeyring(opening: transaction.content, rootKey: rootKey)
        }
        .value
    }
}
