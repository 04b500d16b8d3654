internal import CommandArguments
internal import SealedSync

/// What an action that made a slot answers.
struct NewSlotAnswer: Encodable {
    var added: SlotAnswer
    /// Said where one might think so: whether those are shut out who kept an old keyslot file.
    var rootKeyRenewed: Bool?

    init(_ slot: Keyslot, in keyslots: Keyslots) async throws {
        let slots = try await KeyslotFile.read(at: keyslots.url).slots
        added = SlotAnswer(slot, number: (slots.firstIndex { $0.id == slot.id } ?? slots.count) + 1)
    }
}

/// `keys add-passphrase`
struct KeysAddPassphrase: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "add-passphrase",
        abstract: "Let one more passphrase open a store.",
        discussion: "What opened the store before still does. The database is not touched."
    )

    @OptionGroup var new: NewPassphraseOptions
    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyslots = try options.keyslots()
        let slot = try await options.withUnlocker { unlocker in
            try await keyslots.add(new.unlocker(of: keyslots, openedBy: unlocker), authorizedBy: unlocker)
        }
        let answer = try await NewSlotAnswer(slot, in: keyslots)
        if json { return try Console.write(json: answer) }
        Console.write("added \(answer.added.text)")
    }
}

/// `keys change-passphrase`
struct KeysChangePassphrase: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "change-passphrase",
        abstract: "Put a new passphrase in the place of one that opens a store.",
        discussion: """
            The passphrase so far comes from --passphrase-file, or is asked for. \
            The database is not touched, and everything else that opens the store still does. This shuts out nobody who \
            has learned the old passphrase and kept a copy of the old keyslot file: such a one still opens the database, \
            today's included. When others may have learned it, use 'keys revoke' with --new-passphrase-file instead; after \
            a change that was made already, 'keys rotate'.
            """
    )

    @OptionGroup var new: NewPassphraseOptions
    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyslots = try options.keyslots()
        let slot = try await options.withPassphrase { old in
            try await keyslots.changePassphrase(from: old, to: new.unlocker(of: keyslots, openedBy: old))
        }
        var answer = try await NewSlotAnswer(slot, in: keyslots)
        answer.rootKeyRenewed = false
        if json { return try Console.write(json: answer) }
        Console.write("changed: \(answer.added.text) has the new passphrase")
        Console.write(
            sentence:
                "Whoever knows the old one and kept a copy of the old keyslot file is not shut out: 'keys revoke' and "
                + "'keys rotate' do that."
        )
    }
}

/// `keys recovery-code`
struct KeysRecoveryCode: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovery-code",
        abstract: "Make a code on paper that opens a store when everything else is lost.",
        discussion: """
            The code is shown once, on standard output: write it down, and keep it away from the machine. Later, \
            --recovery-code-file FILE opens the store with it. Small letters, spaces and missing hyphens are understood.
            """
    )

    @Option(help: ArgumentHelp("A name for the slot; anyone who has the keyslot file can read it.", valueName: "text"))
    var label = ""

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyslots = try options.keyslots()
        let code = try RecoveryCode.random()
        let slot = try await options.withUnlocker { unlocker in
            try await keyslots.add(RecoveryCodeUnlocker(code, label: label), authorizedBy: unlocker)
        }
        // What is printed is protected no longer: it is the one time that the code is text.
        let text = unsafe code.text.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
        let added = try await NewSlotAnswer(slot, in: keyslots).added
        if json { return try Console.write(json: Answer(added: added, recoveryCode: text)) }
        Console.write("added \(added.text); this code is shown only now:")
        Console.write("")
        Console.write("    \(text)")
    }

    private struct Answer: Encodable {
        var added: SlotAnswer
        var recoveryCode: String
    }
}
