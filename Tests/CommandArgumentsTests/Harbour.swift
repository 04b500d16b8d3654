import CommandArguments

/// A program for tests: it has each kind of property once, and does nothing.
struct Harbour: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "harbour",
        abstract: "Look after the ships of a harbour.",
        discussion: "Start with 'harbour moor'.",
        version: "1.2.3",
        subcommands: [Moor.self, Crane.self, CompletionCommand<Harbour>.self]
    )
}

struct Place: ParsableArguments {
    @Option(help: ArgumentHelp("The folder of the harbour.", valueName: "dir"))
    var store: String

    func validate() throws {
        guard !store.isEmpty else { throw ValidationError("--store needs the name of a folder.") }
    }
}

struct Moor: ParsableCommand {
    enum Kind: String, CaseIterable, ExpressibleByArgument {
        case cargo
        case passenger
    }

    static let configuration = CommandConfiguration(commandName: "moor", abstract: "Give a ship its berth.")

    @Argument(help: "The name of the ship.")
    var ship: String

    @Argument(help: "The number of the berth.")
    var berth: Int

    @OptionGroup(title: "Places") var place: Place

    @Option(help: "The port.")
    var port: UInt16 = 8_080

    @Option(help: "The draught in metres.")
    var draughtInMetres = 2.5

    @Option(help: "Repeat the random numbers of a run.")
    var seed: UInt64?

    @Option(help: ArgumentHelp("What else there is to say.", valueName: "text"))
    var note: String?

    @Option(name: .customLong("flag"), help: "A flag to show; may be repeated.")
    var flags: [String] = []

    @Option(help: "The kind of ship.")
    var kind = Kind.cargo

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard berth != 13 else { throw ValidationError("There is no berth 13.") }
    }

    func run() async throws {
        switch ship {
        case "Titanic": throw ExitCode(7)
        case "Vasa": throw ValidationError("The Vasa is in a museum.")
        case "Dutchman": throw Ghost()
        default: break
        }
    }

    struct Ghost: Error, CustomStringConvertible {
        var description: String { "nobody is on board" }
    }

    var values: [String: String] {
        [
            "ship": ship, "berth": "\(berth)", "store": place.store, "port": "\(port)",
            "draught": "\(draughtInMetres)", "seed": seed.map { "\($0)" } ?? "none", "note": note ?? "none",
            "flags": flags.joined(separator: " "), "kind": "\(kind)", "json": "\(json)",
        ]
    }
}

struct Crane: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "crane",
        abstract: "Work with the crane.",
        subcommands: [CraneLift.self, CraneStatus.self]
    )
}

struct CraneLift: ParsableCommand {
    enum Direction: EnumerableFlag {
        case toShip
        case toQuay
    }

    static let configuration = CommandConfiguration(commandName: "lift", abstract: "Lift what is under the crane.")

    @Flag(help: "Where to.")
    var direction: Direction

    func run() async throws {}
}

struct CraneStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what hangs on the crane.",
        usage: """
            harbour crane status [--json]
            harbour crane status --list
            """
    )

    @Flag(help: "List what hung there before.")
    var list = false

    func run() async throws {}
}
