public import SecretMemory

/// Opens a slot by means of a service that wraps keys: a cloud's key management, a hardware module, a kernel's keyring.
///
/// A slot's secret is 32 random bytes; the service encrypts them under a key that it does not give away, and what comes
/// back becomes the slot's parameters.
public struct KeyServiceUnlocker: StoreUnlocker {
    /// Encrypts 32 secret bytes, and returns at most 8192 bytes that ``Unwrap`` turns back into them.
    public typealias Wrap = @Sendable (SecretBytes) async throws -> [UInt8]
    /// Decrypts what ``Wrap`` returned. The bytes come from a file that nobody has vouched for yet.
    public typealias Unwrap = @Sendable ([UInt8]) async throws -> SecretBytes

    /// The kind of the slots.
    public let slotKind: SlotKind
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String
    /// Whether the service still knows its key after a restart of the machine.
    public let survivesRestart: Bool

    private let wrap: Wrap
    private let unwrap: Unwrap

    /// Creates an unlocker from two closures.
    ///
    /// An error that they throw is reported as `secretUnavailable` with that error as the cause, unless it is a
    /// `KeyError` or a `CancellationError`; a service that says that the bytes are not its own throws a `KeyError` with
    /// code `wrongSecret`.
    ///
    /// - Parameters:
    ///   - kind: A kind of the app's own, such as `org-example-kms`.
    ///   - label: What the app calls a slot it makes, the name of the service's key for instance; readable by anyone.
    ///   - survivesRestart: Whether the service still knows its key after a restart of the machine.
    ///   - wrap: Encrypts.
    ///   - unwrap: Decrypts.
    public init(
        kind: SlotKind,
        label: String = "",
        survivesRestart: Bool = true,
        wrap: @escaping Wrap,
        unwrap: @escaping Unwrap
    ) {
        slotKind = kind
        slotLabel = label
        self.survivesRestart = survivesRestart
        self.wrap = wrap
        self.unwrap = unwrap
    }

    /// Makes a random secret and has it wrapped.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let secret = try SecretBytes.random(count: AES256GCM.keyCount)
        return SlotEnrollment(secret: secret, parameters: try await wrap(secret))
    }

    /// Has the slot's parameters unwrapped.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        try await unwrap(slot.parameters)
    }
}
