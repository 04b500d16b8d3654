internal import CommandArguments
internal import SealedSync

/// `todo status`
struct TodoStatus: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show what waits, and what the store runs on."
    )

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let answer = try await TodoSession.with(options) { session in
            let status = try await session.context.status()
            let refusals = try await session.table.operationErrors().filter { !$0.isConflict }
            return Answer(
                items: try await session.store.read { try $0.count(Query(session.settings.table)) },
                pending: status.pending,
                conflicts: status.conflicts,
                failed: status.failed,
                failures: refusals.map { .init(id: $0.itemID, reason: $0.message, status: $0.status) },
                setAside: try await session.context.setAsideRows().map { .init(id: $0.itemID, reason: $0.reason) },
                unshownColumns: status.unshownColumns[session.settings.table] ?? [],
                server: session.settings.server,
                protocol: session.settings.protocolNumber,
                table: session.settings.table,
                engine: .init(
                    sqlcipher: session.store.engineVersion.cipher,
                    sqlite: session.store.engineVersion.sqlite
                )
            )
        }
        if json { return try Console.write(json: answer) }
        Console.write("\(countText(answer.items, "to-do")); changes that wait to be sent: \(answer.pending)")
        Console.write("\(answer.conflicts) in conflict, \(answer.failed) refused by the server")
        for row in answer.failures {
            let status = row.status.map { " (HTTP \($0))" } ?? ""
            Console.write("refused: \(Self.line(row.id, row.reason))\(status)")
        }
        if !answer.failures.isEmpty {
            Console.write("next: 'sealedsync todo retry ID|--all', edit the to-do, or 'sealedsync todo undo ID'")
        }
        for row in answer.setAside { Console.write("set aside: \(Self.line(row.id, row.reason))") }
        if !answer.unshownColumns.isEmpty {
            Console.write("columns that the server has not shown: \(answer.unshownColumns.joined(separator: ", "))")
        }
        Console.write("server   \(answer.server), protocol \(answer.protocol), table \(answer.table)")
        Console.write("engine   SQLCipher \(answer.engine.sqlcipher) on SQLite \(answer.engine.sqlite)")
    }

    /// What the server says, and may be anything, on one line.
    private static func line(_ id: String, _ reason: String) -> String {
        "\(TextTable.printable(id, atMost: 60)): \(TextTable.printable(reason, atMost: 400))"
    }

    private struct Answer: Encodable, Sendable {
        struct Engine: Encodable, Sendable {
            var sqlcipher: String
            var sqlite: String
        }

        struct Refusal: Encodable, Sendable {
            var id: String
            var reason: String
            var status: Int?
        }

        struct SetAside: Encodable, Sendable {
            var id: String
            var reason: String
        }

        var items: Int
        var pending: Int
        var conflicts: Int
        var failed: Int
        var failures: [Refusal]
        var setAside: [SetAside]
        var unshownColumns: [String]
        var server: String
        var `protocol`: Int
        var table: String
        var engine: Engine
    }
}
