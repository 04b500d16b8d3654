#if !canImport(SwiftUI)
import SealedSync

/// The list in a terminal, where there is no SwiftUI: `todo ADDRESS`. The first line is the passphrase, each further one an
/// action; after each the open to-dos are shown, and what the app has to say.
@main struct TodoTerminal {
    @MainActor static func main() async throws {
        guard CommandLine.arguments.count == 2 else { return print("usage: todo ADDRESS") }
        let context = try await openTodos(readLine() ?? "", CommandLine.arguments[1])
        let list = try TodoList(context)
        let open = try context.table(TodoItem.self).where { !$0.complete }.ordered(by: \.text.folded)
        while let line = readLine() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            switch (words.first, words.dropFirst().first) {
            case ("add", let text?): await list.add(text)
            case ("done", let text?):
                for item in try await open.read() where item.text == text { await list.complete(item) }
            case ("sync", nil): await list.refresh()
            default: print("add TEXT, done TEXT, sync")
            }
            for item in try await open.read() { print("-", item.text) }
            print(try await context.status().pending, "waiting;", list.message ?? "all well")
        }
        await context.close()
    }
}
#endif
