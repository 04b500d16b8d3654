internal import CommandArguments
internal import StoreConformance
internal import StoreHarnesses

/// Judges a store by the rules of the store contract.
struct ConformCommand: ParsableCommand {
    enum StoreName: String, ExpressibleByArgument, CaseIterable {
        case encrypted
        case memory
    }

    static let configuration = CommandConfiguration(
        commandName: "conform",
        abstract: "Judge a local store, or a server, by the rules of its contract.",
        usage: """
            sealedsync conform [--store encrypted|memory] [<options>]
            sealedsync conform --server <url> --protocol 3|2 [--table <name>] [<options>]
            """,
        discussion: """
            Exit status: 0 all rules hold, 1 a required rule is broken or a known deviation has expired, 64 wrong usage. \
            To judge a store of your own, see the product StoreConformance.

            With --server URL --protocol 3|2 a server is judged, through HTTP: rows are made in the table, changed, and \
            deleted afterwards; no other row is touched. With --list --protocol 3|2 its rules are listed.
            """
    )

    @Option(help: "The store: encrypted or memory.")
    var store = StoreName.encrypted

    @OptionGroup(title: "Servers") var server: ServerOptions

    @Flag(help: "List the rules instead of running them.")
    var list = false

    @Option(help: "Run the rules of this chapter; may be repeated.")
    var chapter: [String] = []

    @Option(help: "Run the rule with this id; may be repeated.")
    var rule: [String] = []

    @Option(help: "Repeat the random numbers of a run.")
    var seed: UInt64?

    @Option(help: "Give a rule up that comes no further for so many seconds, 1 to 86400.")
    var timeout = 60.0

    @Option(
        help: ArgumentHelp(
            "A JSON array of objects with 'rule' and 'reason': what the store or server is known to do otherwise.",
            valueName: "file"
        )
    )
    var deviations: String?

    @Flag(help: "Answer with one JSON object.")
    var json = false

    @Flag(help: "Answer with JUnit's XML.")
    var junit = false

    @Flag(help: "Answer in Markdown.")
    var markdown = false

    func validate() throws {
        guard [json, junit, markdown].count(where: { $0 }) <= 1 else {
            throw ValidationError("Choose one of '--json', '--junit' and '--markdown'.")
        }
        guard timeout >= 1, timeout <= 86_400 else {
            throw ValidationError("'--timeout' takes a number of seconds from 1 to 86400.")
        }
    }

    func run() async throws {
        var options = ConformanceOptions()
        options.lists = list
        options.chapters = chapter
        options.rules = rule
        options.seed = seed
        options.secondsPerRule = timeout
        options.deviations = deviations
        options.format = json ? .json : junit ? .junit : markdown ? .markdown : .text
        guard !server.isUsed else { return try await ServerJudgement(server: server, options: options).run() }
        let status =
            switch store {
            case .encrypted: await ConformanceMain.run(EncryptedStoreHarness(), options)
            case .memory: await ConformanceMain.run(MemoryStoreHarness(), options)
            }
        throw ExitCode(status)
    }
}
