internal import ArgumentParser
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
        let purged = try await TodoSession.with(options) { session in
            let name = session.settings.table
            let count = try await session.store.read { try $0.count(Query(name)) }
            if force {
                try await session.table.forcePurge()
            } else {
                try await session.table.purge(resettingDeltaTokens: true)
            }
            return count
        }
        if json {
            try Console.write(json: Answer(purged: purged))
        } else {
            Console.write("removed \(countText(purged, "to-do"))")
        }
    }

    private struct Answer: Encodable {
        var purged: Int
    }
}
