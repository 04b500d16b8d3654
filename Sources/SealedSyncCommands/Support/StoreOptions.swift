internal import CommandArguments
internal import Foundation
internal import PlatformKeyStores
internal import SealedSync

/// The options of every action on a store: where it is, what opens it, and how the answer is printed.
struct StoreOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the store.", valueName: "dir"))
    var store: String

    @Option(help: ArgumentHelp("A file that holds the passphrase.", valueName: "file"))
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "The secret file that opens the store. (default: store.secret in its folder)",
            valueName: "file"
        )
    )
    var secretFile: String?

    @Option(help: ArgumentHelp("A file that holds a recovery code.", valueName: "file"))
    var recoveryCodeFile: String?

    @OptionGroup var platform: PlatformKeyStoreOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    /// The variable a passphrase may be given in.
    static let passphraseVariable = "SEALEDSYNC_PASSPHRASE"

    /// What the help of a group of actions says about opening stores.
    static let unlockingHelp = """
        A store made with a passphrase needs it on every call: with --passphrase-file FILE or in the variable \
        \(passphraseVariable), which no other store takes notice of; on a terminal it is asked for. FILE may be a \
        descriptor, such as /dev/fd/3. Other processes of the same user may be able to read a variable; prefer the file.
        """

    func validate() throws {
        // A path of nothing would stand for the folder one is in.
        guard !store.isEmpty else { throw ValidationError("--store needs the name of a folder.") }
        let files = [passphraseFile, secretFile, recoveryCodeFile]
        guard !files.contains("") else {
            throw ValidationError("--passphrase-file, --secret-file and --recovery-code-file need the name of a file.")
        }
        guard files.filter({ $0 != nil }).count + platform.stores.count <= 1 else {
            throw ValidationError(
                "Give one of --passphrase-file, --secret-file, --recovery-code-file, --secret-service, --keyring and --tpm."
            )
        }
    }

    var folder: StoreFolder { StoreFolder(URL(fileURLWithPath: store, isDirectory: true)) }

    /// The file that opens a store made without a passphrase.
    var secretFileURL: URL {
        secretFile.map { URL(fileURLWithPath: $0) } ?? folder.url.appendingPathComponent("store.secret")
    }

    /// The options as they are given to the next call, for a line that proposes one.
    var repeated: String {
        "--store '\(store)'" + (passphraseFile.map { " --passphrase-file '\($0)'" } ?? "")
            + (secretFile.map { " --secret-file '\($0)'" } ?? "")
            + (recoveryCodeFile.map { " --recovery-code-file '\($0)'" } ?? "")
            + platform.stores.map { " \($0.option)" }.joined()
    }
}

extension StoreOptions {
    /// Unlocks the keys of the store.
    func unlock() async throws -> StoreKeyring {
        let keyring = try await withUnlocker { try await folder.unlock($0) }
        if keyring.isRotationOverdue {
            Console.writeError(
                sentence:
                    "sealedsync: A revocation or rotation was interrupted, and the data key is still the old one; "
                    + "'sealedsync keys rotate --data-key-only' ends it."
            )
        }
        return keyring
    }

    /// Runs work with what opens the store, and says which secret is wrong when one is.
    func withUnlocker<Value>(_ work: (any StoreUnlocker) async throws -> Value) async throws -> Value {
        let unlocker = try await unlocker()
        return try await explainingWrongSecrets(unlocker.slotKind) { try await work(unlocker) }
    }

    /// The same, for what only a passphrase will do for.
    func withPassphrase<Value>(_ work: (PassphraseUnlocker) async throws -> Value) async throws -> Value {
        guard recoveryCodeFile == nil, secretFile == nil, platform.stores.isEmpty else {
            throw ToolError("secretUnavailable", "This is about a passphrase; give it with --passphrase-file FILE.")
        }
        let passphrase = try await passphrase()
        return try await explainingWrongSecrets(.passphrase) { try await work(passphrase) }
    }

    private func explainingWrongSecrets<Value>(
        _ kind: SlotKind,
        _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await work()
        } catch let error as KeyError where error.code == .wrongSecret {
            let message =
                switch kind {
                case .passphrase: "the passphrase is wrong"
                case .recoveryCode: "the recovery code is not one of this store"
                case .secretService: "what the Secret Service keeps for this store opens none of its slots"
                case .kernelKeyring: "what the kernel's keyring has for this store opens none of its slots"
                case .tpm: "this TPM opens none of the store's slots: another one has sealed them, or it was cleared"
                default: "the secret file '\(secretFileURL.path)' is not the one of this store"
                }
            // The API's error tells that the file may have been altered; only the tool knows what the secret is called.
            throw ToolError(
                "\(error.code)",
                "\(message); if it is the right one, the keyslot file was altered: restore it from a backup"
            )
        }
    }

    /// What opens the store: what an option names, or else what the keyslot file has a slot for.
    private func unlocker() async throws -> any StoreUnlocker {
        if passphraseFile != nil { return try await passphrase() }
        if let recoveryCodeFile { return try await Self.recoveryCode(in: recoveryCodeFile) }
        if secretFile != nil { return SecretFileUnlocker(at: secretFileURL) }
        if let keyStore = platform.stores.first { return try keyStore.requiredUnlocker() }
        // Without a keyslot file the unlocking says what is missing.
        guard try folder.hasKeyslots else { return SecretFileUnlocker(at: secretFileURL) }
        let kinds = try await KeyslotFile.read(at: folder.keyslotsURL).slots.map(\.kind)
        guard kinds.contains(.passphrase) else { return SecretFileUnlocker(at: secretFileURL) }
        if kinds.contains(.secretFile), passphraseFromVariable() == nil { return SecretFileUnlocker(at: secretFileURL) }
        return try await passphrase()
    }

    /// The passphrase that opens the store: from the file, the variable, or the person at the terminal.
    private func passphrase() async throws -> PassphraseUnlocker {
        if let passphrase = try await passphraseFromFile() { return passphrase }
        if let passphrase = passphraseFromVariable() { return passphrase }
        guard Terminal.isStandardInputTerminal else {
            throw ToolError(
                "secretUnavailable",
                "This needs the passphrase; give --passphrase-file FILE or set \(Self.passphraseVariable)."
            )
        }
        return PassphraseUnlocker(passphrase: try await PassphrasePrompt.ask("Passphrase"))
    }

    static func recoveryCode(in file: String) async throws -> RecoveryCodeUnlocker {
        RecoveryCodeUnlocker(try RecoveryCode(typed: try await PassphraseFile.read(file)))
    }

    /// What is to open a new store: a passphrase when one is given in either way, or else a secret file.
    func newUnlocker() async throws -> NewUnlocker {
        if let passphraseFile {
            let passphrase = try await PassphraseFile.read(passphraseFile)
            WeakPassphrase.warn(passphrase)
            return NewUnlocker(PassphraseUnlocker(passphrase: passphrase), "the passphrase in \(passphraseFile)")
        }
        if let keyStore = platform.stores.first {
            return NewUnlocker(try keyStore.requiredUnlocker(), keyStore.name)
        }
        if secretFile == nil, let passphrase = passphraseFromVariable() {
            WeakPassphrase.warn(try SecretBytes(ProcessInfo.processInfo.environment[Self.passphraseVariable] ?? ""))
            return NewUnlocker(passphrase, "the passphrase that \(Self.passphraseVariable) holds now")
        }
        guard let secretFile else {
            let name = secretFileURL.lastPathComponent
            return NewUnlocker(
                SecretFileUnlocker(at: secretFileURL),
                "\(name) in the same folder",
                advice: [
                    "whoever gets the whole folder can read it: move \(name) to another",
                    "place and give --secret-file FILE, or make it anew with --passphrase-file FILE",
                ]
            )
        }
        return NewUnlocker(SecretFileUnlocker(at: secretFileURL), secretFile)
    }

    /// What opens a new store, and how that is said.
    struct NewUnlocker {
        let unlocker: any StoreUnlocker
        /// How that is said: by it the store is opened.
        let description: String
        /// How to do better, in lines for people; empty where there is nothing to say.
        let advice: [String]

        init(_ unlocker: any StoreUnlocker, _ description: String, advice: [String] = []) {
            self.unlocker = unlocker
            self.description = description
            self.advice = advice
        }

        /// Says by what the store is opened, and how to do better.
        func announce() {
            Console.write("it is opened by \(description)")
            for line in advice { Console.write(line) }
        }

        /// For programs: `passphrase`, or the kind of the slot.
        var name: String { unlocker.slotKind == .passphrase ? "passphrase" : "\(unlocker.slotKind)" }
    }

    private func passphraseFromFile() async throws -> PassphraseUnlocker? {
        guard let passphraseFile else { return nil }
        return PassphraseUnlocker(passphrase: try await PassphraseFile.read(passphraseFile))
    }

    private func passphraseFromVariable() -> PassphraseUnlocker? {
        let value = ProcessInfo.processInfo.environment[Self.passphraseVariable] ?? ""
        return value.isEmpty ? nil : PassphraseUnlocker(environmentVariable: Self.passphraseVariable)
    }
}
