/// What a push did.
public struct PushReport: Sendable {
    /// How many operations the server took.
    public internal(set) var pushed = 0

    /// Every change that is in conflict after the push, those of earlier pushes included.
    public internal(set) var conflicts: [TableOperationError] = []

    /// Every change that the server refused. The next push tries them again.
    public internal(set) var failures: [TableOperationError] = []

    /// How many requests were sent.
    public internal(set) var requests = 0
}
