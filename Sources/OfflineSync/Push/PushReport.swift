public import SyncContract

/// What a push did.
public struct PushReport: Sendable {
    /// How many operations the server took.
    public internal(set) var pushed = 0

    /// Every change that is in conflict after the push, those of earlier pushes included.
    public internal(set) var conflicts: [TableOperationError<Record>] = []

    /// Every change that the server refused, or on which it failed. The latter are sent again by the next push, five
    /// times at most; the others wait to be edited or resolved.
    public internal(set) var failures: [TableOperationError<Record>] = []

    /// How many requests were sent.
    public internal(set) var requests = 0

    /// Everything that the server did not take. Empty: everything is on the server.
    public var notTaken: [TableOperationError<Record>] { conflicts + failures }
}
