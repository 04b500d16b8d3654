import Testing

@testable import CommandArguments

@Suite("How command lines end")
struct EndingTests {
    private static let moor = ["moor", "Ada", "3", "--store", "d"]

    @Test("a command that does its work says nothing, with status 0")
    func done() async {
        let ending = await Harbour.ending(of: Self.moor)
        #expect(ending.status == 0 && ending.output.isEmpty && ending.errors.isEmpty && ending.usageError == nil)
    }

    @Test("a status that a command ends with is that of the process, without a word")
    func exitCode() async {
        let ending = await Harbour.ending(of: ["moor", "Titanic", "3", "--store", "d"])
        #expect(ending.status == 7 && ending.output.isEmpty && ending.errors.isEmpty && ending.usageError == nil)
    }

    @Test("any other error is printed, with status 1")
    func error() async {
        let ending = await Harbour.ending(of: ["moor", "Dutchman", "3", "--store", "d"])
        #expect(ending.status == 1 && ending.errors == "Error: nobody is on board\n" && ending.usageError == nil)
    }

    @Test("the version is that of the program, asked of any command", arguments: [[], ["crane"], ["moor"], moor])
    func version(words: [String]) async {
        let ending = await Harbour.ending(of: words + ["--version"])
        #expect(ending.status == 0 && ending.output == "1.2.3\n" && ending.errors.isEmpty)
    }

    @Test(
        "help is an answer, however it is asked for and whatever else is wrong",
        arguments: [
            ([], "harbour <subcommand>"), (["--help"], "harbour <subcommand>"), (["help"], "harbour <subcommand>"),
            (["-h", "moor"], "harbour <subcommand>"), (["help", "help"], "harbour <subcommand>"),
            (["crane"], "harbour crane <subcommand>"), (["help", "crane"], "harbour crane <subcommand>"),
            (["crane", "help"], "harbour crane <subcommand>"), (["crane", "-h"], "harbour crane <subcommand>"),
            (["moor", "--help"], "harbour moor <ship> <berth>"), (["help", "moor"], "harbour moor <ship> <berth>"),
            (["moor", "--nonsense", "-h"], "harbour moor <ship> <berth>"),
            (["help", "crane", "lift"], "harbour crane lift (--to-ship|--to-quay)"),
            (["crane", "help", "lift"], "harbour crane lift (--to-ship|--to-quay)"),
        ] as [([String], String)]
    )
    func help(words: [String], usage: String) async {
        let ending = await Harbour.ending(of: words, columns: 80)
        #expect(ending.output.contains("USAGE: \(usage)"), "\(ending.output)\(ending.errors)")
        #expect(ending.status == 0 && ending.errors.isEmpty)
    }
}
