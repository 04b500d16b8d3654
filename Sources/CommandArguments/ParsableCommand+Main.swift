extension ParsableCommand {
    /// Runs the command line of the process to its end, and ends the process.
    ///
    /// Status 0: done; 1: an error was printed; 64: wrong usage; others as ``ExitCode`` says.
    @concurrent package static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let ending = await Self.ending(of: arguments)
        StandardStream.output.write(ending.output)
        StandardStream.errors.write(ending.errors)
        do {
            if let message = ending.usageError { try reportUsageError(message, arguments: arguments) }
        } catch {
            StandardStream.errors.write("Error: \(error)\n")
        }
        endProcess(ending.status)
    }

    /// Runs a command line to its end.
    static func ending(of arguments: [String], columns: Int? = nil) async -> CommandEnding {
        if let candidates = CompletionCandidate.answer(to: arguments, of: Self.self) {
            return CommandEnding(output: candidates)
        }
        var path = CommandPath(Self.self)
        do {
            try await path.command(for: arguments).run()
            return CommandEnding()
        } catch is HelpRequest {
            return CommandEnding(output: path.help(columns: columns ?? StandardStream.output.columns))
        } catch is VersionRequest {
            return CommandEnding(output: configuration.version + "\n")
        } catch let exit as ExitCode {
            return CommandEnding(status: exit.rawValue)
        } catch let mistake as UsageMistake {
            return CommandEnding(mistake, path, columns: columns)
        } catch let error as ValidationError {
            return CommandEnding(UsageMistake(message: error.message), path, columns: columns)
        } catch {
            return CommandEnding(status: ExitCode.failure.rawValue, errors: "Error: \(error)\n")
        }
    }
}

/// What a command line leads to: what is still to be printed, and the status of the process.
struct CommandEnding: Sendable {
    var status: Int32 = 0
    var output = ""
    var errors = ""
    /// The message alone, after wrong usage.
    var usageError: String?
}

extension CommandEnding {
    /// Wrong usage: what is wrong, what the help says about it, how it is right, and where to read more.
    fileprivate init(_ mistake: UsageMistake, _ path: CommandPath, columns: Int?) {
        // A program that searches the text finds a message on one line.
        let isRead = columns != nil || StandardStream.errors.isTerminal
        let columns = columns ?? StandardStream.errors.columns
        let message = "Error: \(mistake.message)"
        var lines = isRead ? message.lines(ofWidth: columns) : [message]
        for definition in mistake.about {
            lines += entryLines(definition.label, definition.helpText, columns: columns)
        }
        lines += path.usageLines("Usage:", columns: columns)
        let hint = "See '\(path.name) --help' for more information."
        lines += hint.lines(ofWidth: columns - 2).map { "  " + $0 }
        self.init(
            status: ExitCode.wrongUsage.rawValue,
            errors: lines.joined(separator: "\n") + "\n",
            usageError: mistake.message
        )
    }
}
