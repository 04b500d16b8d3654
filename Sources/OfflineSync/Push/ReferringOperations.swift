internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// The changes of rows that referred to a row: they go before its deletion.
///
/// The deletion goes in the push in which the last of them goes, wherever the two stand in the queue. It waits for the next one
/// when one of them does, because it joined the queue since the push began, or stayed in it with an answer: a conflict, a
/// refusal, or an edit that came meanwhile; when one of them is among ``WaitingOperations``, which are sent when all else was;
/// and when the row came to be deleted in its own turn, as a part of a group.
///
/// To what a row referred is found in its operation alone, and by no index: it is read once in a push, when the first
/// deletion of a row comes to which others may refer. After that only what has joined the queue since is, and what
/// stays in it with an answer.
final class ReferringOperations: Sendable {
    private struct Known {
        /// The last operation that was read.
        var last: Int64 = 0
        var numbers: [ItemKey: Set<Int64>] = [:]
        /// Those that have stayed in the queue with an answer.
        var stayed: Set<Int64> = []
    }

    private let known = Mutex(Known())
    private let marked: MarkedOperations

    init(_ marked: MarkedOperations) { self.marked = marked }

    /// The operations that go before the deletion of a row, as far as they wait, those among them that this push does
    /// not send.
    func operations(
        before deletion: TableOperation,
        _ table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [TableOperation] {
        try numbers(before: deletion, table, schema, &transaction)
            .compactMap { try OperationQueue.operation($0, &transaction, schema) }
    }

    /// Takes note of an operation that stays in the queue with an answer: by what was sent, or by what the answer
    /// shows, its row may refer to others on the server. Their deletions that were prepared go behind it. To be called in
    /// the transaction that records the answer.
    func stays(_ operation: TableOperation, _ table: TableDefinition, _ schema: StoreSchema) {
        marked.takeBackDeletions(behind: operation, table, schema)
        let former = OperationReferences.former(of: operation, table, schema)
        guard !former.isEmpty else { return }
        known.withLock { known in
            known.stayed.insert(operation.id)
            // What was not read yet will be.
            guard operation.id <= known.last else { return }
            for key in former { known.numbers[key, default: []].insert(operation.id) }
        }
    }

    /// Whether an operation of a row that refers to others has had an answer in this push with which it stayed in the
    /// queue, be it that its turn goes on.
    func hasStayed(_ number: Int64) -> Bool { known.withLock { $0.stayed.contains(number) } }

    /// The numbers of the operations that go before the deletion of a row, in order; some may not wait any more.
    func numbers(
        before deletion: TableOperation,
        _ table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Int64] {
        let referring = schema.syncedTables.filter { other in
            other.columns.contains { $0.references != nil && !$0.isLocal }
        }
        guard referring.contains(where: { $0.columns.contains { $0.references == table.name && !$0.isLocal } }) else {
            return []
        }
        var known = known.withLock { $0 }
        let last = try OperationQueue.highestNumber(&transaction)
        if last > known.last {
            for other in referring {
                try OperationQueue.forEach(of: other, after: known.last, &transaction, schema) { operation in
                    for key in OperationReferences.former(of: operation, other, schema) {
                        known.numbers[key, default: []].insert(operation.id)
                    }
                }
            }
            known.last = last
            self.known.withLock { [known] in $0 = known }
        }
        let key = ItemKey(table: table.name, key: OperationCoding.itemKey(deletion.itemID, table))
        return (known.numbers[key] ?? []).subtracting([deletion.id]).sorted()
    }
}
