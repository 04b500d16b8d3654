#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

public import RemoteContract

/// What the server said about a local change that it did not take: a conflict, or a refusal. Stored until it is resolved
/// or the item changes.
///
/// Items are untyped rows, or of the type of the table that was asked: see `SyncTable.operationErrors()`.
public struct TableOperationError<Item: Sendable>: Error, Sendable, Identifiable {
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

    /// Whether the server has another version of the item; otherwise it refused the change, or failed on it.
    public let isConflict: Bool

    /// The HTTP status, nil when there was no answer.
    public let status: Int?

    /// What the server said.
    public let message: String

    /// What was sent, or would have been: the local row. Of a deletion: untyped the row as it was when it was deleted, as
    /// an item of a type nil.
    public internal(set) var item: Item?

    /// The server's row; nil when the server has none or does not show it. When it is deleted there: untyped the tombstone,
    /// as an item of a type nil.
    public internal(set) var serverItem: Item?

    /// The server's row that the change is based on: the third side of a merge. Nil for inserts, and when it is not known.
    public internal(set) var baseItem: Item?

    /// Whether the server said that it has no such row, not even a tombstone.
    public let isMissingOnServer: Bool

    /// Whether the server said that the row is deleted there, or that it has none.
    public let isDeletedOnServer: Bool

    /// The request that was not taken and its answer, for support, without secrets: see ``exchange``. Nil where nothing
    /// was sent, where it was a look at the row that found the conflict, and with a remote that does not tell.
    ///
    /// It is stored with this error, and leaves with it.
    public let rawExchange: RemoteExchange?

    /// The operation's edit counter when it was sent.
    var editCounter: Int64

    /// Whether nobody was asked yet who has a say while a push runs, and the next push is to ask.
    var isUnasked = false
}

extension TableOperationError {
    /// Request and answer as they went over the wire, for support: method, path, header fields, status and bodies, without
    /// secrets; empty when ``rawExchange`` is nil.
    ///
    /// The bodies are rows, so this belongs into no log: ``rawExchange`` describes itself without them.
    public var exchange: String { rawExchange?.text ?? "" }
}

extension TableOperationError {
    /// The same with items of another type; those that it cannot be made from are nil. What makes them is told whether it is
    /// the changed row, and not one of the server's.
    func mapped<Other>(_ transform: (Item, _ isChange: Bool) -> Other?) -> TableOperationError<Other> {
        TableOperationError<Other>(
            id: id,
            operationID: operationID,
            table: table,
            itemID: itemID,
            kind: kind,
            isConflict: isConflict,
            status: status,
            message: message,
            item: item.flatMap { transform($0, true) },
            serverItem: serverItem.flatMap { transform($0, false) },
            baseItem: baseItem.flatMap { transform($0, false) },
            isMissingOnServer: isMissingOnServer,
            isDeletedOnServer: isDeletedOnServer,
            rawExchange: rawExchange,
            editCounter: editCounter,
            isUnasked: isUnasked
        )
    }
}

extension TableOperationError: CustomStringConvertible {
    /// Kind, table and what the server said; never the items or the exchange.
    public var description: String {
        "\(summary): \(message)"
    }

    /// The description without what the server said, which may quote the row.
    var summary: String {
        "\(kind) in '\(table)' \(isConflict ? "is in conflict" : "was refused")"
            + (status.map { " (HTTP \($0))" } ?? "")
    }
}

extension TableOperationError: LocalizedError {
    /// The description: kind, table and what the server said; never the items.
    public var errorDescription: String? { description }
}
