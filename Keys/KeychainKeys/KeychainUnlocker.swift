#if Keychain && canImport(Security)
public import SecretMemory
public import StoreKeys

/// Opens a slot with a random secret in the Keychain of Apple's systems, behind an access control.
///
/// - Important: Written from Apple's documentation, and neither compiled nor tested so far.
///
/// The secret is a generic password of the data protection keychain. It never leaves the device, no backup has it, and the
/// system gives it out only to this app, on the terms of ``Protection``. Each call may show the system's own question for a
/// face, a finger or the passcode; it waits on a thread that is not of the cooperative pool, for as long as the user takes.
/// Cancelling a task does not take the question away.
///
/// The errors are `KeyError`s with code `secretUnavailable`: no such item, a question that was not answered, a locked
/// device. The secret passes through a `Data` that the Keychain's interface wants: what is within reach is overwritten.
public struct KeychainUnlocker: StoreUnlocker {
    /// When the Keychain gives the secret.
    public struct Protection: Sendable, Hashable {
        fileprivate let asksUser: Bool
        fileprivate let needsPasscode: Bool

        /// While the device is unlocked.
        public static let whenUnlocked = Protection(asksUser: false, needsPasscode: false)
        /// While the device is unlocked, and when the user shows to be present: with a face, a finger, or the passcode.
        /// Removing the passcode deletes the item.
        public static let userPresence = Protection(asksUser: true, needsPasscode: true)
    }

    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String
    /// When the Keychain gives the secret of a slot that this unlocker makes.
    public let protection: Protection
    /// The items' service, which keeps them apart from others of the app.
    public let service: String

    /// The kind `SlotKind.keychain`.
    public var slotKind: SlotKind { .keychain }

    /// Creates an unlocker; the Keychain is asked when the unlocker is used.
    ///
    /// - Parameters:
    ///   - service: The items' service, which keeps them apart from others of the app.
    ///   - protection: When the Keychain gives the secret of a slot it makes.
    ///   - label: What the app calls a slot it makes.
    public init(service: String = "SealedSync", protection: Protection = .userPresence, label: String = "") {
        self.service = service
        self.protection = protection
        slotLabel = label
    }

    /// Makes a random secret and puts it into the Keychain.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        var generator = SystemRandomNumberGenerator()
        let name = (0..<KeychainItem.nameCount).map { _ -> UInt8 in generator.next() }
        let item = KeychainItem(service: service, storeID: storeID, name: name)
        let secret = try SecretBytes.random(count: KeychainItem.secretCount)
        let protection = protection
        try await BlockingWork.run {
            try item.add(secret, asksUser: protection.asksUser, needsPasscode: protection.needsPasscode)
        }
        return SlotEnrollment(secret: secret, parameters: name)
    }

    /// Reads the slot's secret from the Keychain.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        let item = try KeychainItem(of: slot, service: service, storeID: storeID)
        return try await BlockingWork.run { try item.read() }
    }

    /// Deletes the item of a slot that has been removed or revoked. None is no error.
    public func forget(_ slot: Keyslot, storeID: RandomIdentifier) async throws {
        let item = try KeychainItem(of: slot, service: service, storeID: storeID)
        try await BlockingWork.run { try item.delete() }
    }
}

#else

/// Opens a slot with a random secret in the Keychain of Apple's systems; only with the package trait `Keychain`.
@available(*, unavailable, message: "Depend on the package with traits: [\"Keychain\"]; it needs a system of Apple's.")
public struct KeychainUnlocker {}
#endif
