package import SecretMemory

extension KeyslotFile {
    /// Opens one slot with an unlocker's secret, and proves with the root key in it that the whole file is what was
    /// written by one who had that key.
    ///
    /// AES-256-GCM does not commit to its key: whoever crafts a file can make one slot whose seal fits several secrets, each
    /// with another root key. The authentication code commits: it is HMAC-SHA256 under a key from the root key, over every
    /// byte of the file, and fits one of them at most. So a seal that fits in a file that does not is no more than a secret
    /// that is wrong, and nobody is told which of the two it was.
    ///
    /// - Returns: The root key, or `nil` if the secret is not this slot's, or the file was altered.
    package func rootKey(in slot: Keyslot, secret: SecretBytes) throws -> SecretBytes? {
        guard let rootKey = try unprovenRootKey(in: slot, secret: secret), try isAuthentic(under: rootKey) else {
            return nil
        }
        return rootKey
    }

    /// The root key in a slot of this store that this process has just sealed and not written yet; what it says of a slot
    /// that was read must not get out.
    func unprovenRootKey(in slot: Keyslot, secret: SecretBytes) throws -> SecretBytes? {
        try AES256GCM.open(
            slot.wrappedRootKey,
            key: Self.slotWrappingKey(from: secret, storeID: storeID, slotID: slot.id),
            nonce: slot.nonce,
            associatedData: Self.associatedPrefix(storeID: storeID) + slot.header
        )
    }

    /// Whether the whole file is what was written by one who had the root key.
    package func isAuthentic(under rootKey: SecretBytes) throws -> Bool {
        let expected = try SHA256.authenticationCode(
            for: authenticatedBytes,
            key: Self.authenticationKey(from: rootKey, storeID: storeID)
        )
        return SHA256.areEqual(expected, authenticationCode)
    }

    /// Unwraps the data key that has a role, or returns `nil` if there is none.
    ///
    /// - Throws: `KeyError` with code `damagedFile` if it was not wrapped under this root key, with which the file is
    ///   authentic: it was written so.
    package func dataKey(_ role: WrappedDataKey.Role, rootKey: SecretBytes) throws -> SecretBytes? {
        guard let wrapped = dataKeys.first(where: { $0.role == role }) else { return nil }
        let key = try AES256GCM.open(
            wrapped.wrappedKey,
            key: Self.dataKeyWrappingKey(from: rootKey, storeID: storeID),
            nonce: wrapped.nonce,
            associatedData: Self.associatedPrefix(storeID: storeID) + wrapped.header
        )
        guard let key else { throw KeyError.damaged("A data key in it does not belong to the root key.") }
        return key
    }
}
