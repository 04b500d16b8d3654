public import SecretMemory

/// Something that gives the secret of a slot: a person with a passphrase, a file, a key service.
///
/// An unlocker never sees the root key. It gives 32 secret bytes per slot; from these the slot's wrapping key is
/// derived, together with the identifiers of store and slot. What an unlocker needs to give the same bytes again, but
/// need not hide, it puts into the slot's parameters: a salt and costs, a name in a keychain, or random bytes wrapped
/// by a key service.
public protocol StoreUnlocker: Sendable {
    /// The kind of the slots this unlocker makes and opens.
    var slotKind: SlotKind { get }

    /// What the app calls a slot made by this unlocker; at most 255 bytes of UTF-8, and readable without any secret.
    var slotLabel: String { get }

    /// Whether the unlocker still gives its secrets after the machine was started anew.
    ///
    /// One that does not, such as a kernel's keyring, may not be the only way into a store.
    var survivesRestart: Bool { get }

    /// Whether a slot that this unlocker has just opened should be made anew, because it is weaker than what the
    /// unlocker makes today.
    func wantsRenewal(of slot: Keyslot) -> Bool

    /// What it costs to try a slot: N · r · p of scrypt, ``ScryptCost/work``; 0 for what is not worth counting.
    func derivationWork(of slot: Keyslot) -> Int

    /// The most that one opening may cost over all slots of this kind that are tried; what ``olderForm()`` gives has a most of
    /// its own.
    var maximumDerivationWork: Int { get }

    /// Makes the secret of a new slot.
    ///
    /// Called when a keyslot file is created or a slot is added or made anew, never merely to open one. What it leaves
    /// outside the keyslot file must be durable when it returns, since the file is written next.
    ///
    /// - Parameter storeID: The store whose keys the slot will open.
    /// - Returns: 32 secret bytes, and the parameters with which ``secret(of:storeID:)`` can give them again.
    /// - Throws: `KeyError`. Any other error than `CancellationError` is reported as `secretUnavailable` with that
    ///   error as the cause.
    func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment

    /// Gives the secret of a slot of this unlocker's kind.
    ///
    /// A secret that is not the slot's is not an error here: the slot's seal decides.
    ///
    /// - Parameters:
    ///   - slot: The slot, as it stands in a file that nobody has vouched for yet: check parameters before using them.
    ///   - storeID: The store whose keys the slot opens.
    /// - Returns: 32 secret bytes.
    /// - Throws: As ``enroll(storeID:)``.
    func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes

    /// This unlocker as an older version of it made its slots, if that gave other secrets: it is tried on the slots that
    /// this one does not open, at its own cost, and never makes one.
    ///
    /// - Returns: The older form; nil, the default, when there is none.
    /// - Throws: As ``enroll(storeID:)``.
    func olderForm() async throws -> (any StoreUnlocker)?
}

extension StoreUnlocker {
    /// Empty: the slot is told from others by its kind and identifier only.
    public var slotLabel: String { "" }

    /// True.
    public var survivesRestart: Bool { true }

    /// False: slots of this kind do not age.
    public func wantsRenewal(of slot: Keyslot) -> Bool { false }

    /// 0: a slot of this kind is tried at once.
    public func derivationWork(of slot: Keyslot) -> Int { 0 }

    /// Nil: secrets are made as they always were.
    public func olderForm() async throws -> (any StoreUnlocker)? { nil }

    /// ``ScryptCost/maximumWorkOfOpening``.
    public var maximumDerivationWork: Int { ScryptCost.maximumWorkOfOpening }
}

/// What an unlocker makes for a new slot.
public struct SlotEnrollment: Sendable {
    /// The slot's secret: 32 bytes.
    public let secret: SecretBytes
    /// What the unlocker needs to give the secret again; at most 8192 bytes, stored in clear, protected from changes.
    public let parameters: [UInt8]

    /// Creates an enrollment.
    ///
    /// - Parameters:
    ///   - secret: 32 bytes that nobody can guess, or that cost much to try.
    ///   - parameters: Public, at most 8192 bytes.
    public init(secret: SecretBytes, parameters: [UInt8] = []) {
        self.secret = secret
        self.parameters = parameters
    }
}
