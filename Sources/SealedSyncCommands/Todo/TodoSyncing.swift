internal import CommandArguments
internal import SealedSync

/// What a push, a pull or both did, as the tool prints it.
struct SyncAnswer: Encodable, Sendable {
    var pushed = 0
    var conflicts = 0
    var failed = 0
    /// How many changes were not sent because others have to be settled first.
    var waiting = 0
    /// How many were sent again and again because others had written the row each time.
    var overtaken = 0
    var received = 0
    var deleted = 0
    var requests = 0
    var setAside: [SetAside] = []
    var failures: [String] = []
    /// Why not everything was done; what was done before stays.
    var error: Failure?

    /// A row that the pull left out.
    struct SetAside: Encodable, Sendable {
        var id: String
        var reason: String
    }

    private enum CodingKeys: String, CodingKey {
        case pushed
        case conflicts
        case failed
        case waiting
        case overtaken
        case received
        case deleted
        case requests
        case setAside
        case error
    }

    /// Runs a push or a pull and adds up what it did; conflicts and refusals are those there are afterwards. The first
    /// Ctrl-C ends it in good order.
    static func running(
        _ options: TodoOptions,
        _ network: NetworkOptions,
        _ body: @escaping @Sendable (TodoSession) async throws -> (push: PushReport?, pull: PullReport?)
    ) async throws -> SyncAnswer {
        try await Interruption.cancelling(leaving: "what was done before stays") {
            try await run(options, network, body)
        }
    }

    private static func run(
        _ options: TodoOptions,
        _ network: NetworkOptions,
        _ body: (TodoSession) async throws -> (push: PushReport?, pull: PullReport?)
    ) async throws -> SyncAnswer {
        try await TodoSession.with(options, network: .used(network)) { session in
            var push: PushReport?
            var pull: PullReport?
            var failure: Failure?
            do {
                (push, pull) = try await body(session)
            } catch let error as SyncError {
                (push, pull) = (error.push, error.pull)
                // Where nothing was done the error says all.
                guard push != nil || pull.map({ $0.received + $0.deleted + $0.setAside.count > 0 }) == true else {
                    throw error
                }
                failure = Failure(error)
            }
            let errors = try await session.context.operationErrors()
            return SyncAnswer(
                pushed: push?.pushed ?? 0,
                conflicts: errors.filter(\.isConflict).count,
                failed: errors.filter { !$0.isConflict }.count,
                waiting: push?.waiting ?? 0,
                overtaken: push?.overtaken ?? 0,
                received: pull?.received ?? 0,
                deleted: pull?.deleted ?? 0,
                requests: (push?.requests ?? 0) + (pull?.requests ?? 0),
                setAside: pull?.setAside.map { SetAside(id: $0.id, reason: $0.reason) } ?? [],
                failures: errors.filter { !$0.isConflict }
                    .map { "\($0.itemID): \($0.message)" + ($0.status.map { " (HTTP \($0))" } ?? "") },
                error: failure
            )
        }
    }

    /// What is left to do, a line for each kind of it.
    func notes(store: String) -> [String] {
        var lines: [String] = []
        if conflicts > 0 {
            lines.append("\(conflicts) in conflict: 'sealedsync todo conflicts --store \(store)' shows them")
        }
        if waiting > 0 {
            lines.append(
                "\(countText(waiting, "change")) not sent, because others have to go first: settle what 'sealedsync todo"
                    + " conflicts --store \(store)' shows, then push again"
            )
        }
        if overtaken > 0 {
            lines.append(
                "\(countText(overtaken, "change")) not taken, because others wrote the same row again and again, or it was"
                    + " edited while it was sent: push again"
            )
        }
        return lines
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
            for line in notes(store: options.store) { Console.write(line) }
        }
        for row in setAside {
            Console.writeError(sentence: "sealedsync: the row '\(row.id)' was set aside: \(row.reason)")
        }
        if let error { Console.writeError(sentence: "sealedsync: \(error.text)") }
        guard failed > 0 || error != nil else { return }
        for failure in failures {
            Console.writeError(sentence: "sealedsync: the server did not take the change of \(failure)")
        }
        if failed > 0 {
            Console.writeError(
                sentence:
                    "sealedsync: a refused change stays queued until the to-do is edited; 'sealedsync todo retry ID'"
                    + " sends it again as it is, 'sealedsync todo undo ID' gives it up; what the server failed on is"
                    + " tried again"
            )
        }
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

    @Flag(help: "Fetch everything, changed or not, and remove what the server no longer has.")
    var full = false

    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    static let defaultQueryID = "todos"

    func perform() async throws {
        try await SyncAnswer.running(options, network) { session in
            let report = try await session.pull(queryID, reconciles: full)
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
            let report = try await session.pull(TodoPull.defaultQueryID)
            return (report.push, report)
        }
        .report(options)
    }
}

extension TodoSession {
    /// Pulls and shows how far that has come.
    fileprivate func pull(_ queryID: String, reconciles: Bool = false) async throws -> PullReport {
        let bar = ProgressBar()
        defer { bar.end() }
        let options = PullOptions(reconciles: reconciles, progress: { bar.show($0) })
        return try await context.pull(table.query, queryID: queryID, options: options)
    }
}
