internal import SyncContract
internal import SyncMachines

extension TableOperation {
    /// Whether an operation that has become a deletion goes to the end of the queue, behind the changes of rows that refer to
    /// its row: one that was never sent. What was made in groups has an order of its own.
    func mayMove(_ schema: StoreSchema) -> Bool {
        guard !change.wasSent, change.sent.isEmpty, memberships.isEmpty else { return false }
        return schema.tables.contains { $0.columns.contains { $0.references == table } }
    }
}
