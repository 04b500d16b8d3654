internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// The changes of rows that referred to a row: they go before its deletion.
///
/// To what a row referred is found in its operation alone, and by no index: it is read once in a push, when the first
/// deletion of a row comes to which others may refer.
final class ReferringOperations: Sendable {
    private let known = Mutex<[ItemKey: [Int64]]?>(nil)

    /// The numbers of the operations of rows that referred to the row of another one.
    func numbers(
        referringTo operation: TableOperation,
        _ table: TableDefinition,
        through last: Int64,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Int64] {
        let referring = schema.syncedTables.filter { other in
            other.columns.contains { $0.references != nil && !$0.isLocal }
        }
        guard referring.contains(where: { $0.columns.contains { $0.references == table.name && !$0.isLocal } }) else {
            return []
        }
        let key = ItemKey(table: table.name, key: OperationCoding.itemKey(operation.itemID, table))
        if let known = known.withLock({ $0 }) { return known[key] ?? [] }
        var found: [ItemKey: [Int64]] = [:]
        for other in referring {
            for operation in try OperationQueue.all(of: other, &transaction, schema) where operation.id <= last {
                for key in OperationReferences.former(of: operation, other, schema) {
                    found[key, default: []].append(operation.id)
                }
            }
        }
        known.withLock { $0 = found }
        return found[key] ?? []
    }
}
