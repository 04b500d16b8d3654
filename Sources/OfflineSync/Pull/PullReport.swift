public import RemoteContract
internal import SyncContract

/// What a pull did.
public struct PullReport: Sendable {
    /// How many rows the pull inserted or changed locally. Rows that were up to date already do not count.
    public internal(set) var received = 0

    /// How many local rows were removed because the server deleted them.
    public internal(set) var deleted = 0

    /// How many rows were left alone because a local change waits for them.
    public var skipped: Int { skippedIDs.count }

    /// How many items that were asked for by id the server did not hand over: their local state was given up by a
    /// resolution, or an earlier pull set them aside. The next pull asks for them again.
    public internal(set) var notFetched = 0

    /// The rows that the server cannot hand over, or that do not fit the table, and why. Their local state stays as it is.
    ///
    /// They come with the pull that follows their next change, or a pull of everything, in which they fit. Up to a hundred
    /// rows of a table are also asked for by id by every later pull, and are here again as long as they do not come.
    public private(set) var setAside: [SetAsideRow] = []

    /// How many requests the pull sent, those of ``push`` not included.
    public internal(set) var requests = 0

    /// What the push before the pull did; nil when nothing was waiting.
    public internal(set) var push: PushReport?

    /// The rows that were left alone; a pull may see one twice.
    var skippedIDs: Set<RecordID> = []
    private var setAsideIDs: Set<String> = []

    /// Names rows that were set aside; a pull may see one twice.
    mutating func setAside(_ rows: [SetAsideRow]) {
        for row in rows where setAsideIDs.insert(row.id).inserted { setAside.append(row) }
    }
}
