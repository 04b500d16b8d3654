internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `keys remove`
struct KeysRemove: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Let a slot open a store no more.",
        discussion: """
            The number of the slot is that of 'keys status'. What opens the store now, and what the --keep options name, \
            still does. **Every other slot goes as well**, because it cannot be given the new root key; the answer names \
            them. Go on with 'keys rotate' when the removed secret is in the wrong hands.
            """
    )

    @Argument(help: "The number of the slot.")
    var slot: Int

    @Option(help: ArgumentHelp("A passphrase whose slot stays; may be repeated.", valueName: "file"))
    var keepPassphraseFile: [String] = []

    @Option(help: ArgumentHelp("A secret file whose slot stays; may be repeated.", valueName: "file"))
    var keepSecretFile: [String] = []

    @Option(help: ArgumentHelp("A recovery code whose slot stays; may be repeated.", valueName: "file"))
    var keepRecoveryCodeFile: [String] = []

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyslots = try options.keyslots()
        let slots = try await KeyslotFile.read(at: keyslots.url).slots
        guard slots.indices.contains(slot - 1) else {
            throw ToolError("notFound", "there is no slot \(slot); the store has slots 1 to \(slots.count)")
        }
        let removed = SlotAnswer(slots[slot - 1], number: slot)
        let kept = try await keptUnlockers()
        let removal = try await options.withUnlocker { unlocker in
            if !yes {
                try Confirmation.ask(
                    "This removes \(removed.text) and every slot that none of the given secrets opens.",
                    word: "remove"
                )
            }
            do {
                return try await keyslots.remove(slots[slot - 1].id, keeping: [unlocker] + kept)
            } catch let error as KeyError where error.code == .wrongSecret && !kept.isEmpty {
                throw ToolError("wrongSecret", "one of the secrets given opens no slot; nothing was changed")
            }
        }
        func numbered(_ those: [Keyslot]) -> [SlotAnswer] {
            slots.enumerated().filter { _, slot in those.contains { $0.id == slot.id } }
                .map { SlotAnswer($1, number: $0 + 1) }
        }
        let answer = Answer(removed: removed, dropped: numbered(removal.dropped), kept: numbered(removal.kept))
        if json { return try Console.write(json: answer) }
        Console.write("removed \(answer.removed.text)")
        for slot in answer.dropped { Console.write("dropped \(slot.text)") }
        for slot in answer.kept { Console.write("kept    \(slot.text)") }
    }

    private func keptUnlockers() async throws -> [any StoreUnlocker] {
        var unlockers: [any StoreUnlocker] = keepSecretFile.map { SecretFileUnlocker(at: URL(fileURLWithPath: $0)) }
        for file in keepPassphraseFile {
            unlockers.append(PassphraseUnlocker(passphrase: try await PassphraseFile.read(file)))
        }
        for file in keepRecoveryCodeFile { unlockers.append(try await StoreOptions.recoveryCode(in: file)) }
        return unlockers
    }

    /// Numbers are those from before.
    private struct Answer: Encodable {
        var removed: SlotAnswer
        var dropped: [SlotAnswer]
        var kept: [SlotAnswer]
    }
}
