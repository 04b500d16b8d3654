/// How far a transfer has come.
public struct SyncProgress: Sendable, Hashable {
    /// 0 to 1; it never falls, and is 1 at the end only.
    public let progressEstimate: Double

    /// How many rows are done. Rows that came twice count twice.
    public let completed: Int

    /// How many rows there are.
    public let total: Int

    /// Whether the server has counted the total; otherwise it is guessed.
    public let isExact: Bool

    /// Whether everything is done.
    public var isTransferComplete: Bool { progressEstimate == 1 }
}

/// Makes the progress of a pull from its pages.
struct PullProgress: Sendable {
    /// What a server counts beyond this is none of its rows, and sums of it have to be numbers still.
    private static let most = 1 << 48

    private var completed = 0
    private var total = 0
    /// Whether the server has counted what is in the total.
    private var isCounted = false
    private var estimate = 0.0

    /// How many tables the pull has, and how many of them are done.
    private let tables: Int
    private var finished = 0

    init(tables: Int) { self.tables = max(1, tables) }

    /// Takes in a page that was applied: its rows, how many the server says there were left with them, when it says so,
    /// and whether it was the last page of its table.
    mutating func applied(rows: Int, of left: Int?, isLast: Bool) -> SyncProgress {
        if let left {
            total = completed + max(min(left, Self.most), rows)
            isCounted = true
        } else if !isLast, completed + rows >= total {
            // That there is as much again as came last is as good a guess as any.
            total = completed + 2 * max(1, rows)
            isCounted = false
        }
        completed += rows
        if isLast {
            total = completed
            finished += 1
            // Nothing is known of the next table.
            isCounted = finished == tables
        }
        let share = isLast ? 0 : Double(completed) / Double(max(1, total))
        // What is left of the last table is never nothing before its last page.
        let reached = (Double(finished) + min(share, 0.999)) / Double(tables)
        estimate = finished == tables ? 1 : max(estimate, reached)
        let isExact = isCounted && finished >= tables - 1
        return SyncProgress(progressEstimate: estimate, completed: completed, total: total, isExact: isExact)
    }
}
