#if canImport(SwiftUI)
import SealedSync
import SwiftUI

/// The list as an app. Where there is no SwiftUI it is a program for a terminal, with the same model.
@main struct TodoApp: App {
    @State private var list: TodoList?

    var body: some Scene {
        WindowGroup {
            if let list {
                TodoView(list: list)
            } else {
                UnlockView { passphrase in
                    list = try TodoList(await openTodos(passphrase, "http://127.0.0.1:8080"))
                }
            }
        }
    }
}

/// Asks for the passphrase, until one opens the store.
struct UnlockView: View {
    let unlock: @MainActor (String) async throws -> Void
    @State private var passphrase = ""
    @State private var problem: String?

    var body: some View {
        Form {
            SecureField("Passphrase", text: $passphrase)
            Button("Open") {
                Task {
                    do { try await unlock(passphrase) } catch { problem = error.localizedDescription }
                    passphrase = ""
                }
            }
            if let problem { Text(problem) }
        }
        .padding()
    }
}

/// The open to-dos, and a line for a new one.
struct TodoView: View {
    let list: TodoList
    @State private var text = ""

    var body: some View {
        List {
            TextField("New", text: $text)
                .onSubmit {
                    Task {
                        await list.add(text)
                        text = ""
                    }
                }
            ForEach(list.open.items) { item in
                Button(item.text) { Task { await list.complete(item) } }
            }
            if let message = list.message { Text(message) }
        }
        .refreshable { await list.refresh() }
    }
}
#endif
