public import SecretMemory

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Opens a slot with a passphrase, stretched with scrypt.
///
/// A passphrase that is UTF-8 is brought into one normal form (NFC), wherever it comes from, since `é` can be written in two ways
/// and keyboards differ in theirs; other bytes are taken as they are. Slots of versions before this have the bytes as they were
/// given: slots that the normal form does not open are tried with these, at the cost of another trial each, when they differ.
/// Each trial takes the time and memory of the slot's ``ScryptCost``; the trials of one opening run one after the other, and
/// one that is cancelled ends when the trial under way does, since libcrypto cannot be interrupted. All of them together
/// cost at most ``maximumDerivationWork``, and those with the bytes as they were given as much again: a slot above it is not
/// tried, and when no other one opens, the error is `invalidParameters`.
///
/// Opening a keyslot file with an unlocker that asks for more than the slot costs makes the slot anew at the cost asked
/// for; see ``StoreKeyring/open(at:unlocker:minimumRevision:)``. Processes that share a store should ask for the same cost: the one with
/// the least memory has to pay it.
public struct PassphraseUnlocker: StoreUnlocker {
    /// What the app calls a slot made by this unlocker.
    public let slotLabel: String

    /// The most that one opening may cost, over all slots that are tried: the sum of their ``ScryptCost/work``. Four times
    /// the standard's, or this unlocker's own cost if that is more. An app whose stores have more than four passphrases, or
    /// dearer ones, raises it.
    public var maximumDerivationWork: Int

    private let source: PassphraseSource
    /// Whether the passphrase is brought into its normal form.
    private var isNormalized = true
    private let cost: ScryptCost
    private let random: RandomSource

    /// The kind `SlotKind.passphrase`.
    public var slotKind: SlotKind { .passphrase }

    /// Creates an unlocker from a passphrase in memory.
    ///
    /// - Parameters:
    ///   - passphrase: 1 to 4096 bytes of UTF-8, kept as long as the unlocker.
    ///   - cost: The cost of a slot it makes; one that it opens and that costs less is raised to it.
    ///   - label: What the app calls a slot it makes.
    public init(passphrase: SecretBytes, cost: ScryptCost = .standard, label: String = "") {
        self.init(source: .bytes(passphrase), cost: cost, label: label)
    }

    /// Creates an unlocker that reads the passphrase from a file each time it is needed.
    ///
    /// One line's end at the end of the file (`\n` or `\r\n`) is not part of the passphrase. A file that cannot be read
    /// is `secretUnavailable` when the unlocker is used. Who else may read the file is the caller's business. A pipe
    /// gives its content once: read it with ``readPassphrase(from:)`` and use the bytes.
    ///
    /// - Parameters:
    ///   - file: The location of the file.
    ///   - cost: The cost of a slot it makes; one that it opens and that costs less is raised to it.
    ///   - label: What the app calls a slot it makes.
    public init(file: URL, cost: ScryptCost = .standard, label: String = "") {
        self.init(source: .file(file), cost: cost, label: label)
    }

    /// Reads a passphrase from a file or a pipe, straight into memory that is wiped.
    ///
    /// - Parameter file: The location; one line's end at the end is not part of the passphrase.
    /// - Returns: 1 to 4096 bytes.
    /// - Throws: `KeyError` with code `secretUnavailable` if it cannot be read, `invalidParameters` if it is empty or too
    ///   long; `CancellationError`.
    public static func readPassphrase(from file: URL) async throws -> SecretBytes {
        try await BlockingWork.run { try PassphraseSource.file(file).read() }
    }

    /// Creates an unlocker that reads the passphrase from an environment variable each time it is needed.
    ///
    /// An environment is a poor place for a secret: other processes of the same user can read it (`/proc`), child
    /// processes inherit it, diagnostics print it, and nothing ever wipes it. Prefer a file, and use this where a
    /// supervisor offers nothing else. An unset variable is `secretUnavailable` when the unlocker is used.
    ///
    /// - Parameters:
    ///   - environmentVariable: The name of the variable.
    ///   - cost: The cost of a slot it makes; one that it opens and that costs less is raised to it.
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
        maximumDerivationWork = max(ScryptCost.maximumWorkOfOpening, cost.work)
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

    /// Whether the slot costs less memory or work than this unlocker asks for, and not more of the other.
    public func wantsRenewal(of slot: Keyslot) -> Bool {
        do {
            return try cost.exceeds(ScryptSlotParameters(decoding: slot.parameters).cost)
        } catch {
            // Such a slot cannot have been opened; there is nothing to raise.
            return false
        }
    }

    /// N · r · p of the slot; 0 for one that is not readable, which is refused before anything is derived.
    public func derivationWork(of slot: Keyslot) -> Int {
        do {
            return try ScryptSlotParameters(decoding: slot.parameters).cost.work
        } catch {
            // Trying the slot tells why.
            return 0
        }
    }

    /// The passphrase as it was given, byte for byte, when its normal form is another.
    public func olderForm() async throws -> (any StoreUnlocker)? {
        guard isNormalized else { return nil }
        let source = source
        let given = try await BlockingWork.run {
            let passphrase = try source.read()
            return try passphrase.normalized() == nil ? nil : passphrase
        }
        guard let given else { return nil }
        var older = PassphraseUnlocker(source: .bytes(given), cost: cost, label: slotLabel, random: random)
        older.isNormalized = false
        older.maximumDerivationWork = maximumDerivationWork
        return older
    }

    private func derive(_ parameters: ScryptSlotParameters) async throws -> SecretBytes {
        let (source, isNormalized) = (source, isNormalized)
        return try await BlockingWork.run {
            let passphrase = try source.read()
            return try Scrypt.deriveKey(
                from: isNormalized ? passphrase.normalized() ?? passphrase : passphrase,
                salt: parameters.salt,
                cost: parameters.cost,
                count: AES256GCM.keyCount
            )
        }
    }
}
