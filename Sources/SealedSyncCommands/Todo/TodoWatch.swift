internal import CommandArguments
internal import Foundation
internal import SealedSync

/// `todo watch`
struct TodoWatch: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Keep the list in step until Ctrl-C, and take actions meanwhile.",
        discussion: """
            A store is open in one process only: while this runs, actions are given here, one a line on standard input: \
            add TEXT, done ID, reopen ID, edit ID TEXT, delete ID, undo ID, list, sync, suspend, resume, quit. A status line \
            says what it is at; where standard error is no terminal, each change of state is a line on standard output; \
            progress alone is none. With --json each change of state and each answer is one object. What is suspended stays \
            so for the next call. The end of standard input does not end it.
            """
    )

    @Option(help: ArgumentHelp("How often to ask for news.", valueName: "seconds"))
    var interval = 30

    @OptionGroup var network: NetworkOptions
    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func validate() throws {
        guard (1...86_400).contains(interval) else { throw ValidationError("--interval is 1 to 86400 seconds.") }
    }

    func perform() async throws {
        let signals = await TerminationSignals.takenOver()
        let (json, interval) = (json, interval)
        try await TodoSession.with(options, network: .used(network)) { todos in
            let session = todos.context.session
            session.start(
                keeping: [SessionPull(todos.table, queryID: TodoPull.defaultQueryID)],
                options: SessionOptions(pullInterval: .seconds(interval))
            )
            let line = WatchStatusLine(json: json)
            await withTaskGroup(of: Bool.self) { group in
                group.addTask {
                    await signals.first()
                    return true
                }
                group.addTask { await TodoActions(todos: todos, session: session, line: line).run() }
                group.addTask { await Self.follow(todos, session, line) }
                // The end of standard input leaves the rest running.
                while let isEnd = await group.next(), !isEnd {}
                group.cancelAll()
            }
            await session.close()
            line.end()
        }
    }

    /// Shows what the session is at, whenever that changes.
    ///
    /// - Returns: Whether that is the end of it.
    private static func follow(_ todos: TodoSession, _ session: SyncSession, _ line: WatchStatusLine) async -> Bool {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in session.states { await line.show(todos, session) } }
            group.addTask { for await _ in session.connectionStates { await line.show(todos, session) } }
            group.addTask {
                for await progress in session.progress(for: .both, mode: .reportIndefinitely) {
                    line.progressed(progress)
                    await line.show(todos, session)
                }
            }
            group.addTask {
                for await change in todos.store.changes() where !change.tables.isDisjoint(with: Self.queueTables) {
                    await line.show(todos, session)
                }
            }
            await group.waitForAll()
        }
        return true
    }

    private static let queueTables: Set = [SystemTables.operations.name, SystemTables.operationErrors.name]
}
