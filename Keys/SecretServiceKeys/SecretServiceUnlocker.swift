#if SecretService && os(Linux)
public import SecretMemory
public import StoreKeys

/// Opens a slot with a random secret that the freedesktop Secret Service keeps: GNOME Keyring, KWallet, KeePassXC.
///
/// The secret is an item of the default collection, with the attributes `store` and `slot` that tell it from those of other
/// stores and slots; the slot's parameters name it. The service gives it to every program of the user's session while the
/// collection is unlocked, which by custom is from the login on. Removing a slot leaves the item: ``forget(_:storeID:)``
/// deletes it.
///
/// Each call connects to the session's bus anew, so that a service that was started again meanwhile is no matter. It waits
/// on a thread of its own, not of the cooperative pool, for as long as the service takes, which with a prompt is as long as
/// a person takes; cancelling the task ends it with `CancellationError`.
///
/// The errors are `KeyError`s with code `secretUnavailable`: no bus, no service, no such item, a collection that is locked
/// or whose prompt was refused, an item that is not 32 bytes long. How durable a new item is, is up to the service.
///
/// Of the secret, libsecret keeps a copy in memory that it locks and wipes. Between service and app it is encrypted under a
/// key of the session, unless the service knows no such thing; then libsecret takes it in clear from the bus, in memory
/// that it does not wipe.
public struct SecretServiceUnlocker: StoreUnlocker {
    /// What the app calls a slot made by this unlocker. The service shows it as the item's name, or "Store key" for none.
    public let slotLabel: String
    /// Whether the service may ask the user to unlock the collection, or to make one.
    public let mayPrompt: Bool

    private let busAddress: String?

    /// The kind `SlotKind.secretService`.
    public var slotKind: SlotKind { .secretService }

    /// Creates an unlocker; the service is asked when the unlocker is used.
    ///
    /// - Parameters:
    ///   - label: What the app calls a slot it makes.
    ///   - mayPrompt: Whether the service may ask the user to unlock the collection, or to make one. Without it, a locked
    ///     collection is `secretUnavailable` at once.
    public init(label: String = "", mayPrompt: Bool = true) {
        self.init(label: label, mayPrompt: mayPrompt, busAddress: nil)
    }

    package init(label: String = "", mayPrompt: Bool = true, busAddress: String?) {
        slotLabel = label
        self.mayPrompt = mayPrompt
        self.busAddress = busAddress
    }

    /// Makes a random secret and has the service keep it.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let item = ServiceItem(storeID: storeID, slotName: .random(count: ServiceItem.nameCount))
        let secret = try SecretBytes.random(count: ServiceItem.secretCount)
        let label = slotLabel.isEmpty ? "Store key" : slotLabel
        try await request(item).perform { try $0.store(secret, label: label) }
        return SlotEnrollment(secret: secret, parameters: item.slotName)
    }

    /// Asks the service for the slot's secret.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        try await request(ServiceItem(of: slot, storeID: storeID)).perform { try $0.lookUp() }
    }

    /// Deletes the item of a slot that has been removed or revoked. None is no error; a locked collection may be.
    ///
    /// - Parameters:
    ///   - slot: The slot.
    ///   - storeID: The store whose slot it was.
    /// - Throws: `KeyError` with code `secretUnavailable`; `CancellationError`.
    public func forget(_ slot: Keyslot, storeID: RandomIdentifier) async throws {
        try await request(ServiceItem(of: slot, storeID: storeID)).perform { try $0.clear() }
    }

    private func request(_ item: ServiceItem) -> ServiceRequest {
        ServiceRequest(item: item, mayPrompt: mayPrompt, busAddress: busAddress)
    }
}

#else

/// Opens a slot with a random secret that the freedesktop Secret Service keeps; only with the package trait `SecretService`.
@available(
    *,
    unavailable,
    message: "Depend on the package with traits: [\"SecretService\"]; it needs Linux and libsecret."
)
public struct SecretServiceUnlocker {}
#endif
