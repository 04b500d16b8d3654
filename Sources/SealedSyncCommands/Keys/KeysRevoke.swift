internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `keys revoke`
struct KeysRevoke: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Shut out whoever has the secret of a slot: the answer to a leak.",
        discussion: """
            The numbers and ids of the slots are those of 'keys status'. Give ids when a run may be repeated, after an \
            interruption for instance: an id means the same slot or none, while a number may have become that of another \
            slot. Removes the slots, gives the store a new root key and a \
            new data key, and encrypts its database anew, in one run. Whoever kept a copy of the store and one of the \
            revoked secrets still reads that copy, and nothing that is written from now on.

            What opens the store now may be one of the slots that go; --new-passphrase-file puts a new passphrase in its \
            place. Every slot that stays needs the new root key: name the secrets of the others with the --keep options. \
            One that opens only slots that are to go is refused, and nothing is done: those are not the slots you meant. \
            When one is missing, nothing is done and the slot is named; with --drop-missing it goes as well.

            Writes the database anew beside the old one and puts it in its place: there must be room for both. A kill at \
            any instant leaves a store that opens and is before or after the change. Should the new database get lost at \
            that instant as well, 'keys status' says so, and 'keys rotate --data-key-only' ends the work.

            Attachments are encrypted anew afterwards, one by one. Should that fail or be interrupted, the exit status is 1 all \
            the same and 'attachmentsFailure' says why, beside the answer: the keys are changed, and the app does the rest.
            """
    )

    @Argument(help: "The number or the id of a slot.")
    var slot: [SlotName]

    @OptionGroup var keep: KeepOptions

    @Flag(help: "Let slots go whose secrets are not given.")
    var dropMissing = false

    @OptionGroup var new: NewPassphraseOptions

    @Flag(help: "Ask for a new passphrase on the terminal.")
    var askNewPassphrase = false

    @Flag(help: "Do not ask whether it is meant.")
    var yes = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    private var isReplaced: Bool { new.newPassphraseFile != nil || askNewPassphrase }

    func validate() throws {
        guard new.newPassphraseFile == nil || !askNewPassphrase else {
            throw ValidationError("'--new-passphrase-file' and '--ask-new-passphrase' exclude each other.")
        }
        guard isReplaced || new.label.isEmpty else {
            throw ValidationError("--label names the slot of a new passphrase; give --new-passphrase-file with it.")
        }
    }

    func perform() async throws {
        let keyslots = try options.keyslots()
        let slots = try await KeyslotFile.read(at: keyslots.url).slots
        let places = try Set(slot.map { try $0.place(in: slots) }).sorted()
        let names = places.map { SlotAnswer(slots[$0], number: $0 + 1).text }.joined(separator: ", ")
        let remedy = "The --keep options do the one, --drop-missing the other."
        let rotation = try await keep.withUnlockers(of: options, ifMissing: remedy) { unlocker, kept in
            let replacement = isReplaced ? try await new.unlocker(of: keyslots, openedBy: unlocker) : nil
            if !yes {
                let others = dropMissing ? " and every slot that none of the given secrets opens" : ""
                try Confirmation.ask("This revokes \(names)\(others).", word: "revoke")
            }
            return try await Interruption.cancelling { [folder = options.folder, dropMissing] bar in
                try await folder.revoke(
                    places.map { slots[$0].id },
                    authorizedBy: unlocker,
                    keeping: kept,
                    replacement: replacement,
                    dropMissing: dropMissing
                ) { bar.show($0) }
            }
        }
        let changes = SlotChanges(rotation, of: slots)
        let renewal = await AttachmentRenewal.run(in: options.folder, rotation.keyring)
        if json { return try renewal.end(with: RotationAnswer(rotation, changes, renewal)) }
        changes.write()
        Console.write("the keys are new; copies from before still open with what opened them")
        try renewal.end()
    }
}

/// What comes after a change of all keys: the attachments, whose keys could be read with the old ones.
struct AttachmentRenewal {
    /// How many have another key now; nil when not all of them do.
    var files: Int?
    /// Why not all of them do.
    var failure: Failure?

    /// Encrypts them anew. The keys are changed by now: what fails here is said on standard error, and left to the app.
    static func run(in folder: StoreFolder, _ keyring: StoreKeyring) async -> AttachmentRenewal {
        do {
            let files = try await Interruption.cancelling { bar in
                try await folder.reencryptAttachments(keyring) { bar.show(files: $0, of: $1) }
            }
            return AttachmentRenewal(files: files)
        } catch {
            let failure = Failure(error)
            Console.writeError(
                sentence:
                    "sealedsync: The keys are changed, and not all attachments are encrypted anew yet; the app does the rest when "
                    + "it opens the store. What failed: \(failure.text)"
            )
            return AttachmentRenewal(failure: failure)
        }
    }

    /// Ends the command for programs: with the answer, and with status 1 when not all is done.
    func end(with answer: RotationAnswer) throws {
        try Console.write(json: answer)
        if failure != nil { throw ExitCode.failure }
    }

    /// The same for people, who are told when there were any.
    func end() throws {
        if let files, files > 0 { Console.write("encrypted \(countText(files, "attachment")) anew") }
        if failure != nil { throw ExitCode.failure }
    }
}

/// What a rotation answers to programs.
struct RotationAnswer: Encodable {
    var rotated = true
    /// Whether those are shut out who kept an old keyslot file.
    var rootKeyRenewed = true
    var dataKeyCreated: String
    var revoked: [SlotAnswer]?
    var dropped: [SlotAnswer]?
    var kept: [SlotAnswer]?
    var added: SlotAnswer?
    /// How many attachments have another key now; missing when not all of them do.
    var filesEncryptedAnew: Int?
    /// Why not all of them do; the keys are changed all the same.
    var attachmentsFailure: Failure?

    init(_ rotation: KeyRotation, _ changes: SlotChanges, _ renewal: AttachmentRenewal) {
        (filesEncryptedAnew, attachmentsFailure) = (renewal.files, renewal.failure)
        dataKeyCreated = rotation.keyring.dataKeyCreated.formatted(.iso8601)
        (revoked, dropped, kept, added) = (changes.revoked, changes.dropped, changes.kept, changes.added)
    }

    /// For a rotation of the data key alone, which leaves every slot as it is.
    init(_ keyring: StoreKeyring) {
        rootKeyRenewed = false
        dataKeyCreated = keyring.dataKeyCreated.formatted(.iso8601)
    }
}
