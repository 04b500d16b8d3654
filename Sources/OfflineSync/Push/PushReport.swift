public import SyncContract

/// What a push did.
public struct PushReport: Sendable {
    /// How many operations the server took.
    public internal(set) var pushed = 0

    /// Every change that is in conflict after the push, those of earlier pushes included.
    public internal(set) var conflicts: [TableOperationError<Record>] = []

    /// Every change that the server refused, or on which it failed. The latter are sent again by the next push, five
    /// times at most while the table answers; the others wait to be edited or resolved.
    public internal(set) var failures: [TableOperationError<Record>] = []

    /// How many changes were not sent because another one has to be settled first: a row waits for the insert of one that it
    /// refers to, a deletion for the changes of rows that referred to its row, and, where nothing else tells of it, a part of a
    /// group for what its group has changed before it. The next push after that sends them.
    /// What they wait for is in ``conflicts`` or ``failures``, or was made while the push ran.
    public internal(set) var waiting = 0

    /// How many changes something has overtaken: others had written the row, or the server has shown another row, each of the
    /// five times that they were sent again; or the app edited or settled them while this push ran, and the server did not take
    /// what they were before. The next push sends them as they are.
    public internal(set) var overtaken = 0

    /// How many of those that take earlier changes back were overtaken like that, beside ``overtaken``: they are none of the
    /// app's, and the next push sends them all the same.
    package internal(set) var overtakenUndos = 0

    /// The longest time after which the server has asked to come back where it failed; nil when it has not said.
    package internal(set) var retryAfter: Duration?

    /// How many requests were sent.
    public internal(set) var requests = 0

    /// Everything that the server did not take. Empty, with nothing ``waiting`` and nothing ``overtaken``: what was there when
    /// the push began is on the server.
    public var notTaken: [TableOperationError<Record>] { conflicts + failures }

    /// Takes in everything that is stored about changes that were not taken.
    mutating func notTaken(_ errors: [TableOperationError<Record>]) {
        conflicts = errors.filter(\.isConflict)
        failures = errors.filter { !$0.isConflict }
    }
}

extension PushReport: CustomStringConvertible {
    /// The numbers in words; never what is in a row.
    public var description: String {
        "\(pushed) pushed, \(conflicts.count) in conflict, \(failures.count) refused or failed, \(waiting) waiting,"
            + " \(overtaken) overtaken, \(requests) requests"
    }
}
