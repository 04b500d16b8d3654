/// How much of one pull is allowed still.
struct PullBounds: Sendable {
    private let maximumRows: Int?
    private let maximumTime: Duration?
    private let elapsed: @Sendable () -> Duration
    private let isInterrupted: (@Sendable () -> Bool)?
    private var rows = 0
    /// Whether the next pull will go on from farther on: with nothing of that, it would do the same again.
    private var hasProgress: Bool

    init(_ options: PullOptions, _ clock: any Clock<Duration>) {
        maximumRows = options.maximumRows
        maximumTime = options.maximumTime
        elapsed = clock.stopwatch()
        isInterrupted = options.isInterrupted
        // What brings everything begins at the beginning each time.
        hasProgress = options.reconciles
    }

    /// Takes note that the next pull goes on from another place.
    mutating func moved() { hasProgress = true }

    /// Takes in how many rows changed. Rows that were here already do not count: otherwise a pull that begins with many
    /// of them would never come to others.
    mutating func count(_ changed: Int) {
        rows += changed
        if changed > 0 { hasProgress = true }
    }

    /// Whether the pull has to stop.
    var areReached: Bool { leaveNothing(after: 0) }

    /// Whether the pull will have to stop when as many rows more have changed.
    func leaveNothing(after changes: Int) -> Bool {
        if let maximumRows, rows + changes >= maximumRows { return true }
        if let maximumTime, hasProgress, elapsed() >= maximumTime { return true }
        return hasProgress && isInterrupted?() ?? false
    }

    /// How many rows to ask for, when a page is to have no more than are allowed.
    func pageSize(_ pageSize: Int?, after changes: Int = 0) -> Int? {
        guard let maximumRows else { return pageSize }
        let left = max(1, maximumRows - rows - changes)
        // A server's own pages are larger seldom, and it may refuse to be asked for more.
        return left < 50 ? min(pageSize ?? left, left) : pageSize
    }
}
