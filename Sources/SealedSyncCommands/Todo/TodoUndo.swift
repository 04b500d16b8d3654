internal import CommandArguments
internal import SealedSync

/// `todo undo`
struct TodoUndo: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo",
        abstract: "Take back the change of a to-do that waits.",
        discussion: """
            A deletion that waits is taken back, with what waited before it. Any other change is given up: the to-do is \
            again as the server last had it, and one that the server never had is removed. It needs no network. What was \
            sent and may still arrive is taken back by the next push.
            """
    )

    @Argument(help: "The id of the to-do.")
    var id: String

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let id = id
        let undone = try await TodoSession.with(options) { try await $0.undo(id) }
        if json { return try Console.write(json: undone) }
        Console.write("took back the \(undone.undone) of \(undone.id)")
    }

}

/// What was taken back.
struct UndoneChange: Encodable, Sendable {
    var id: String
    /// `deletion` or `change`.
    var undone: String
}

extension TodoSession {
    /// Takes back the change of a to-do that waits.
    func undo(_ id: String) async throws -> UndoneChange {
        guard let operation = try await operation(of: id) else {
            do {
                // Where a deletion has cancelled an insert, nothing waits.
                try await table.undoDelete(id)
                return UndoneChange(id: id, undone: "deletion")
            } catch let error as SyncError where error.code == .invalidAction {
                throw ToolError("notFound", "No change of '\(id)' waits; 'sealedsync todo status' counts what does.")
            }
        }
        if operation.kind == .delete {
            try await table.undoDelete(operation.itemID)
            return UndoneChange(id: operation.itemID, undone: "deletion")
        }
        try await table.revert(operation.itemID)
        return UndoneChange(id: operation.itemID, undone: "change")
    }
}

/// `todo retry`
struct TodoRetry: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Let the next push send again what the server refused.",
        discussion: "A refused change is not sent again until the to-do is edited, or this is said. Conflicts stay."
    )

    @Argument(help: "The ids of the to-dos; or give --all.")
    var ids: [String] = []

    @Flag(help: "All that were refused.")
    var all = false

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let (ids, all) = (ids, all)
        guard ids.isEmpty == all else {
            throw ToolError(
                "invalidArguments",
                "Give the id of a to-do, or --all; 'sealedsync todo conflicts' shows both."
            )
        }
        let count = try await TodoSession.with(options) { session in
            guard !all else { return try await session.context.retryRefused() }
            for id in ids {
                guard let operation = try await session.operation(of: id), operation.state == .failed else {
                    throw ToolError("notFound", "'\(id)' was not refused; 'sealedsync todo conflicts' shows what was.")
                }
                try await session.context.retry(operation)
            }
            return ids.count
        }
        if json { return try Console.write(json: Answer(retried: count)) }
        Console.write(
            "\(countText(count, "change")) to be sent again; next: sealedsync todo push --store \(options.store)"
        )
    }

    private struct Answer: Encodable {
        var retried: Int
    }
}

extension TodoSession {
    /// The operation that waits for a to-do; nil when there is none.
    fileprivate func operation(of id: String) async throws -> TableOperation? {
        let comparison = table.definition.idComparison
        let key = RecordID.string(id).folded(for: comparison)
        return try await context.operations()
            .first { $0.table == settings.table && RecordID.string($0.itemID).folded(for: comparison) == key }
    }
}
