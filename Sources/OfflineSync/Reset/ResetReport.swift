/// What became of the local changes that waited when everything was brought anew: see ``SyncError/Code/historyLost``.
///
/// Each of them counts once, as recovered, settled, in conflict or discarded.
public struct ResetReport: Sendable, Hashable {
    /// How many changes waited, those in conflict and those that had been refused included.
    public internal(set) var waiting = 0

    /// How many are based on the fresh rows and are sent next.
    public internal(set) var recovered = 0

    /// How many are gone because the server has what they were to do.
    public internal(set) var settled = 0

    /// How many could not be based on the fresh rows: they are stored as conflicts, in
    /// ``SyncContext/operationErrors()``, and the next push asks the delegate and the conflict policies that there were.
    public internal(set) var conflicts = 0

    /// How many were given up; they are kept in ``SyncContext/discardedChanges()``.
    public internal(set) var discarded = 0

    package init() {}
}

extension ResetReport: CustomStringConvertible {
    /// The numbers in words.
    public var description: String {
        "\(waiting) changes waited: \(recovered) recovered, \(settled) settled, \(conflicts) in conflict,"
            + " \(discarded) discarded"
    }
}
