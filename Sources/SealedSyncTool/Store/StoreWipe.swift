internal import ArgumentParser
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
        guard try folderHasSomething() else {
            throw ToolError("notFound", "'\(options.store)' has no store; check the path")
        }
        if !yes { try confirm() }
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
        if json { return try Console.write(json: Answer(wiped: true)) }
        Console.write("wiped; copies and backups, if there are any, are still there")
    }

    private func folderHasSomething() throws -> Bool {
        try options.folder.hasKeyslots || options.folder.hasDatabase
            || FileManager.default.fileExists(atPath: options.secretFileURL.path)
    }

    private func confirm() throws {
        guard Terminal.isStandardInputTerminal else {
            throw ToolError("notConfirmed", "there is no terminal to ask on; give --yes to destroy the store for good")
        }
        let question =
            "This destroys the store in '\(options.store)' for good, with changes that were never sent. Type wipe to go on:"
        Console.writeError(sentence: question)
        guard readLine() == "wipe" else { throw ToolError("notConfirmed", "nothing was wiped") }
    }

    private struct Answer: Encodable {
        var wiped: Bool
    }
}
