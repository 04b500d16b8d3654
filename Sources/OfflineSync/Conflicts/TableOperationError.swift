public import SyncContract

/// What the server said about a local change that it did not take. Stored until it is resolved or the item changes.
public struct TableOperationError: Error, Sendable, Identifiable {
    /// The id of this error, a UUID.
    public let id: String

    /// The number of the operation.
    public let operationID: Int64

    /// The table.
    public let table: String

    /// The id of the item.
    public let itemID: String

    /// What the change does.
    public let kind: TableOperation.Kind

    /// Whether the server has another version of the item; otherwise it refused the change.
    public let isConflict: Bool

    /// The HTTP status, nil when there was no answer.
    public let status: Int?

    /// What the server said.
    public let message: String

    /// What was sent: the local row, or the row as it was when it was deleted.
    public let item: Record?

    /// The server's row, possibly a tombstone; nil when the server has none or does not show it.
    public let serverItem: Record?

    /// Whether the server said that it has no such row, not even a tombstone.
    public let isMissingOnServer: Bool

    /// The operation's edit counter when it was sent.
    let editCounter: Int64
}

extension TableOperationError: CustomStringConvertible {
    /// Kind, table and what the server said; never the items.
    public var description: String {
        "\(kind) in '\(table)' \(isConflict ? "is in conflict" : "was refused")"
            + (status.map { " (HTTP \($0))" } ?? "") + ": \(message)"
    }
}
