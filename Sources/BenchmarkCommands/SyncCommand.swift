internal import CommandArguments
internal import SQLCipherStore

/// Measures the engine against floors that do the same work with nothing around it.
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Measures local changes, pushes and pulls against the same work with nothing around it.",
        discussion: """
            Every round measures the engine and its floor, in turns first and second; what is shown of each is the median, \
            elapsed and in processor time of this process. The ratio is how many times the floor's time the engine takes. \
            Stores and twins are durable (synchronous FULL). The server is a process of its own on this machine.
            """
    )

    @Option(help: "The number of changes that are made, or pushed.")
    var changes = 10_000

    @Option(help: "The number of rows that are pulled.")
    var rows = 100_000

    @Option(help: "The number of changes that wait where many do.")
    var waiting = 100_000

    @Option(help: "How many rows the largest store has where growth is measured; a million takes minutes more.")
    var largest = 100_000

    @Option(help: "The number of rounds, after one that does not count.")
    var rounds = 3

    @Option(
        name: .customLong("case"),
        help: "Measure only the case of this name, or those whose names begin so; can be repeated."
    )
    var cases: [String] = []

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard changes >= 10, rows >= 10, waiting >= 10, largest >= 10 else {
            throw ValidationError("give at least 10 of each")
        }
        guard rounds >= 1 else { throw ValidationError("give at least one round") }
    }

    func run() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let bench = try SyncBench(SyncWorkload(rows: rows, changes: changes, waiting: waiting), folder: folder)
        do {
            try await measure(bench)
        } catch {
            try await bench.servers.stop()
            throw error
        }
        try await bench.servers.stop()
    }

    private func measure(_ bench: SyncBench) async throws {
        let growth = SyncGrowth(bench: bench, largest: largest)
        let chosen = ChosenCases(cases, of: bench.cases.map(\.name) + growth.names + [SyncBench.memoryName])
        guard !chosen.isEmpty else { throw ValidationError("no case has a name that begins so") }
        let engine = try EncryptedStore.linkedEngineVersion().description
        if !json { Report.writeHead(engine, bench.workload, rounds: rounds) }
        // The first, because the peak of the process's memory counts.
        var checks = chosen.contains(SyncBench.memoryName) ? try await bench.memoryChecks() : []
        var results: [SyncMeasurement] = []
        for each in bench.cases where chosen.contains(each.name) {
            let result = try await each.measure(rounds: rounds)
            if !json { Report.write(result) }
            results.append(result)
        }
        let grown = try await growth.measure(rounds: rounds, chosen.contains)
        checks += SyncBench.idleChecks(results) + [SyncBench.lateCheck(results)].compactMap(\.self) + grown.checks
        if json {
            let cases = results + grown.results
            try Report.writeJSON(SyncAnswer(engine: engine, rounds: rounds, cases: cases, checks: checks))
        } else {
            for result in grown.results { Report.write(result) }
            for check in checks { Report.write(check.line) }
        }
    }
}

/// What `--json` prints.
private struct SyncAnswer: Encodable {
    var engine: String
    var rounds: Int
    var cases: [SyncMeasurement]
    var checks: [GrowthCheck]
}
