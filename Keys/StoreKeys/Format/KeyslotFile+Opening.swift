package import SecretMemory

extension KeyslotFile {
    /// Opens one slot with an unlocker's secret.
    ///
    /// - Returns: The root key, or `nil` if the secret is not this slot's.
    package func rootKey(in slot: Keyslot, secret: SecretBytes) throws -> SecretBytes? {
        try AES256GCM.open(
            slot.wrappedRootKey,
            key: Self.slotWrappingKey(from: secret, storeID: storeID, slotID: slot.id),
            nonce: slot.nonce,
            associatedData: Self.associatedPrefix(storeID: storeID) + slot.header
        )
    }

    /// Proves with the root key that the whole file is what was written by one who had it.
    ///
    /// - Throws: `KeyError` with code `damagedFile` if it is not: the slot was genuine, so the secret is right, and
    ///   something else was changed by one who also adjusted the checksum.
    package func verify(with rootKey: SecretBytes) throws {
        let expected = try SHA256.authenticationCode(
            for: authenticatedBytes,
            key: Self.authenticationKey(from: rootKey, storeID: storeID)
        )
        guard SHA256.areEqual(expected, authenticationCode) else {
            throw KeyError.damaged("The secret is right, but the file was altered after it was written.")
        }
    }

    /// Unwraps the data key that has a role, or returns `nil` if there is none.
    ///
    /// - Throws: `KeyError` with code `damagedFile` if it was not wrapped under this root key.
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
