internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `keys remove`
struct KeysRemove: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Let a slot open a store no more.",
        discussion: """
            The number and the id of the slot are those of 'keys status'; the id means the same slot also when others have \
            gone since. What opens the store now, and what the --keep options name, \
            still does. **Every other slot goes as well**, because it cannot be given the new root key; the answer names \
            them. The data key stays, so this shuts out nobody who kept a copy of the store: when the secret of the slot is \
            in the wrong hands, use 'keys revoke' instead.
            """
    )

    @Argument(help: "The number or the id of the slot.")
    var slot: SlotName

    @OptionGroup var keep: KeepOptions

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let keyslots = try options.keyslots()
        let slots = try await KeyslotFile.read(at: keyslots.url).slots
        let place = try slot.place(in: slots)
        let removed = SlotAnswer(slots[place], number: place + 1)
        let removal = try await keep.withUnlockers(of: options, ifMissing: "") { unlocker, kept in
            if !yes {
                try Confirmation.ask(
                    "This removes \(removed.text) and every slot that none of the given secrets opens.",
                    word: "remove"
                )
            }
            return try await keyslots.remove(slots[place].id, keeping: [unlocker] + kept)
        }
        let answer = Answer(
            removed: removed,
            dropped: SlotChanges.numbered(removal.dropped, in: slots),
            kept: SlotChanges.numbered(removal.kept, in: slots)
        )
        if json { return try Console.write(json: answer) }
        Console.write("removed \(answer.removed.text)")
        for slot in answer.dropped { Console.write("dropped \(slot.text)") }
        for slot in answer.kept { Console.write("kept    \(slot.text)") }
    }

    /// Numbers are those from before.
    private struct Answer: Encodable {
        var removed: SlotAnswer
        var dropped: [SlotAnswer]
        var kept: [SlotAnswer]
    }
}
