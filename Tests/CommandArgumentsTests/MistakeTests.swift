import Testing

@testable import CommandArguments

@Suite("Command lines that are not understood")
struct MistakeTests {
    private static let moor = ["moor", "Ada", "3", "--store", "d"]

    @Test(
        "what is wrong is said, and what was probably meant",
        arguments: [
            // Words
            (["moon"], "Unknown subcommand 'moon'. Did you mean 'moor'?"),
            (["cra"], "Unknown subcommand 'cra'. Did you mean 'crane'?"),
            (["nonsense"], "Unknown subcommand 'nonsense'. There are: moor, crane, completion."),
            (["crane", "lfit"], "Unknown subcommand 'lfit'. Did you mean 'lift'?"),
            (["help", "nonsense"], "Unknown subcommand 'nonsense'. There are: moor, crane, completion."),
            (["help", "crane", "statsu"], "Unknown subcommand 'statsu'. Did you mean 'status'?"),
            (["help", "moor", "more"], "'harbour moor' has no subcommands, so no 'more'."),
            (["--json", "moor"], "Unknown option '--json'. Options stand behind the subcommand."),
            (["--verison"], "Unknown option '--verison'. Did you mean '--version'?"),
            // Options
            (moor + ["--prot", "1"], "Unknown option '--prot'. Did you mean '--port'?"),
            (moor + ["--jason=x"], "Unknown option '--jason'. Did you mean '--json'?"),
            (moor + ["-json"], "Unknown option '-json'. Did you mean '--json'?"),
            (moor + ["--draught"], "Unknown option '--draught'. Did you mean '--draught-in-metres'?"),
            (moor + ["--hepl"], "Unknown option '--hepl'. Did you mean '--help'?"),
            (moor + ["-x"], "Unknown option '-x'. Put '--' before a value that begins with a hyphen."),
            (["crane", "status", "--wind"], "Unknown option '--wind'."),
            (moor + ["--json=yes"], "The option '--json' takes no value, but 'yes' was given."),
            (["crane", "lift", "--to-ship", "--to-quay"], "'--to-ship' and '--to-quay' exclude each other."),
            // Values
            (moor + ["--port"], "Missing value for '--port <port>'."),
            (moor + ["--note", "--json"], "Missing value for '--note <text>'."),
            (
                moor + ["--note", "-x"],
                "Missing value for '--note <text>'. A value that begins with a hyphen is given as '--note=-x'."
            ),
            (moor + ["--port", "x"], "The value 'x' is invalid for '--port <port>': give a whole number."),
            (
                moor + ["--port", "65536"],
                "The value '65536' is invalid for '--port <port>': give a whole number from 0 to 65535."
            ),
            (
                moor + ["--port", "-5"],
                "The value '-5' is invalid for '--port <port>': give a whole number from 0 to 65535."
            ),
            (moor + ["--port="], "The value '' is invalid for '--port <port>': give a whole number."),
            (
                moor + ["--seed", "18446744073709551616"],
                "The value '18446744073709551616' is invalid for '--seed <seed>': give a whole number from 0 to"
                    + " 18446744073709551615."
            ),
            (["moor", "Ada", "1.5"], "The value '1.5' is invalid for '<berth>': give a whole number."),
            (
                moor + ["--draught-in-metres", "1e999"],
                "The value '1e999' is invalid for '--draught-in-metres <draught-in-metres>': give a number."
            ),
            (
                moor + ["--kind", "passanger"],
                "The value 'passanger' is invalid for '--kind <kind>': give one of cargo, passenger."
                    + " Did you mean 'passenger'?"
            ),
            (
                moor + ["--kind", "tanker"],
                "The value 'tanker' is invalid for '--kind <kind>': give one of cargo, passenger."
            ),
            // Too little and too much
            (["moor"], "Missing expected arguments: '<ship>'; '<berth>'; '--store <dir>'."),
            (["moor", "Ada", "3"], "Missing expected argument: '--store <dir>'."),
            (["crane", "lift"], "Missing expected argument: one of '--to-ship', '--to-quay'."),
            (moor + ["4"], "Unexpected argument '4'."),
            (moor + ["4", "5"], "2 unexpected arguments: '4', '5'."),
            (moor + ["1", "2", "3", "4", "5", "6"], "6 unexpected arguments: '1', '2', '3', '4', '5', …."),
            (["crane", "status", "now"], "Unexpected argument 'now'."),
            // What a command finds itself
            (["moor", "Ada", "3", "--store", ""], "--store needs the name of a folder."),
            (["moor", "Ada", "13", "--store", "d"], "There is no berth 13."),
            (["moor", "Vasa", "3", "--store", "d"], "The Vasa is in a museum."),
            // What is quoted cannot drive a terminal.
            (["\u{1B}[31m\n\u{202E}x"], "Unknown subcommand ' [31m  x'. There are: moor, crane, completion."),
            (
                moor + [String(repeating: "x", count: 200)],
                "Unexpected argument '\(String(repeating: "x", count: 99))…'."
            ),
        ] as [([String], String)]
    )
    func message(words: [String], message: String) async {
        let ending = await Harbour.ending(of: words, columns: 80)
        #expect(ending.usageError == message)
        #expect(ending.status == 64)
        #expect(ending.output.isEmpty)
    }

    @Test("is told with what the help says of it, the usage, and where to read more")
    func wholeText() async {
        let ending = await Harbour.ending(of: Self.moor + ["--kind", "tanker"], columns: 80)
        #expect(
            ending.errors == """
                Error: The value 'tanker' is invalid for '--kind <kind>': give one of cargo,
                passenger.
                  --kind <kind>           The kind of ship. (values: cargo, passenger; default:
                                          cargo)
                Usage: harbour moor <ship> <berth> --store <dir> [--port <port>]
                         [--draught-in-metres <draught-in-metres>] [--seed <seed>]
                         [--note <text>] [--flag <flag> ...] [--kind <kind>] [--json]
                  See 'harbour moor --help' for more information.

                """
        )
    }

    @Test("many words are near: three at most are proposed")
    func suggestions() {
        let options = ["--keep-file", "--keep-code", "--keep-name", "--keep-text", "--store", "-h"]
        #expect(Suggestions.near("--keep", among: options) == ["--keep-file", "--keep-code", "--keep-name"])
        // A beginning says more than a likeness.
        #expect(Suggestions.near("--prot", among: ["--port", "--protocol"]) == ["--protocol"])
        #expect(Suggestions.text(for: "--keep-fiel", among: options) == " Did you mean '--keep-file'?")
        #expect(Suggestions.text(for: "a", among: ["-h", "bc"]).isEmpty)
        #expect(Suggestions.text(for: "-", among: options).isEmpty)
        #expect(Suggestions.text(for: "ab", among: ["ax", "bb"]) == " Did you mean 'ax' or 'bb'?")
    }
}
