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
    private let operations = Mutex<[Int64: RequestUnderWay<Record>?]>([:])

    /// To be called in the transaction that remembers them.
    func add(_ prepared: [InFlightOperation]) {
        operations.withLock { operations in
            for inFlight in prepared { operations[inFlight.operation.id] = .some(inFlight.underWay) }
        }
    }

    /// To be called before an operation is changed, in the transaction that does it.
    func takeBack(_ operation: inout TableOperation) {
        let number = operation.id
        guard case .some(let request?) = operations.withLock({ $0.removeValue(forKey: number) }) else { return }
        operation.change.didNotLeave(request)
    }

    /// Takes note that an operation is being sent.
    ///
    /// - Returns: Whether it may be: it was not taken back.
    func leaves(_ number: Int64) -> Bool { operations.withLock { $0.removeValue(forKey: number) } != nil }

    /// Takes note that nothing of it is sent as it was prepared, but for some operations: the others are chosen anew.
    func removeAll(but kept: Set<Int64> = []) {
        operations.withLock { $0 = kept.isEmpty ? [:] : $0.filter { kept.contains($0.key) } }
    }
}
