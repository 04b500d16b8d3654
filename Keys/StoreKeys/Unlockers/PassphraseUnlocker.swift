public import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Opens a slot with a passphrase, stretched with scrypt.
///
/// The bytes of the passphrase are taken as they are. An app that lets people type theirs on different keyboards should
/// bring the text into one normal form (NFC) first, since `é` can be written in two ways. Each trial takes the time and
/// memory of the slot's ``ScryptCost``; trials of one process run one after the other.
public struct PassphraseUnlocker: StoreUnlocker {
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String

    private let source: PassphraseSource
    private let cost: ScryptCost
    private let random: RandomSource

    /// The kind `SlotKind.passphrase`.
    public var slotKind: SlotKind { .passphrase }

    /// Creates an unlocker from a passphrase in memory.
    ///
    /// - Parameters:
    ///   - passphrase: 1 to 4096 bytes of UTF-8, kept as long as the unlocker.
    ///   - cost: The cost of a slot it makes; a slot it opens has its own.
    ///   - label: What the app calls a slot it makes.
    public init(passphrase: SecretBytes, cost: ScryptCost = .standard, label: String = "") {
        self.init(source: .bytes(passphrase), cost: cost, label: label)
    }

    /// Creates an unlocker that reads the passphrase from a file each time it is needed.
    ///
    /// One line's end at the end of the file (`\n` or `\r\n`) is not part of the passphrase. A missing file is
    /// `secretUnavailable` when the unlocker is used; a symbolic link or a mode wider than 0600 is
    /// `insecurePermissions`.
    ///
    /// - Parameters:
    ///   - file: The location of the file.
    ///   - cost: The cost of a slot it makes; a slot it opens has its own.
    ///   - label: What the app calls a slot it makes.
    public init(file: URL, cost: ScryptCost = .standard, label: String = "") {
        self.init(source: .file(file), cost: cost, label: label)
    }

    /// Creates an unlocker that reads the passphrase from an environment variable each time it is needed.
    ///
    /// An environment is a poor place for a secret: other processes of the same user can read it (`/proc`), child
    /// processes inherit it, diagnostics print it, and nothing ever wipes it. Prefer a file, and use this where a
    /// supervisor offers nothing else. An unset variable is `secretUnavailable` when the unlocker is used.
    ///
    /// - Parameters:
    ///   - environmentVariable: The name of the variable.
    ///   - cost: The cost of a slot it makes; a slot it opens has its own.
    ///   - label: What the app calls a slot it makes.
    public init(environmentVariable: String, cost: ScryptCost = .standard, label: String = "") {
        self.init(source: .environmentVariable(environmentVariable), cost: cost, label: label)
    }

    package init(passphrase: SecretBytes, cost: ScryptCost = .standard, label: String = "", random: RandomSource) {
        self.init(source: .bytes(passphrase), cost: cost, label: label, random: random)
    }

    private init(source: PassphraseSource, cost: ScryptCost, label: String, random: RandomSource = .system) {
        self.source = source
        self.cost = cost
        self.random = random
        slotLabel = label
    }

    /// Derives the secret of a new slot, with a new salt.
    public func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
        let parameters = ScryptSlotParameters(cost: cost, salt: try random.makeBytes(ScryptSlotParameters.saltCount))
        return try await SlotEnrollment(secret: derive(parameters), parameters: parameters.encoded)
    }

    /// Derives the secret of a slot, with the salt and cost it has.
    public func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        try await derive(ScryptSlotParameters(decoding: slot.parameters))
    }

    private func derive(_ parameters: ScryptSlotParameters) async throws -> SecretBytes {
        let source = source
        return try await BlockingWork.run {
            try Scrypt.deriveKey(
                from: source.read(),
                salt: parameters.salt,
                cost: parameters.cost,
                count: AES256GCM.keyCount
            )
        }
    }
}
