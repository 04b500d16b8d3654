internal import CommandArguments
internal import Foundation
internal import PlatformKeyStores
internal import SealedSync

/// What opens the slots that stay when a store gets a new root key.
struct KeepOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A passphrase whose slot stays; may be repeated.", valueName: "file"))
    var keepPassphraseFile: [String] = []

    @Option(help: ArgumentHelp("A secret file whose slot stays; may be repeated.", valueName: "file"))
    var keepSecretFile: [String] = []

    @Option(help: ArgumentHelp("A recovery code whose slot stays; may be repeated.", valueName: "file"))
    var keepRecoveryCodeFile: [String] = []

    @Flag(help: "Slots that the Secret Service opens stay.")
    var keepSecretService = false

    @Flag(help: "Slots that the kernel's keyring opens stay.")
    var keepKeyring = false

    @Flag(help: "Slots that the machine's TPM opens stay.")
    var keepTPM = false

    var isEmpty: Bool { files.isEmpty && keyStores.isEmpty }

    private var keyStores: [PlatformKeyStore] {
        PlatformKeyStore.named(secretService: keepSecretService, keyring: keepKeyring, tpm: keepTPM)
    }

    private var files: [String] { keepPassphraseFile + keepSecretFile + keepRecoveryCodeFile }

    func validate() throws {
        guard !files.contains("") else {
            throw ValidationError(
                "--keep-passphrase-file, --keep-secret-file and --keep-recovery-code-file need the name of a file."
            )
        }
    }

    /// Runs work with what opens the store, and with all that the options name, and says which secret is wrong or missing.
    func withUnlockers<Value>(
        of options: StoreOptions,
        ifMissing remedy: String,
        _ work: (any StoreUnlocker, [any StoreUnlocker]) async throws -> Value
    ) async throws -> Value {
        let kept = try await unlockers()
        return try await options.withUnlocker { unlocker in
            do {
                return try await work(unlocker, kept.map(\.unlocker))
            } catch let error as KeyError where error.code == .wrongSecret {
                let keyslots = try await KeyslotFile.read(at: options.folder.keyslotsURL)
                for (place, unlocker) in kept where try await !keyslots.hasSlot(openedBy: unlocker) {
                    throw ToolError("\(error.code)", "The secret in \(place) opens no slot; nothing was changed.")
                }
                throw error
            } catch let error as KeyError where error.code == .missingUnlocker {
                throw ToolError("\(error.code)", "\(error.message) \(remedy)")
            }
        }
    }

    /// What the options name, as it stands in a sentence, and what opens with it.
    private func unlockers() async throws -> [(place: String, unlocker: any StoreUnlocker)] {
        var unlockers: [(String, any StoreUnlocker)] = keepSecretFile.map { file in
            ("'\(file)'", SecretFileUnlocker(at: URL(fileURLWithPath: file)))
        }
        for file in keepPassphraseFile {
            unlockers.append(("'\(file)'", PassphraseUnlocker(passphrase: try await PassphraseFile.read(file))))
        }
        for file in keepRecoveryCodeFile {
            unlockers.append(("'\(file)'", try await StoreOptions.recoveryCode(in: file)))
        }
        for keyStore in keyStores { unlockers.append((keyStore.name, try keyStore.requiredUnlocker())) }
        return unlockers
    }
}

extension KeyslotFile {
    fileprivate func hasSlot(openedBy unlocker: any StoreUnlocker) async throws -> Bool {
        for slot in slots where slot.kind == unlocker.slotKind {
            let secret = try await unlocker.secret(of: slot, storeID: storeID)
            if try rootKey(in: slot, secret: secret) != nil { return true }
        }
        return false
    }
}

/// What became of the slots of a store that got a new root key; the numbers are those from before, but for a new slot.
struct SlotChanges {
    let revoked, dropped, kept: [SlotAnswer]
    var added: SlotAnswer?

    init(_ rotation: KeyRotation, of slots: [Keyslot]) {
        revoked = Self.numbered(rotation.revoked, in: slots)
        dropped = Self.numbered(rotation.dropped, in: slots)
        kept = Self.numbered(rotation.kept, in: slots)
        added = rotation.added.map { slot in
            SlotAnswer(slot, number: (rotation.keyring.slots.firstIndex { $0.id == slot.id } ?? 0) + 1)
        }
    }

    static func numbered(_ those: [Keyslot], in slots: [Keyslot]) -> [SlotAnswer] {
        slots.enumerated().filter { _, slot in those.contains { $0.id == slot.id } }
            .map { SlotAnswer($1, number: $0 + 1) }
    }

    func write() {
        for slot in revoked { Console.write("revoked \(slot.text)") }
        for slot in dropped { Console.write("dropped \(slot.text)") }
        for slot in kept { Console.write("kept    \(slot.text)") }
        if let added { Console.write("added   \(added.text)") }
    }
}
