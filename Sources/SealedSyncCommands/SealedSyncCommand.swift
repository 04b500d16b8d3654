package import CommandArguments
internal import SealedSync

/// The command-line tool `sealedsync`.
package struct SealedSyncCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "sealedsync",
        abstract: "Encrypted offline-first data: a demonstration, a to-do list, and a server to try them with.",
        discussion: """
            Start with 'sealedsync demo'. Exit status: 0 done, 1 a failure was reported, 64 wrong usage.
            """,
        version: "0.1.0",
        subcommands: [
            DemoCommand.self, EmulatorCommand.self, TodoCommand.self, StoreCommand.self, KeysCommand.self,
            ConformCommand.self, CompletionCommand<SealedSyncCommand>.self,
        ]
    )

    package init() {}

    /// Keeps what the process has in memory out of core files; where the system does not allow that, says so and goes on.
    package static func forbidCoreDumps() {
        do {
            try CoreDumps.forbid()
        } catch {
            Console.writeError(sentence: "warning: \(error.message)")
        }
    }

    /// Wrong usage is told to programs in the form of every failure.
    package static func reportUsageError(_ message: String, arguments: [String]) throws {
        guard arguments.prefix(while: { $0 != "--" }).contains("--json") else { return }
        try Failure(ToolError("usage", message)).writeAnswer()
    }
}
