internal import CommandArguments
internal import SealedSync

/// `todo list`
struct TodoList: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the to-dos of this device.",
        discussion: "Reads the local store only. --search and the order go without case and accents: 'lodz' finds Łódź."
    )

    @Flag(help: "Only to-dos that are not done.")
    var open = false

    @Flag(help: "Only to-dos that are done.")
    var done = false

    @Option(help: "Only to-dos whose text contains this.")
    var search: String?

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func validate() throws {
        if open && done { throw ValidationError("Choose one of --open and --done.") }
    }

    func perform() async throws {
        let items = try await TodoSession.with(options) { session in
            var query = session.table.query.ordered(by: "text", folded: true)
            // A to-do from elsewhere may have no value here: it counts as open.
            if open { query = query.filtered(by: Column("complete") != true) }
            if done { query = query.filtered(by: Column("complete") == true) }
            if let search { query = query.filtered(by: Column("text").folded.contains(search)) }
            return try await session.items(query)
        }
        if json { return try Console.write(json: Answer(items: items)) }
        guard !items.isEmpty else { return Console.write("nothing to show") }
        var table = TextTable(["", "text", "state", "id"], flexible: 1)
        for item in items { table.add([item.complete ? "[x]" : "[ ]", item.text, item.syncState, item.id]) }
        for line in table.lines { Console.write(line) }
    }

    private struct Answer: Encodable {
        var items: [TodoItem]
    }
}
