internal import CommandArguments
internal import SealedSync

/// `todo purge`
struct TodoPurge: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Remove all to-dos from this device; the server keeps them.",
        discussion: """
            Refused while changes wait to be sent. The next pull fetches everything again. --force also gives up the \
            changes that wait: the server never learns of them.
            """
    )

    @Flag(help: "Give up changes that were not sent.")
    var force = false

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let force = force
        let answer = try await TodoSession.with(options) { session in
            let name = session.settings.table
            let purged = try await session.store.read { try $0.count(Query(name)) }
            guard !force else { return Answer(purged: purged, givenUp: try await session.table.forcePurge()) }
            try await session.table.purge(resettingDeltaTokens: true)
            return Answer(purged: purged, givenUp: 0)
        }
        if json {
            try Console.write(json: answer)
        } else {
            Console.write("removed \(countText(answer.purged, "to-do"))")
            guard answer.givenUp > 0 else { return }
            Console.write("gave up \(countText(answer.givenUp, "change")); the server never learns of them")
        }
    }

    private struct Answer: Encodable, Sendable {
        var purged: Int
        var givenUp: Int
    }
}
