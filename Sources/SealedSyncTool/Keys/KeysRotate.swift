internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `keys rotate`
struct KeysRotate: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Give a store a new data key, and encrypt its database anew.",
        discussion: """
            Everything that opens the store still does. Writes the database anew beside the old one and puts it in its \
            place: there must be room for both. Backups keep the key they were made with. A kill at any instant leaves a \
            store that opens, and the next opening ends what was begun.
            """
    )

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        let folder = options.folder
        let keyring = try await options.withUnlocker { unlocker in
            try await Interruption.cancelling { bar in
                try await folder.rotateDataKey(unlocker) { bar.show($0) }
            }
        }
        if json {
            return try Console.write(json: Answer(dataKeyCreated: keyring.dataKeyCreated.formatted(.iso8601)))
        }
        Console.write("rotated; backups still open with what opened them before")
    }

    private struct Answer: Encodable {
        var rotated = true
        var dataKeyCreated: String
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
