import Foundation
import SealedSync

// The code of the article "Getting started", word for word.

struct TodoItem: SyncItem {
    var id = ""  // an empty id is replaced by a new UUID
    var text: String
    var complete = false
    var due: Date?
}

func openingATodoList(_ passphrase: String) async throws -> SyncTable<TodoItem> {
    let context = try await SyncContext.open(
        .named("org.example.todos"),
        schema: [.init(TodoItem.self, .searchable(\.text))],
        unlocker: .passphrase(SecretBytes(passphrase)),
        remote: .datasync("https://todos.example.org")
    )
    let todos = try context.table(TodoItem.self)
    return todos
}

func changingATodoList(_ todos: SyncTable<TodoItem>, before tomorrow: Date, show: ([TodoItem]) -> Void) async throws {
    let milk = try await todos.insert(TodoItem(text: "Buy milk"))
    try await todos.update(milk.id) { $0.complete = true }
    try await todos.delete(milk.id)
    try await todos.undoDelete(milk.id)

    let open = todos.where { !$0.complete && $0.due < tomorrow }.ordered(by: \.text.folded)
    for item in try await open.read() { print(item.text) }

    for try await items in open.observe() {
        show(items)
    }
}

func syncingByItself(_ context: SyncContext) async {
    context.session.start(options: SessionOptions(pullInterval: .seconds(60)))
    await context.close()
}
