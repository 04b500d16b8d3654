internal import CommandArguments
internal import Foundation
internal import SQLCipherStore
internal import Synchronization

/// Measures the store against its twin in C.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Measures the store against the same work in C.",
        discussion: """
            Every round measures the store and its twin, in turns first and second; what is shown of each is the \
            median. The twin runs on the same library, with the same SQL, page size, cache, log and settings for \
            durability, with prepared statements and nothing else. 'plain' is the twin without a key.
            """
    )

    @Option(help: "The number of rows.")
    var rows = 100_000

    @Option(help: "The number of rounds, after one that does not count.")
    var rounds = 5

    @Option(
        name: .customLong("case"),
        help: "Measure only the case of this name, or those whose names begin so; can be repeated."
    )
    var cases: [String] = []

    @Flag(help: "Measure processor time, all threads together: for a machine that does other work meanwhile.")
    var processorTime = false

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard rows >= 10 else { throw ValidationError("give at least 10 rows") }
        guard rounds >= 1 else { throw ValidationError("give at least one round") }
    }

    func run() async throws {
        Stopwatch.measuresProcessorTime.store(processorTime, ordering: .relaxed)
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let workload = Workload(rows: rows)
        let all = try BenchmarkCase.all(workload, folder)
        let names = ChosenCases(cases, of: all.map(\.name))
        let chosen = all.filter { names.contains($0.name) }
        guard !chosen.isEmpty else { throw ValidationError("no case has a name that begins so") }
        let engine = try EncryptedStore.linkedEngineVersion().description
        if !json { Report.writeHead(engine, rows: rows, rounds: rounds) }
        var results: [Measurement] = []
        for each in chosen {
            let result = try await each.measure(rounds: rounds)
            if !json { Report.write(result) }
            results.append(result)
        }
        if json { try Report.writeJSON(StoreAnswer(engine: engine, rows: rows, rounds: rounds, cases: results)) }
    }
}

/// What `--json` prints.
private struct StoreAnswer: Encodable {
    var engine: String
    var rows: Int
    var rounds: Int
    var cases: [Measurement]
}
