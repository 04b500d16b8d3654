internal import Foundation
internal import SealedSync

/// The actions of `todo watch`, one a line of standard input.
struct TodoActions: Sendable {
    let todos: TodoSession
    let session: SyncSession
    let line: WatchStatusLine

    private struct Answer: Encodable, Sendable {
        var action: String
        var id: String?
        var items: [TodoItem]?
        var error: Failure?
    }

    /// Does what the lines say.
    ///
    /// - Returns: Whether one of them has asked for the end.
    func run() async -> Bool {
        for await text in Self.lines() {
            let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true).map(String.init)
            guard let action = words.first else { continue }
            if action == "quit" { return true }
            do {
                let answer = try await perform(action, words.count > 1 ? words[1] : "")
                line.answer(Self.text(answer), answer)
            } catch {
                let failure = Failure(error)
                line.answer(failure.text, Answer(action: action, error: failure), isError: true)
            }
            await line.show(todos, session)
        }
        return false
    }

    private func perform(_ action: String, _ rest: String) async throws -> Answer {
        var answer = Answer(action: action)
        switch action {
        case _ where rest.isEmpty && ["done", "reopen", "delete", "undo"].contains(action):
            throw ToolError("usage", "Of which to-do? Write: \(action) ID; 'list' shows the ids.")
        case "add":
            guard !rest.isEmpty else { throw ToolError("usage", "What is there to do? Write: add TEXT") }
            answer.id = try await todos.table.insert(["text": .string(rest), "complete": false]).id.stringValue
        case "done", "reopen": answer.id = try await change(rest, ["complete": .bool(action == "done")])
        case "edit":
            let parts = rest.split(separator: " ", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw ToolError("usage", "Write: edit ID TEXT") }
            answer.id = try await change(parts[0], ["text": .string(parts[1])])
        case "delete":
            let id = try await todos.item(rest).id.stringValue ?? rest
            try await todos.table.delete(id)
            answer.id = id
        case "undo":
            let undone = try await todos.undo(rest)
            answer.id = undone.id
        case "list": answer.items = try await todos.items(todos.table.query.ordered(by: "text", folded: true))
        case "sync":
            // Whoever asks does not want to wait for the next attempt.
            session.sync()
            Task { await session.reconnect() }
        case "suspend": session.suspend()
        case "resume": session.resume()
        default:
            throw ToolError(
                "usage",
                "There is no action '\(action)': add, done, reopen, edit, delete, undo, list, sync, suspend, resume, quit."
            )
        }
        return answer
    }

    private func change(_ id: String, _ fields: [String: FieldValue]) async throws -> String {
        var record = Record(id: try await todos.item(id).id)
        for (name, value) in fields { record[name] = value }
        try await todos.table.update(record)
        return record.id.stringValue ?? id
    }

    private static func text(_ answer: Answer) -> String {
        guard let items = answer.items else {
            return answer.action + (answer.id.map { " \($0)" } ?? "")
        }
        guard !items.isEmpty else { return "nothing to show" }
        var table = TextTable(["", "text", "state", "id"], flexible: 1)
        for item in items { table.add([item.complete ? "[x]" : "[ ]", item.text, item.syncState, item.id]) }
        return table.lines.joined(separator: "\n")
    }

    /// The lines of standard input, read by a thread of its own: it blocks in that. It does not read through the C
    /// library's stream, whose lock it would hold, and for which the end of the process would wait.
    private static func lines() -> AsyncStream<String> {
        AsyncStream { continuation in
            let thread = Thread {
                var rest: [UInt8] = []
                while true {
                    let data = FileHandle.standardInput.availableData
                    guard !data.isEmpty else { break }
                    let pieces = (rest + data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                    for line in pieces.dropLast() { continuation.yield(String(decoding: line, as: UTF8.self)) }
                    rest = pieces.last.map(Array.init) ?? []
                }
                if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
                continuation.finish()
            }
            thread.start()
        }
    }
}
