internal import SyncContract

/// Applies rows of the server inside a transaction of the store. Rows with a waiting local change are left alone; the
/// server's copy is kept beside the change. Rows that are here with this version and this content are passed over.
struct PageApplication: Sendable {
    struct Counts: Sendable {
        var received = 0
        var deleted = 0
        /// The rows that were left alone. A pull may see one twice.
        var skipped: Set<RecordID> = []
    }

    let table: TableDefinition
    let schema: StoreSchema
    let storesUndeclaredColumns: Bool

    /// Applies rows in their order.
    func apply(_ records: [Record], _ transaction: inout StoreTransaction) throws -> Counts {
        var counts = Counts()
        var upserts: [Record] = []
        var deletions: [RecordID] = []
        var merge = try ServerRowMerge(table, storesUndeclaredColumns: storesUndeclaredColumns, &transaction)
        // What one row of the page shows is known for all of them.
        for record in records where !record.isDeleted { merge.see(record) }
        let hasOperations = try OperationQueue.count(of: table.name, &transaction) > 0
        for record in records {
            if hasOperations, let id = record.id.stringValue,
                let operation = try OperationQueue.operation(for: id, in: table, &transaction, schema)
            {
                counts.skipped.insert(record.id)
                try keepBeside(operation, record, &transaction)
                continue
            }
            let local = try transaction.record(record.id, in: table.name)
            if record.isDeleted {
                if local != nil { deletions.append(record.id) }
            } else if let change = merge.replacement(of: local, by: record) {
                if change.replacesRow { try transaction.delete([record.id], from: table.name) }
                upserts.append(change.row)
            }
        }
        try transaction.upsert(upserts, into: table.name)
        counts.received = upserts.count
        counts.deleted = try transaction.delete(deletions, from: table.name)
        try merge.remember(&transaction)
        return counts
    }

    private func keepBeside(
        _ operation: TableOperation,
        _ record: Record,
        _ transaction: inout StoreTransaction
    ) throws {
        // The row the change is based on is not news, and the newest: what was kept before it is out of date.
        let isBase = record.version != nil && record.version == operation.baseVersion
        var operation = operation
        operation.serverItem = isBase ? nil : record
        try OperationQueue.save(operation, table, &transaction)
    }
}
