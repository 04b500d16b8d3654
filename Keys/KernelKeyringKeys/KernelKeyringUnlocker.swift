#if KernelKeyring && os(Linux)
public import SecretMemory
public import StoreKeys

/// Opens a slot with a random secret in the user's keyring in the Linux kernel, until the machine is started anew.
///
/// That keyring (`@u`, one per user id) lives as long as the user has processes. A session's would be another one for each
/// login, and even for the threads of one process.
///
/// For what should be typed once: a service that is started again, a command that is run often. The secret never is on a
/// medium, swap space included, and goes with the machine's power, so the unlocker does not survive a restart, and may not
/// be the only one of a store. Every process of the user reads it, and the superuser does. After a restart, or when the key
/// has expired, `Keyslots.replace(_:with:authorizedBy:)` puts a new slot in the place of the old one.
///
/// The kernel answers at once: nothing here waits. The errors are `KeyError`s with code `secretUnavailable`: the keyring has
/// no such key, or one that expired or was revoked, or the kernel refuses. The secret is read into locked memory; there is
/// no other copy in the process.
public struct KernelKeyringUnlocker: StoreUnlocker {
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String
    /// How many seconds the key of a new slot lives; nil for no limit.
    public let timeToLive: UInt32?

    /// The kind `SlotKind.kernelKeyring`.
    public var slotKind: SlotKind { .kernelKeyring }
    /// False.
    public var survivesRestart: Bool { false }

    /// Creates an unlocker; the kernel is asked when the unlocker is used.
    ///
    /// - Parameters:
    ///   - timeToLive: How many seconds the key of a new slot lives, at least 1; nil for no limit. Then the kernel forgets
    ///     it.
    ///   - label: What the app calls a slot it makes.
    public init(timeToLive: UInt32? = nil, label: String = "") {
        self.timeToLive = timeToLive
        slotLabel = label
    }

    /// Puts a random secret into the keyring.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        guard timeToLive != 0 else { throw KeyError(.invalidParameters, "A key lives at least one second.") }
        let key = KernelKey(storeID: storeID)
        let secret = try SecretBytes.random(count: KernelKey.secretCount)
        try key.add(secret, timeToLive: timeToLive)
        return SlotEnrollment(secret: secret, parameters: key.name)
    }

    /// Reads the slot's secret from the keyring.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        try KernelKey(of: slot, storeID: storeID).read()
    }

    /// Takes the key of a slot out of the keyring, whether the slot has been removed or the store should ask for something
    /// else from now on. None is no error.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - storeID: The store whose slot it is, or was.
    /// - Throws: `KeyError` with code `secretUnavailable` if the kernel refuses.
    public func forget(_ slot: Keyslot, storeID: RandomIdentifier) throws {
        try KernelKey(of: slot, storeID: storeID).remove()
    }
}

#else

/// Opens a slot with a random secret in the user's keyring in the Linux kernel; only with the package trait `KernelKeyring`.
@available(*, unavailable, message: "Depend on the package with traits: [\"KernelKeyring\"]; it needs Linux.")
public struct KernelKeyringUnlocker {}
#endif
