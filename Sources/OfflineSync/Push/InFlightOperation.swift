internal import SyncContract

/// An operation and what it sends, as of one instant.
struct InFlightOperation: Sendable {
    var operation: TableOperation
    var table: TableDefinition
    /// The local row; nil for deletes, and when the row is missing.
    var row: Record?
    /// What earlier attempts sent whose answers are not known.
    var previouslySent: [Record]

    /// Whether the server's row is what an earlier attempt sent.
    func wasSentBefore(_ serverItem: Record) -> Bool {
        previouslySent.contains { table.hasSameContent($0, serverItem, defaultsCountAsNull: true) }
    }
}
