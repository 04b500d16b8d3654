/// A command of a program, with the commands that lead to it.
struct CommandPath: Sendable {
    private(set) var commands: [any ParsableCommand.Type]

    init(_ root: any ParsableCommand.Type) { commands = [root] }

    var root: any ParsableCommand.Type { commands[0] }

    var command: any ParsableCommand.Type { commands[commands.count - 1] }

    var configuration: CommandConfiguration { command.configuration }

    /// The words that call the command, such as `sealedsync todo add`.
    var name: String { commands.map { $0.configuration.commandName }.joined(separator: " ") }

    var subcommandNames: [String] { configuration.subcommands.map { $0.configuration.commandName } }

    /// Goes down for as long as the first word names a subcommand, and takes these words away.
    mutating func descend(_ words: inout ArraySlice<String>) {
        while let word = words.first,
            let next = configuration.subcommands.first(where: { $0.configuration.commandName == word })
        {
            commands.append(next)
            words.removeFirst()
        }
    }

    /// What every command of the program understands besides its own options.
    var commonDefinitions: [ArgumentDefinition] {
        let version = ArgumentDefinition(kind: .flag, names: ["--version"], help: "Show the version.")
        let help = ArgumentDefinition(kind: .flag, names: ["-h", "--help"], help: "Show help information.")
        return (root.configuration.version.isEmpty ? [] : [version]) + [help]
    }
}
