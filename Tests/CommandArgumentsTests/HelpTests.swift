import Testing

@testable import CommandArguments

@Suite("Help")
struct HelpTests {
    private func help(_ commands: [any ParsableCommand.Type], columns: Int) throws -> String {
        var words = commands.map { $0.configuration.commandName }[...]
        var path = CommandPath(Harbour.self)
        path.descend(&words)
        try #require(words.isEmpty)
        return path.help(columns: columns)
    }

    @Test("of a program: what it is for, its commands, and how to read on")
    func program() throws {
        #expect(
            try help([], columns: 80) == """
                OVERVIEW: Look after the ships of a harbour.

                Start with 'harbour moor'.

                USAGE: harbour <subcommand>

                OPTIONS:
                  --version               Show the version.
                  -h, --help              Show help information.

                SUBCOMMANDS:
                  moor                    Give a ship its berth.
                  crane                   Work with the crane.
                  completion              Print a script with which a shell completes commands.

                  See 'harbour help <subcommand>' for detailed help.

                """
        )
    }

    @Test("of a command: usage on several lines, groups under their titles, values and defaults")
    func command() throws {
        #expect(
            try help([Moor.self], columns: 80) == """
                OVERVIEW: Give a ship its berth.

                USAGE: harbour moor <ship> <berth> --store <dir> [--port <port>]
                         [--draught-in-metres <draught-in-metres>] [--seed <seed>]
                         [--note <text>] [--flag <flag> ...] [--kind <kind>] [--json]

                ARGUMENTS:
                  <ship>                  The name of the ship.
                  <berth>                 The number of the berth.

                PLACES:
                  --store <dir>           The folder of the harbour.

                OPTIONS:
                  --port <port>           The port. (default: 8080)
                  --draught-in-metres <draught-in-metres>
                                          The draught in metres. (default: 2.5)
                  --seed <seed>           Repeat the random numbers of a run.
                  --note <text>           What else there is to say.
                  --flag <flag>           A flag to show; may be repeated.
                  --kind <kind>           The kind of ship. (values: cargo, passenger; default:
                                          cargo)
                  --json                  Print one JSON object.
                  --version               Show the version.
                  -h, --help              Show help information.

                """
        )
    }

    @Test("on a narrow terminal: parts are broken only where nothing else helps")
    func narrow() throws {
        #expect(
            try help([Crane.self, CraneLift.self], columns: 40) == """
                OVERVIEW: Lift what is under the crane.

                USAGE: harbour crane lift
                         (--to-ship|--to-quay)

                OPTIONS:
                  --to-ship/--to-quay
                        Where to.
                  --version
                        Show the version.
                  -h, --help
                        Show help information.

                """
        )
        let lines = try help([Moor.self], columns: 40).split(separator: "\n").filter { $0.contains("draught") }
        #expect(
            lines == [
                "         [--draught-in-metres", "         <draught-in-metres>]", "  --draught-in-metres",
                "  <draught-in-metres>", "        The draught in metres. (default:",
            ]
        )
    }

    @Test("a usage of its own stands as it is written")
    func ownUsage() throws {
        let text = try help([Crane.self, CraneStatus.self], columns: 80)
        #expect(
            text.contains(
                """
                USAGE: harbour crane status [--json]
                       harbour crane status --list

                """
            )
        )
    }

    @Test("no line is wider than asked for", arguments: [20, 40, 60, 80, 120])
    func width(columns: Int) throws {
        for commands in [[], [Moor.self], [Crane.self], [Crane.self, CraneLift.self], [Crane.self, CraneStatus.self]]
            as [[any ParsableCommand.Type]]
        {
            let lines = try help(commands, columns: columns).split(separator: "\n")
            #expect(lines.filter { $0.count > columns }.isEmpty)
        }
    }

    @Test(
        "texts are broken at spaces, and words where they can be read on",
        arguments: [
            ("one two three", 7, ["one two", "three"]),
            ("one two three", 13, ["one two three"]),
            ("one two three", 12, ["one two", "three"]),
            ("one\n\ntwo", 10, ["one", "", "two"]),
            ("", 10, [""]),
            ("one two", 0, ["o", "n", "e", "t", "w", "o"]),
            ("abcdefgh", 3, ["abc", "def", "gh"]),
            ("--one|--two|--three", 14, ["--one|--two|", "--three"]),
            ("[--long\u{A0}<value>]", 10, ["[--long", "<value>]"]),
            ("x [--long\u{A0}<value>]", 20, ["x [--long <value>]"]),
            ("łódź ßß", 4, ["łódź", "ßß"]),
        ]
    )
    func lines(text: String, width: Int, lines: [String]) {
        #expect(text.lines(ofWidth: width) == lines)
    }
}
