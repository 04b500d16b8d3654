internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `store wipe`
struct StoreWipe: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "wipe",
        abstract: "Destroy a store for good.",
        discussion: """
            Overwrites and removes the keyslot file first, without which nobody can read the database, then removes the \
            database and what belongs to it, and the secret file in the folder. Other files and the folder stay. The \
            secret is not needed. Backups and copies are not reached: whoever has one, and what opens it, still reads \
            it.
            """
    )

    @Flag(help: "Do not ask.")
    var yes = false

    @OptionGroup var options: StoreOptions
    var json: Bool { options.json }

    func perform() async throws {
        try await Self.destroy(options, word: "wipe", yes: yes)
        if json { return try Console.write(json: Answer(wiped: true)) }
        Console.write("wiped; copies and backups, if there are any, are still there")
    }

    /// Destroys a store, after a question that a word answers.
    static func destroy(_ options: StoreOptions, word: String, yes: Bool) async throws {
        guard try hasSomething(options) else {
            throw ToolError("notFound", "'\(options.store)' has no store; check the path")
        }
        if !yes {
            try Confirmation.ask(
                "This destroys the store in '\(options.store)' for good, with changes that were never sent.",
                word: word
            )
        }
        let folder = options.folder
        try await Interruption.cancelling {
            // After a wipe that was killed, the secret file may be all that is left.
            do {
                try await folder.wipe()
            } catch let error as StoreError where error.code == .notFound {
                return
            }
        }
        // Only the file that the tool itself has made there: one in another place may open other stores.
        if options.secretFile == nil { try await SecretFileUnlocker(at: options.secretFileURL).destroySecret() }
    }

    private static func hasSomething(_ options: StoreOptions) throws -> Bool {
        try options.folder.hasKeyslots || options.folder.hasDatabase
            || FileManager.default.fileExists(atPath: options.secretFileURL.path)
    }

    private struct Answer: Encodable {
        var wiped: Bool
    }
}
