internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// What a push has remembered as sent and has not sent yet, over all contexts of a store.
///
/// A push prepares several requests in one transaction. What is changed meanwhile must not leave as it was prepared: the
/// local change takes it back, within its own transaction, and finds the operation as if nothing had been prepared. Either
/// the request has left before or it never will, whatever the threads do. A change that this does not hear of, made through
/// another object over the same database, is as one made while the request was under way: harmless.
final class MarkedOperations: Sendable {
    private struct Prepared {
        var request: RequestUnderWay<Record>?
        /// The item that it deletes.
        var deleted: ItemKey?
        /// Whether it does not leave as it was prepared.
        var isBehind = false
    }

    private let operations = Mutex<[Int64: Prepared]>([:])
    private let returns = Mutex(0)

    /// How often an operation has come back into the queue with the number that it had: a push that has passed the place goes
    /// back for it.
    var returned: Int { returns.withLock { $0 } }

    /// To be called in the transaction in which one does.
    func comesBack() { returns.withLock { $0 += 1 } }

    /// To be called in the transaction that remembers them.
    func add(_ prepared: [InFlightOperation]) {
        operations.withLock { operations in
            for inFlight in prepared {
                let deleted = inFlight.operation.kind == .delete ? inFlight.references?.item : nil
                operations[inFlight.operation.id] = Prepared(request: inFlight.underWay, deleted: deleted)
            }
        }
    }

    /// To be called before an operation is changed, in the transaction that does it.
    func takeBack(_ operation: inout TableOperation, _ table: TableDefinition, _ schema: StoreSchema) {
        let number = operation.id
        if let request = operations.withLock({ $0.removeValue(forKey: number) })?.request {
            operation.change.didNotLeave(request)
        }
        takeBackDeletions(behind: operation, table, schema)
    }

    /// To be called when an operation is new or is changed, or stays with an answer, in the transaction that does it. The
    /// deletion of a row to which its row has referred goes behind it, also where the deletion was prepared while nothing was
    /// to be sent before it.
    func takeBackDeletions(behind operation: TableOperation, _ table: TableDefinition, _ schema: StoreSchema) {
        guard operations.withLock({ !$0.isEmpty }) else { return }
        let former = OperationReferences.former(of: operation, table, schema)
        guard !former.isEmpty else { return }
        operations.withLock { operations in
            for (number, prepared) in operations where prepared.deleted.map(former.contains) ?? false {
                operations[number]?.isBehind = true
            }
        }
    }

    /// Takes note that an operation is being sent.
    ///
    /// - Returns: Whether it may be: it was not taken back, and need not wait.
    func leaves(_ number: Int64) -> Bool {
        operations.withLock { operations in
            guard operations[number]?.isBehind == false else { return false }
            return operations.removeValue(forKey: number) != nil
        }
    }

    /// Takes note that nothing of it is sent as it was prepared, but for some operations: the others are chosen anew.
    func removeAll(but kept: Set<Int64> = []) {
        operations.withLock { $0 = kept.isEmpty ? [:] : $0.filter { kept.contains($0.key) } }
    }
}
