internal import CommandArguments
internal import SealedSync

/// The answer of an action on one to-do.
private struct IDAnswer: Encodable {
    var id: String
}

/// `todo add`
struct TodoAdd: ToolCommand {
    static let configuration = CommandConfiguration(commandName: "add", abstract: "Add a to-do and print its id.")

    @Argument(help: "What there is to do.")
    var text: String

    @Option(help: "An id of your own; otherwise one is made.")
    var id: String?

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let (text, id) = (text, id)
        let added = try await TodoSession.with(options) { session in
            try await session.table.insert(["text": .string(text), "complete": false], id: id).id.stringValue ?? ""
        }
        if json { try Console.write(json: IDAnswer(id: added)) } else { Console.write(added) }
    }
}

/// An action that changes one to-do.
private func change(
    _ id: String,
    _ options: TodoOptions,
    _ verb: String,
    _ fields: [String: FieldValue]
) async throws {
    let changed = try await TodoSession.with(options) { session in
        var record = Record(id: try await session.item(id).id)
        for (name, value) in fields { record[name] = value }
        try await session.table.update(record)
        return record.id.stringValue ?? id
    }
    if options.json { try Console.write(json: IDAnswer(id: changed)) } else { Console.write("\(verb) \(changed)") }
}

/// `todo done`
struct TodoDone: ToolCommand {
    static let configuration = CommandConfiguration(commandName: "done", abstract: "Mark a to-do as done.")

    @Argument(help: "The id of the to-do.")
    var id: String

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws { try await change(id, options, "done:", ["complete": true]) }
}

/// `todo reopen`
struct TodoReopen: ToolCommand {
    static let configuration = CommandConfiguration(commandName: "reopen", abstract: "Mark a to-do as open again.")

    @Argument(help: "The id of the to-do.")
    var id: String

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws { try await change(id, options, "reopened", ["complete": false]) }
}

/// `todo edit`
struct TodoEdit: ToolCommand {
    static let configuration = CommandConfiguration(commandName: "edit", abstract: "Change the text of a to-do.")

    @Argument(help: "The id of the to-do.")
    var id: String

    @Argument(help: "The new text.")
    var text: String

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws { try await change(id, options, "edited", ["text": .string(text)]) }
}

/// `todo delete`
struct TodoDelete: ToolCommand {
    static let configuration = CommandConfiguration(commandName: "delete", abstract: "Delete a to-do.")

    @Argument(help: "The id of the to-do.")
    var id: String

    @OptionGroup var options: TodoOptions
    var json: Bool { options.json }

    func perform() async throws {
        let id = id
        let deleted = try await TodoSession.with(options) { session in
            let stored = try await session.item(id).id.stringValue ?? id
            try await session.table.delete(stored)
            return stored
        }
        if json { try Console.write(json: IDAnswer(id: deleted)) } else { Console.write("deleted \(deleted)") }
    }
}
