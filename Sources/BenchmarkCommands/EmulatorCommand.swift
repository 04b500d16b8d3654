internal import CommandArguments

/// Measures the emulator on a large table.
struct EmulatorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "emulator",
        abstract: "Measures the emulator's pages on a large table.",
        discussion: "Exit status: 0 when nothing took longer than its limit, 1 otherwise."
    )

    @Option(help: "The number of rows.")
    var rows = 100_000

    @Option(help: "The number of measurements of each kind.")
    var rounds = 20

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard rows >= 2_000, rounds >= 1 else { throw ValidationError("give at least 2000 rows and 1 round") }
    }

    func run() async throws {
        let checks = try await EmulatorPages(rows: rows, rounds: rounds).measure()
        if json {
            try Report.writeJSON(Answer(rows: rows, checks: checks))
        } else {
            Report.write("\(rows) rows")
            for check in checks { Report.write(check.line) }
        }
        if checks.contains(where: { !$0.holds }) { throw ExitCode.failure }
    }

    /// What `--json` prints.
    private struct Answer: Encodable {
        var rows: Int
        var checks: [GrowthCheck]
    }
}
