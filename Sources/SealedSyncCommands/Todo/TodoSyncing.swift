internal import CommandArguments
internal import SealedSync

/// What a push, a pull or both did, as the tool prints it.
private struct SyncAnswer: Encodable, Sendable {
    var pushed = 0
    var conflicts = 0
    var failed = 0
    var received = 0
    var deleted = 0
    var requests = 0
    var setAside: [SetAside] = []
    var failures: [String] = []

    /// A row that the pull left out.
    struct SetAside: Encodable, Sendable {
        var id: String
        var reason: String
    }

    private enum CodingKeys: String, CodingKey {
        case pushed
        case conflicts
        case failed
        case received
        case deleted
        case requests
        case setAside
    }

    /// Runs a push or a pull and adds up what it did; conflicts and refusals are those there are afterwards.
    static func running(
        _ options: TodoOptions,
        _ network: NetworkOptions,
        _ body: (TodoSession) async throws -> (push: PushReport?, pull: PullReport?)
    ) async throws -> SyncAnswer {
        try await TodoSession.with(options, network: .used(network)) { session in
            let (push, pull) = try await body(session)
            let errors = try await session.context.operationErrors()
            return SyncAnswer(
                pushed: push?.pushed ?? 0,
                conflicts: errors.filter(\.isConflict).count,
                failed: errors.filter { !$0.isConflict }.count,
                received: pull?.received ?? 0,
                deleted: pull?.deleted ?? 0,
                requests: (push?.requests ?? 0) + (pull?.requests ?? 0),
                setAside: pull?.setAside.map { SetAside(id: $0.id, reason: $0.reason) } ?? [],
                failures: errors.filter { !$0.isConflict }.map { "\($0.itemID): \($0.message)" }
            )
        }
    }

    /// Prints the answer. A change that the server refused makes the exit status 1; a conflict is not a failure, it waits
    /// for a decision.
    func report(_ options: TodoOptions) throws {
        if options.json {
            try Console.write(json: self)
        } else {
            Console.write(
                "pushed \(pushed), received \(received), deleted \(deleted) in \(countText(requests, "request"))"
            )
            if conflicts > 0 {
                Console.write(
                    "\(conflicts) in conflict: 'sealedsync todo conflicts --store \(options.store)' shows them"
                )
            }
        }
        for row in setAside {
            Console.writeError(sentence: "sealedsync: the row '\(row.id)' was set aside: \(row.reason)")
        }
        guard failed > 0 else { return }
        for failure in failures {
            Console.writeError(sentence: "sealedsync: the server refused the change of \(failure)")
        }
        Console.writeError(
            sentence: "sealedsync: refused changes stay queued and are sent again; edit the to-do, or"
                + " give its change up with 'sealedsync todo resolve ID --discard'"
        )
        throw ExitCode.failure
    }
}

/// `todo push`
struct TodoPush: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send the changes of this device.",
        discussion: "Exit status 1 when the server cannot be reached or refuses a change; conflicts are not failures."
    )

    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        try await SyncAnswer.running(options, network) { (try await $0.context.push(), nil) }.report(options)
    }
}

/// `todo pull`
struct TodoPull: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Fetch what changed on the server; sends waiting changes first."
    )

    @Option(help: ArgumentHelp("The name under which progress is remembered.", valueName: "id"))
    var queryID = TodoPull.defaultQueryID

    @Flag(help: "Fetch everything, changed or not.")
    var full = false

    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    static let defaultQueryID = "todos"

    func perform() async throws {
        try await SyncAnswer.running(options, network) { session in
            let query = session.table.query
            let report =
                full
                ? try await session.context.pullAll(query) : try await session.context.pull(query, queryID: queryID)
            return (report.push, report)
        }
        .report(options)
    }
}

/// `todo sync`
struct TodoSync: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Push, then pull.",
        discussion: "Exit status 1 when the server cannot be reached or refuses a change; conflicts are not failures."
    )

    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        try await SyncAnswer.running(options, network) { session in
            // A pull pushes what waits first.
            let report = try await session.context.pull(session.table.query, queryID: TodoPull.defaultQueryID)
            return (report.push, report)
        }
        .report(options)
    }
}
