internal import CommandArguments
internal import SQLCipherStore

/// Measures what must not grow with the amount of data.
struct GrowthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "growth",
        abstract: "Measures what must not grow with the amount of data.",
        discussion: "Exit status: 0 when nothing grew beyond its limit, 1 otherwise."
    )

    @Option(help: "The number of rows.")
    var rows = 1_000_000

    @Option(help: "The number of operations that wait.")
    var operations = 100_000

    @Option(help: "The number of measurements of each kind.")
    var rounds = 50

    @Flag(help: "Print one JSON object.")
    var json = false

    func validate() throws {
        guard rows >= 1, operations >= 1, rounds >= 1 else { throw ValidationError("give positive numbers") }
    }

    func run() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let databases = try Databases(workload: Workload(rows: 0), folder: folder)
        let engine = try EncryptedStore.linkedEngineVersion().description
        // The first, because the peak of the process's memory counts.
        var (checks, file) = try await LargeWrite(databases, rows: rows).measure()
        checks.append(try await opening(file, databases, rounds: rounds))
        checks.append(try await pendingOperations(operations, databases, rounds: rounds))
        if json {
            try Report.writeJSON(GrowthAnswer(engine: engine, rows: rows, operations: operations, checks: checks))
        } else {
            Report.write("\(engine), \(rows) rows, \(operations) operations")
            for check in checks { Report.write(check.line) }
        }
        if checks.contains(where: { !$0.holds }) { throw ExitCode.failure }
    }
}

/// Something that must stay below a limit.
struct GrowthCheck: Sendable, Encodable {
    let name: String
    let value: Double
    let limit: Double
    let unit: String
    let holds: Bool

    init(_ name: String, _ value: Double, limit: Double, _ unit: String) {
        self.name = name
        self.value = value
        self.limit = limit
        self.unit = unit
        holds = value <= limit
    }

    var line: String {
        "\(holds ? "holds " : "BROKEN") \(name): \(Report.fixed(value)) \(unit), limit \(Report.fixed(limit))"
    }
}

/// What `--json` prints.
private struct GrowthAnswer: Encodable {
    var engine: String
    var rows: Int
    var operations: Int
    var checks: [GrowthCheck]
}
