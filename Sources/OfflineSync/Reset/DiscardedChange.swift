public import SyncContract

/// A local change that was given up because the server has lost its history, as it was then.
public struct DiscardedChange: Sendable, Hashable, Identifiable {
    /// The number of its operation, or one of its own where that was given up before. Later ones have higher numbers.
    public let id: Int64

    /// When it was given up, by this device's clock.
    public let date: Timestamp

    /// The table.
    public let table: String

    /// The id of the item.
    public let itemID: String

    /// What it was to do.
    public let kind: TableOperation.Kind

    /// The local row as it was; of a deletion, the row that was deleted. Nil when there was none, or when its table has
    /// changed so that it cannot be read any more.
    public let item: Record?

    /// The server's row that it was based on; nil when that was not known.
    public let baseItem: Record?
}

extension SyncContext {
    /// The changes that were given up because the server has lost its history, in the order in which they were made.
    ///
    /// They lie in the store, under its key, until ``forgetDiscardedChanges()``: an app may show them, or make them anew.
    /// Those of tables that are not declared are left out.
    ///
    /// - Throws: `StoreError`; `CancellationError`.
    public func discardedChanges() async throws -> [DiscardedChange] {
        let schema = store.schema
        return try await store.read { try DiscardedChanges.all(schema, &$0) }
    }

    /// Forgets the changes that ``discardedChanges()`` lists.
    ///
    /// - Throws: `StoreError`; `CancellationError`.
    public func forgetDiscardedChanges() async throws {
        try await store.write { try DiscardedChanges.removeAll(&$0) }
    }
}
