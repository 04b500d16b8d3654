internal import CommandArguments
internal import PlatformKeyStores
internal import SealedSync

/// `keys add-secret-service`
struct KeysAddSecretService: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-secret-service",
        abstract: "Let the desktop's Secret Service open a store.",
        discussion: """
            A new random secret lies in the default collection of GNOME Keyring, KWallet or what else serves it, and opens \
            the store with --secret-service while the collection is unlocked, by custom from the login on. \
            \(AddedKeyStoreOptions.help)
            """
    )

    @OptionGroup var added: AddedKeyStoreOptions
    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws { try await added.add(.secretService, to: options) }
}

/// `keys add-keyring`
struct KeysAddKeyring: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-keyring",
        abstract: "Let the kernel's keyring open a store, until the machine is started anew.",
        discussion: """
            A new random secret lies in the keyring of the user who calls this, never on a medium, and opens the store with \
            --keyring until the machine is started anew or the user has no process any more. \
            \(AddedKeyStoreOptions.help)
            """
    )

    @OptionGroup var added: AddedKeyStoreOptions
    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws { try await added.add(.keyring, to: options) }
}

/// `keys add-tpm`
struct KeysAddTPM: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-tpm",
        abstract: "Let the machine's TPM open a store.",
        discussion: """
            A new random secret, sealed by the TPM, lies in the keyslot file, and opens the store with --tpm on this machine \
            and on no other, until the TPM is cleared. It is the one at /dev/tpmrm0, or the one that the variable \
            \(PlatformKeyStore.transportVariable) names in the words of tpm2-tss. \
            \(AddedKeyStoreOptions.help)
            """
    )

    @OptionGroup var added: AddedKeyStoreOptions
    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws { try await added.add(.tpm, to: options) }
}

/// The options of the three, and what they do.
struct AddedKeyStoreOptions: ParsableArguments {
    static let help = """
        What opened the store before still does, and should: what is kept outside the store can be lost with what keeps it. \
        The database is not touched. A tool that was built without this says so.
        """

    @Option(help: ArgumentHelp("A name for the slot; anyone who has the keyslot file can read it.", valueName: "text"))
    var label = ""

    @Option(
        help: ArgumentHelp(
            "The number or the id of a slot whose place the new one takes, because its key is gone.",
            valueName: "slot"
        )
    )
    var replacing: SlotName?

    func add(_ keyStore: PlatformKeyStore, to options: StoreOptions) async throws {
        let new = try keyStore.requiredUnlocker(label: label)
        let keyslots = try options.keyslots()
        var replaced: Keyslot.ID?
        if let replacing {
            let slots = try await KeyslotFile.read(at: keyslots.url).slots
            replaced = slots[try replacing.place(in: slots)].id
        }
        let slot = try await options.withUnlocker { [replaced] unlocker in
            guard let replaced else { return try await keyslots.add(new, authorizedBy: unlocker) }
            return try await keyslots.replace(replaced, with: new, authorizedBy: unlocker)
        }
        let answer = try await NewSlotAnswer(slot, in: keyslots)
        if options.json { return try Console.write(json: answer) }
        Console.write("added \(answer.added.text); \(keyStore.option) opens the store with it")
    }
}
