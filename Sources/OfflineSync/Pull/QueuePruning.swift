internal import SyncContract
internal import SyncMachines

/// Drops changes that a pull has made pointless: the server has the same content. Between the pull and the push of a pull
/// that comes first.
struct QueuePruning: Sendable {
    /// What is done about a change beside which a pull has brought another row.
    enum Decision: Sendable {
        /// The change is sent.
        case keep
        /// The server's row takes its place.
        case drop
    }

    let table: TableDefinition
    let schema: StoreSchema
    let storesUndeclaredColumns: Bool

    /// Asked about a change with other content than the server's row: where a conflict policy finds its place.
    var decide: @Sendable (TableOperation, Record) -> Decision = { _, _ in .keep }

    /// Drops what is pointless, and returns how many changes that were.
    func prune(_ transaction: inout StoreTransaction) throws -> Int {
        var pruned = 0
        for operation in try OperationQueue.all(of: table.name, &transaction, schema) {
            // One that was sent may still arrive: its answer settles it.
            guard let server = operation.serverItem, !operation.isAttempted else { continue }
            let local = try transaction.record(.string(operation.itemID), in: table.name)
            guard isPointless(operation, local, server) || decide(operation, server) == .drop else { continue }
            var item = try QueuedItem(operation, table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
            try item.save(item.machine.takeServer(.row(server)), &transaction)
            pruned += 1
        }
        return pruned
    }

    private func isPointless(_ operation: TableOperation, _ local: Record?, _ server: Record) -> Bool {
        switch operation.kind {
        case .delete: return server.isDeleted
        case .insert, .update:
            guard let local, !server.isDeleted else { return false }
            return table.hasSameContent(local, server, defaultsCountAsNull: false)
        }
    }
}
