internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `sealedsync keys`: looks after what opens a store.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Look after what opens an encrypted store: passphrases, recovery codes, the data key.",
        discussion: """
            Every action works on the store in --store DIR. All but 'status' and 'destroy' need something that opens it \
            now. New passphrases come from --new-passphrase-file FILE, or are asked for on the terminal, twice; never \
            from the command line, which every user of the machine can read. With --json every action prints exactly one \
            JSON object.

            When a secret is in the wrong hands: 'revoke'.

            A kill at any instant leaves the keys before or after the change; 'status' says when a rotation is left to be \
            ended. No action touches the database but 'rotate', \
            'revoke' and 'destroy'.

            \(StoreOptions.unlockingHelp)
            """,
        subcommands: [
            KeysStatus.self, KeysAddPassphrase.self, KeysAddSecretService.self, KeysAddKeyring.self, KeysAddTPM.self,
            KeysChangePassphrase.self, KeysRemove.self, KeysRecoveryCode.self, KeysRevoke.self, KeysRotate.self,
            KeysDestroy.self,
        ]
    )
}

/// Where a new passphrase comes from.
struct NewPassphraseOptions: ParsableArguments {
    @Option(help: ArgumentHelp("A file that holds the new passphrase.", valueName: "file"))
    var newPassphraseFile: String?

    @Option(help: ArgumentHelp("A name for the slot; anyone who has the keyslot file can read it.", valueName: "text"))
    var label = ""

    /// The new passphrase, for a store that an unlocker opens now.
    func unlocker(of keyslots: Keyslots, openedBy unlocker: any StoreUnlocker) async throws -> PassphraseUnlocker {
        let passphrase: SecretBytes
        if let newPassphraseFile {
            passphrase = try await PassphraseFile.read(newPassphraseFile)
        } else {
            guard Terminal.isStandardInputTerminal else {
                throw ToolError(
                    "secretUnavailable",
                    "There is no terminal to ask on; give --new-passphrase-file FILE."
                )
            }
            // Nobody should have to type a new one twice to learn that the old one was wrong.
            try await KeyslotFile.read(at: keyslots.url).checkSlot(openedBy: unlocker)
            passphrase = try await PassphrasePrompt.askForNew()
        }
        WeakPassphrase.warn(passphrase)
        return PassphraseUnlocker(passphrase: passphrase, label: label)
    }
}

extension StoreOptions {
    /// The keyslot file, for what is done to it.
    func keyslots() throws -> Keyslots {
        guard try folder.hasKeyslots || folder.hasDatabase else {
            throw ToolError("notFound", "'\(store)' has no store; check the path.")
        }
        return folder.keyslots
    }
}

/// A slot as it is told to programs.
struct SlotAnswer: Encodable {
    var slot: Int
    var id: String
    var kind: String
    var label: String
    var created: String

    init(_ slot: Keyslot, number: Int) {
        self.slot = number
        id = "\(slot.id)"
        kind = "\(slot.kind)"
        label = slot.label
        created = slot.created.formatted(.iso8601)
    }

    /// For a person: `slot 2 (passphrase-scrypt, Ada's)`.
    var text: String {
        "slot \(slot) (\(kind)\(label.isEmpty ? "" : ", " + TextTable.printable(label, atMost: 30)))"
    }
}
