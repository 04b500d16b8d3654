import BenchmarkCommands
import SealedSyncCommands
import Testing

@testable import CommandArguments

@Suite("The commands of both programs")
struct CommandTreeTests {
    private static let paths = [CommandPath(SealedSyncCommand.self), CommandPath(BenchmarkCommand.self)]
        .flatMap(commandPaths)

    @Test("are all there")
    func count() {
        let names = Self.paths.map(\.name)
        #expect(names.count > 40 && Set(names).count == names.count)
        for name in ["sealedsync todo add", "sealedsync keys destroy", "sealedsync-bench growth"] {
            #expect(names.contains(name))
        }
    }

    @Test("are declared without mistakes", arguments: paths)
    func declaration(path: CommandPath) {
        #expect(declarationMistakes(path) == [])
    }

    @Test("say what they are for, and what each option is for", arguments: paths)
    func words(path: CommandPath) {
        let texts = [path.configuration.abstract] + path.command.init().definitions.map(\.help.abstract)
        #expect(texts.filter { !$0.hasSuffix(".") && !$0.hasSuffix(")") } == [])
    }

    @Test("have help that no line of is too wide", arguments: paths, [40, 80, 120])
    func help(path: CommandPath, columns: Int) {
        let help = path.help(columns: columns)
        #expect(help.split(separator: "\n").filter { $0.count > columns } == [])
        for definition in path.command.init().definitions {
            #expect(definition.names.allSatisfy(help.contains))
        }
    }

    @Test("a declaration with mistakes is found")
    func mistakes() {
        #expect(
            declarationMistakes(CommandPath(Wreck.self)) == [
                "wreck: 'speed' has no wrapper", "wreck: 'crew' has no wrapper", "wreck: two of '--help'",
                "wreck: two of '--store'", "wreck: two of 'stern'", "wreck: options beside subcommands",
            ]
        )
    }
}

extension CommandPath: CustomTestStringConvertible {
    /// What a failure calls the case.
    public var testDescription: String { name }
}

/// A command and everything below it.
private func commandPaths(_ path: CommandPath) -> [CommandPath] {
    [path]
        + path.subcommandNames.flatMap { name in
            var (next, words) = (path, [name][...])
            next.descend(&words)
            return commandPaths(next)
        }
}

/// What the compiler cannot see: properties that nobody fills in, and names that only the first of two can have.
private func declarationMistakes(_ path: CommandPath) -> [String] {
    let command = path.command.init()
    let names = (command.definitions + path.commonDefinitions).flatMap(\.names) + path.subcommandNames
    var mistakes = unwrappedProperties(of: command).map { "'\($0)' has no wrapper" }
    let twice = Set(names.filter { name in names.count { $0 == name } > 1 })
    mistakes += twice.sorted().map { "two of '\($0)'" }
    if !path.subcommandNames.isEmpty, !command.definitions.isEmpty { mistakes.append("options beside subcommands") }
    return mistakes.map { "\(path.name): \($0)" }
}

private func unwrappedProperties(of arguments: any ParsableArguments) -> [String] {
    Mirror(reflecting: arguments).children
        .flatMap { child in
            let group = Mirror(reflecting: child.value).descendant("wrappedValue") as? any ParsableArguments
            if let group { return unwrappedProperties(of: group) }
            return child.value is any ArgumentSource ? [] : [child.label ?? "a property"]
        }
}

/// A command with every mistake that a declaration can have.
private struct Wreck: ParsableCommand {
    struct Hull: ParsableArguments {
        @Option(help: "The folder.")
        var store = ""

        var crew = 0
    }

    static let configuration = CommandConfiguration(
        commandName: "wreck",
        abstract: "Nothing works.",
        subcommands: [Stern.self, Stern.self]
    )

    struct Stern: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "stern", abstract: "The rest.")
    }

    var speed = 0

    @Option(help: "The folder.")
    var store = ""

    @Flag(help: "Ask for help.")
    var help = false

    @OptionGroup var hull: Hull
}
