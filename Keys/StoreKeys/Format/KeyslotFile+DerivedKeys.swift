import SecretMemory

extension KeyslotFile {
    /// The key that wraps the root key in one slot.
    ///
    /// Derived per slot, so that one secret may open many slots in many files: they all have different keys, and no
    /// nonce can meet another one under the same key.
    static func slotWrappingKey(
        from secret: SecretBytes,
        storeID: RandomIdentifier,
        slotID: RandomIdentifier
    ) throws -> SecretBytes {
        try derive(from: secret, salt: storeID.bytes + slotID.bytes, purpose: "SealedSync keyslot 1: slot")
    }

    /// The key that wraps the data keys.
    static func dataKeyWrappingKey(from rootKey: SecretBytes, storeID: RandomIdentifier) throws -> SecretBytes {
        try derive(from: rootKey, salt: storeID.bytes, purpose: "SealedSync keyslot 1: data key")
    }

    /// The key of the file's authentication code.
    static func authenticationKey(from rootKey: SecretBytes, storeID: RandomIdentifier) throws -> SecretBytes {
        try derive(from: rootKey, salt: storeID.bytes, purpose: "SealedSync keyslot 1: file")
    }

    private static func derive(from secret: SecretBytes, salt: [UInt8], purpose: String) throws -> SecretBytes {
        try HKDF.deriveKey(from: secret, salt: salt, info: Array(purpose.utf8), count: AES256GCM.keyCount)
    }
}
