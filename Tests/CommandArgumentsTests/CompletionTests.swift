import Testing

@testable import CommandArguments

@Suite("Completion")
struct CompletionTests {
    private static let options = [
        "--store", "--port", "--draught-in-metres", "--seed", "--note", "--flag", "--kind", "--json", "--version",
        "--help",
    ]

    @Test(
        "offers what may stand next",
        arguments: [
            ([""], ["moor", "crane", "completion"]),
            ([], ["moor", "crane", "completion"]),
            (["-"], ["--version", "--help"]),
            (["crane", "--v"], ["--version"]),
            (["c"], ["crane", "completion"]),
            (["crane", ""], ["lift", "status"]),
            (["crane", "st"], ["status"]),
            (["help", "crane", ""], ["lift", "status"]),
            (["crane", "help", "l"], ["lift"]),
            (["help", "moor", ""], []),
            (["help", "moor", "-"], []),
            (["nonsense", ""], []),
            // Words that may be anything are left to the shell.
            (["moor", ""], []),
            (["moor", "Ada", "3", ""], options),
            (["moor", "--"], options),
            (["moor", "--st"], ["--store"]),
            // What was given need not be offered again, unless it may be repeated.
            (
                ["moor", "--json", "--flag", "red", "--port", "1", "-"],
                options.filter { !["--json", "--port"].contains($0) }
            ),
            (["moor", "--note", ""], []),
            (["moor", "--kind", ""], ["cargo", "passenger"]),
            (["moor", "--kind", "p"], ["passenger"]),
            (["moor", "--kind=p"], ["--kind=passenger"]),
            (["moor", "--kind", "=", "p"], ["passenger"]),
            (["moor", "--kind", "="], ["cargo", "passenger"]),
            (["moor", "--nonsense=x"], []),
            (["moor", "--", "-"], []),
            (["crane", "lift", ""], ["--to-ship", "--to-quay", "--version", "--help"]),
            (["crane", "lift", "--to-ship", "--to"], []),
            (["completion", ""], ["bash", "zsh", "fish"]),
        ] as [([String], [String])]
    )
    func candidates(words: [String], texts: [String]) {
        #expect(CompletionCandidate.candidates(for: words, of: Harbour.self).map(\.text) == texts)
    }

    @Test("answers a script with a line for each candidate, and only a script")
    func answer() async {
        let ending = await Harbour.ending(of: ["---complete", "crane", "l"])
        #expect(ending.output == "lift\tLift what is under the crane.\n" && ending.status == 0)
        #expect(await Harbour.ending(of: ["---complete", "completion", "z"]).output == "zsh\n")
        #expect(await Harbour.ending(of: ["crane", "---complete"]).status == 64)
    }
}
