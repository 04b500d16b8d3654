internal import CommandArguments
internal import SealedSync

/// `todo conflicts`
struct TodoConflicts: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Show the changes that the server did not take, with both sides."
    )

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let errors = try await TodoSession.with(options) { session in
            try await session.context.operationErrors().filter { $0.table == session.settings.table }
        }
        let answer = Answer(
            conflicts: errors.filter(\.isConflict).map(Conflict.init),
            failures: errors.filter { !$0.isConflict }
                .map {
                    Refusal(id: $0.itemID, status: $0.status, message: $0.message, request: .init($0.rawExchange))
                }
        )
        if json { return try Console.write(json: answer) }
        if errors.isEmpty { return Console.write("no conflicts") }
        for conflict in answer.conflicts {
            Console.write("\(TextTable.printable(conflict.id, atMost: 60)): \(conflict.message)")
            Console.write("  mine    \(conflict.mine.summary)")
            Console.write("  server  \(conflict.server?.summary ?? "has no such to-do")")
            if let request = conflict.request { Console.write("  request \(request.summary)") }
        }
        for refusal in answer.failures {
            Console.write(
                "\(TextTable.printable(refusal.id, atMost: 60)): refused: \(refusal.message)"
                    + (refusal.status.map { " (HTTP \($0))" } ?? "")
            )
            if let request = refusal.request { Console.write("  request \(request.summary)") }
        }
        Console.write("next: sealedsync todo resolve ID --keep-mine|--take-server|--discard --store \(options.store)")
    }

    private struct Answer: Encodable {
        var conflicts: [Conflict]
        var failures: [Refusal]
    }

    private struct Conflict: Encodable {
        var id: String
        var operation: String
        var message: String
        var mine: TodoSide
        var server: TodoSide?
        var request: TodoRequest?

        init(_ error: TableOperationError<Record>) {
            id = error.itemID
            operation = "\(error.kind)"
            message = error.message
            mine = TodoSide(error.item ?? Record(id: .string(error.itemID)), isDeleted: error.kind == .delete)
            server = error.serverItem.map { TodoSide($0, isDeleted: $0.isDeleted) }
            request = TodoRequest(error.rawExchange)
        }
    }

    private struct Refusal: Encodable {
        var id: String
        var status: Int?
        var message: String
        var request: TodoRequest?
    }
}

/// What was asked when the server did not take a change, without its content.
private struct TodoRequest: Encodable {
    var method: String
    var path: String
    var status: Int?

    /// Nil where it is not known.
    init?(_ exchange: RemoteExchange?) {
        guard let exchange else { return nil }
        (method, path, status) = (exchange.method, exchange.barePath, exchange.status)
    }

    /// For a person.
    var summary: String { "\(method) \(path): " + (status.map { "HTTP \($0)" } ?? "no answer") }
}

/// `todo resolve`
struct TodoResolve: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Settle a change that the server did not take.",
        discussion: """
            --keep-mine sends the local change over the server's row with the next push. --take-server replaces the \
            local to-do by the server's. --discard gives the change up: the to-do is again as the server last had it.
            """
    )

    enum Choice: String, EnumerableFlag {
        case keepMine
        case takeServer
        case discard

        var resolution: ConflictResolution<Record> {
            switch self {
            case .keepMine: .keepMine
            case .takeServer: .takeServer
            case .discard: .discard
            }
        }
    }

    @Argument(help: "The id of the to-do.")
    var id: String

    @Flag(help: "How to settle it.")
    var choice: Choice

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let (id, choice) = (id, choice)
        let resolved = try await TodoSession.with(options) { session in
            let comparison = session.table.definition.idComparison
            let key = RecordID.string(id).folded(for: comparison)
            let errors = try await session.context.operationErrors()
            guard
                let error = errors.last(where: {
                    $0.table == session.settings.table && RecordID.string($0.itemID).folded(for: comparison) == key
                })
            else {
                throw ToolError("notFound", "'\(id)' is not in conflict; 'sealedsync todo conflicts' shows what is.")
            }
            try await session.context.resolve(error, with: choice.resolution)
            return error.itemID
        }
        let name = choice == .keepMine ? "keep-mine" : choice == .takeServer ? "take-server" : "discard"
        if json { return try Console.write(json: Answer(id: resolved, resolution: name)) }
        Console.write("resolved \(resolved) (\(name)); next: sealedsync todo sync --store \(options.store)")
    }

    private struct Answer: Encodable {
        var id: String
        var resolution: String
    }
}
