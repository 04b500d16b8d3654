import SealedSync

struct TodoItem: SyncItem {
    var id = ""
    var text: String
    var complete = false
}

@main struct Quickstart {
    static func main() async throws {
        let context = try await SyncContext.open(
            .named("org.example.todos"),
            schema: [.init(TodoItem.self)],
            unlocker: .passphrase(SecretBytes(readLine() ?? "")),
            remote: .datasync(CommandLine.arguments[1])
        )
        let todos = try context.table(TodoItem.self)

        try await todos.insert(TodoItem(text: "Buy milk"))  // works offline: item and queued change are one transaction
        let report = try await context.sync()  // sends what waits, then fetches what changed

        for item in try await todos.where({ !$0.complete }).read() { print(item.text) }
        for error in report.notTaken { print("kept for later:", error.message) }
        await context.close()
    }
}
