internal import SyncContract
internal import SyncMachines

/// Drops changes that a pull has made pointless: the server has the same content. Between the pull and the push of a pull
/// that comes first.
struct QueuePruning: Sendable {
    let table: TableDefinition
    let schema: StoreSchema
    let storesUndeclaredColumns: Bool

    /// Drops what is pointless, and returns how many changes that were.
    func prune(_ transaction: inout StoreTransaction) throws -> Int {
        var pruned = 0
        for operation in try OperationQueue.unsentBesideServerRow(of: table, &transaction, schema) {
            guard let server = operation.serverItem else { continue }
            let local = try transaction.record(.string(operation.itemID), in: table.name)
            guard isPointless(operation, local, server) else { continue }
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
