public import SecretMemory

/// Opens a slot with a recovery code.
///
/// A code has 130 random bits, so it needs no costly derivation. One that was used has been seen: make a new one and
/// put it in its place with ``Keyslots/replace(_:with:)``.
public struct RecoveryCodeUnlocker: StoreUnlocker {
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String

    private let code: RecoveryCode

    /// The kind `SlotKind.recoveryCode`.
    public var slotKind: SlotKind { .recoveryCode }

    /// Creates an unlocker.
    ///
    /// - Parameters:
    ///   - code: A new code for a slot to be made, or one that was typed for a slot that exists.
    ///   - label: What the app calls a slot it makes.
    public init(_ code: RecoveryCode, label: String = "") {
        self.code = code
        slotLabel = label
    }

    /// Derives the slot's secret from the code; there are no parameters.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        try SlotEnrollment(secret: secret(storeID: storeID))
    }

    /// Derives the slot's secret from the code.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        try secret(storeID: storeID)
    }

    private func secret(storeID: RandomIdentifier) throws -> SecretBytes {
        try HKDF.deriveKey(
            from: code.characters,
            salt: storeID.bytes,
            info: Array("SealedSync keyslot 1: recovery code".utf8),
            count: AES256GCM.keyCount
        )
    }
}
