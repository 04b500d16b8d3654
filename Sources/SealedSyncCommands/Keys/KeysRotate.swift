internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `keys rotate`
struct KeysRotate: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a store new keys, and encrypt its database anew.",
        discussion: """
            Renews the root key and the data key: whoever kept an old copy, and a secret that has been changed or removed \
            since, reads nothing that is written from now on. Every slot that stays needs the new root key: what opens the \
            store now is one, and the --keep options name the secrets of the others. When one is missing, nothing is done \
            and the slot is named; with --drop-missing it goes, and the answer names it. A secret that others have learned \
            and that still opens the store is the business of 'keys revoke'.

            With --data-key-only whoever can open one slot renews the data key, and every slot stays. That is for routine: \
            it shuts out nobody who kept an old keyslot file and a secret that opened it.

            Writes the database anew beside the old one and puts it in its place: there must be room for both. Backups keep \
            the keys they were made with. A kill at any instant leaves a store that opens; what the next opening cannot end \
            'keys status' reports.

            Attachments are encrypted anew afterwards, but not with --data-key-only. Should that fail, the exit status is 1 all \
            the same and 'attachmentsFailure' says why, beside the answer: the keys are changed, and the app does the rest.
            """
    )

    @OptionGroup var keep: KeepOptions

    @Flag(help: "Let slots go whose secrets are not given.")
    var dropMissing = false

    @Flag(
        help: """
            Renew the data key alone: routine, for whoever can open one slot. Shuts out nobody who kept an old keyslot file \
            and a secret that opened it.
            """
    )
    var dataKeyOnly = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func validate() throws {
        guard dataKeyOnly else { return }
        guard !dropMissing else {
            throw ValidationError(
                "'--drop-missing' and '--data-key-only' exclude each other: the data key alone is renewed with every slot."
            )
        }
        guard keep.isEmpty else {
            throw ValidationError("'--data-key-only' keeps every slot; it takes none of the --keep options.")
        }
    }

    func perform() async throws {
        let keyslots = try options.keyslots()
        if dataKeyOnly { return try await rotateDataKey() }
        let slots = try await KeyslotFile.read(at: keyslots.url).slots
        let remedy =
            "The --keep options do the one, --drop-missing the other; --data-key-only needs neither, and shuts "
            + "nobody out."
        let rotation = try await keep.withUnlockers(of: options, ifMissing: remedy) { unlocker, kept in
            try await Interruption.cancelling { [folder = options.folder, dropMissing] bar in
                try await folder.rotateKeys(keeping: [unlocker] + kept, dropMissing: dropMissing) { bar.show($0) }
            }
        }
        let changes = SlotChanges(rotation, of: slots)
        let renewal = await AttachmentRenewal.run(in: options.folder, rotation.keyring)
        if json { return try renewal.end(with: RotationAnswer(rotation, changes, renewal)) }
        Console.write("rotated; backups still open with what opened them before")
        changes.write()
        try renewal.end()
    }

    private func rotateDataKey() async throws {
        let folder = options.folder
        let keyring = try await options.withUnlocker { unlocker in
            try await Interruption.cancelling { bar in
                try await folder.rotateDataKey(unlocker) { bar.show($0) }
            }
        }
        if json { return try Console.write(json: RotationAnswer(keyring)) }
        Console.write("rotated the data key; backups still open with what opened them before")
        Console.write(
            sentence:
                "Whoever kept an old keyslot file and a secret that opened it is not shut out; 'keys rotate' without "
                + "--data-key-only does that, and 'keys revoke' after a leak."
        )
    }
}

/// `keys destroy`
struct KeysDestroy: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy",
        abstract: "Destroy the keys of a store, and with them its data, for good.",
        discussion: """
            The same as 'store wipe': the keyslot file is overwritten and removed first, without which nobody can read \
            the database, then the database and the secret file in the folder. Backups and copies are not reached: \
            whoever has one, and what opens it, still reads it.
            """
    )

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        try await StoreWipe.destroy(options, word: "destroy", yes: yes)
        if json { return try Console.write(json: Answer()) }
        Console.write("destroyed; copies and backups, if there are any, are still there")
    }

    private struct Answer: Encodable {
        var destroyed = true
    }
}
