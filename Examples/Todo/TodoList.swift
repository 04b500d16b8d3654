import Foundation
import Observation
import SealedSync

@MainActor @Observable final class TodoList {
    let open: ObservedItems<TodoItem>
    private(set) var message: String?
    private let todos: SyncTable<TodoItem>
    private let context: SyncContext

    init(_ context: SyncContext) throws {
        self.context = context
        todos = try context.table(TodoItem.self)
        open = ObservedItems(todos.where { !$0.complete }.ordered(by: \.text.folded))
    }

    func add(_ text: String) async {
        await attempt { try await todos.insert(TodoItem(text: text)) }
    }

    func complete(_ item: TodoItem) async {
        await attempt { try await todos.update(item.id) { $0.complete = true } }
    }

    func refresh() async {
        await attempt {
            let report = try await context.sync()
            if !report.notTaken.isEmpty { message = "\(report.notTaken.count) changes were not taken" }
        }
    }

    private func attempt(_ work: () async throws -> Void) async {
        message = nil
        do { try await work() } catch { message = error.localizedDescription }
    }
}
