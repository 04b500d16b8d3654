/// A set of options, flags and arguments that a command line fills in.
///
/// Every stored property bears one of the wrappers ``Option``, ``Flag``, ``Argument`` and ``OptionGroup``; one without
/// is never filled in. Values can be read once the command line was parsed.
package protocol ParsableArguments: Sendable {
    init()

    /// Checks what single values cannot tell, after all of them are there.
    ///
    /// - Throws: ``ValidationError`` with a sentence that says what to give instead.
    func validate() throws
}

extension ParsableArguments {
    package func validate() throws {}
}

/// A command or a group of commands, found by its words on the command line.
///
/// A command with subcommands has no options and arguments of its own.
package protocol ParsableCommand: ParsableArguments {
    /// How the command is called, and what its help says.
    static var configuration: CommandConfiguration { get }

    /// Does the work. Without an implementation of its own a command shows its help.
    ///
    /// - Throws: ``ValidationError`` for wrong usage, ``ExitCode`` to end without a further word; any other error is
    ///   printed, and ends the process with status 1.
    func run() async throws

    /// Called on the program's outermost command when wrong usage was told on standard error, before the process ends:
    /// here a program repeats it in a form of its own. Does nothing by itself.
    static func reportUsageError(_ message: String, arguments: [String]) throws
}

extension ParsableCommand {
    package func run() async throws { throw HelpRequest() }

    package static func reportUsageError(_ message: String, arguments: [String]) throws {}
}

/// How a command is called, and what its help says.
package struct CommandConfiguration: Sendable {
    let commandName: String
    let abstract: String
    let usage: String?
    let discussion: String
    let version: String
    let subcommands: [any ParsableCommand.Type]

    /// - Parameters:
    ///   - commandName: The word that calls the command.
    ///   - abstract: One sentence, also shown in the list of subcommands.
    ///   - usage: The lines of the usage when the derived one would say less.
    ///   - discussion: Paragraphs; lines are broken to fit, so they should end only with their paragraphs.
    ///   - version: What `--version` answers; counts for the program's outermost command only.
    ///   - subcommands: The commands of a group, in the order of the help.
    package init(
        commandName: String,
        abstract: String,
        usage: String? = nil,
        discussion: String = "",
        version: String = "",
        subcommands: [any ParsableCommand.Type] = []
    ) {
        self.commandName = commandName
        self.abstract = abstract
        self.usage = usage
        self.discussion = discussion
        self.version = version
        self.subcommands = subcommands
    }
}
