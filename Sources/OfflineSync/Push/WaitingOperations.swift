internal import RemoteContract
internal import SyncContract
internal import SyncMachines

/// Operations of a push that wait because their rows refer to rows that the server has given no id yet.
///
/// They are sent when the inserts of those rows were taken. Where such an insert was refused, or is in conflict, they stay in
/// the queue until that is settled. Of those that refer to each other in a circle none can be sent, and one is refused.
struct WaitingOperations {
    private var operations: [InFlightOperation] = []
    private var lastCount = Int.max

    /// The numbers of those that wait.
    var numbers: [Int64] { operations.map(\.operation.id) }

    mutating func append(_ inFlight: InFlightOperation) { operations.append(inFlight) }

    /// What to try again; nil when the last round has sent nothing.
    mutating func nextRound() -> [InFlightOperation]? {
        guard !operations.isEmpty, operations.count < lastCount else { return nil }
        lastCount = operations.count
        defer { operations = [] }
        return operations
    }

    /// Takes one out, which says nothing of the others.
    mutating func remove(_ inFlight: InFlightOperation) {
        operations.removeAll { $0.operation.id == inFlight.operation.id }
        lastCount = operations.count
    }

    /// Has all of them tried again.
    mutating func retry() { lastCount = Int.max }

    /// The first one that waits for itself, through others that may have been held back for its sake.
    ///
    /// - Parameter awaited: Gives the inserts that an operation waits for.
    /// - Returns: One of the list that is in a circle; nil when none is.
    func firstOfCircle(_ awaited: (Int64) throws -> [Int64]) rethrows -> InFlightOperation? {
        try operations.first { inFlight in
            var seen: Set<Int64> = []
            var open = inFlight.awaited
            while let number = open.popLast() {
                if number == inFlight.operation.id { return true }
                if seen.insert(number).inserted { open += try awaited(number) }
            }
            return false
        }
    }

    static let refusal = PushAnswer(
        .refused(provesNothingWasDone: true),
        RemoteError(
            .invalidRequest,
            "The row refers to rows that refer back to it, and the server has given none of them an id; clear one of the"
                + " references, retry this change, push, and set the reference then."
        )
    )
}
