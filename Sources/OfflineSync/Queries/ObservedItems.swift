public import Observation
public import SyncContract

/// A live query for a view: `ObservedItems(todos.where { !$0.complete })`.
///
/// ```swift
/// @MainActor @Observable final class TodoModel {
///     let open: ObservedItems<TodoItem>
///     init(_ todos: SyncTable<TodoItem>) { open = ObservedItems(todos.where { !$0.complete }.ordered(by: \.due)) }
/// }
/// ```
///
/// Rows are read and made items elsewhere; only the result comes to the main actor. What comes when, and how it ends, is said
/// at `StoreObservation`. The query ends with this object.
@MainActor @Observable
public final class ObservedItems<Item: TableItem> where Item.ID: RowID {
    /// The items, newest state only; empty until ``isLoaded``.
    public private(set) var items: [Item] = []

    /// Whether there was a result.
    public private(set) var isLoaded = false

    /// What ended the query; nil while it goes on, and when its store was closed.
    public private(set) var error: (any Error)?

    @ObservationIgnored private var task: Task<Void, Never>?

    /// Follows a query, or a whole table.
    public init(_ rows: some TableQuerying<SyncTable<Item>>) {
        let observation = rows.observe()
        task = Task { @concurrent [weak self] in
            do {
                for try await items in observation { await self?.show(items) }
            } catch {
                await self?.end(error)
            }
        }
    }

    deinit { task?.cancel() }

    private func show(_ items: [Item]) {
        self.items = items
        isLoaded = true
    }

    private func end(_ error: any Error) { self.error = error }
}
