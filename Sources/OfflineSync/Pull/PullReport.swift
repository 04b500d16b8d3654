internal import SyncContract

/// What a pull did.
public struct PullReport: Sendable {
    /// How many rows the pull inserted or changed locally. Rows that were up to date already do not count.
    public internal(set) var received = 0

    /// How many local rows were removed because the server deleted them.
    public internal(set) var deleted = 0

    /// How many rows were left alone because a local change waits for them.
    public var skipped: Int { skippedIDs.count }

    /// How many items, whose local state was given up by a resolution, the server did not hand over. The next pull asks
    /// for them again.
    public internal(set) var notFetched = 0

    /// How many requests the pull sent, those of ``push`` not included.
    public internal(set) var requests = 0

    /// What the push before the pull did; nil when nothing was waiting.
    public internal(set) var push: PushReport?

    /// The rows that were left alone; a pull may see one twice.
    var skippedIDs: Set<RecordID> = []
}
