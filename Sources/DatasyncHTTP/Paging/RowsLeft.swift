internal import RemoteContract
internal import SyncContract

/// How many rows the server has counted behind a page. The next page's count tells when it passes rows over: a server that
/// orders rows otherwise than it was asked to, or compares them in another way than it orders them.
///
/// Rows may also leave meanwhile, deleted for good or changed, and go on leaving with every request. So whoever finds some
/// missing goes back by a page and looks again; where some are missing again, it asks for the gap, what lies behind the
/// beginning of that page and before the next one. All of that has come unless it was passed over.
struct RowsLeft: Sendable, Hashable, Codable {
    /// How often a page is looked at again before the server is blamed: what turns up in a gap may have become visible late,
    /// but not every time.
    static let mostLooks = 3

    private let count: Int
    /// How many rows of the page, and of those that came since, the next one has no more.
    private var met: Int
    /// The same when the page's last row is one of them.
    private var metWithLast: Int
    private let last: RowKey

    /// What is left behind a page; nil when the server does not count, or may have left rows out of the page.
    ///
    /// - Parameters:
    ///   - page: The page.
    ///   - offset: How many of the rows that it counts it has skipped.
    ///   - met: How many of its rows the next page has no more when that begins with the page's last row.
    ///   - metWithLast: And when it does not. Servers that compare stamps as text may find it below its own stamp.
    init?(behind page: ServerPage, offset: Int, met: Int, metWithLast: Int) {
        guard page.isWhole, let count = page.totalCount, let last = page.rows.last?.id else { return nil }
        self.count = count - offset
        self.met = met
        self.metWithLast = metWithLast
        self.last = last
    }

    /// Takes note of rows that came in a place of their own.
    mutating func meet(_ rows: Int) {
        met += rows
        metWithLast += rows
    }

    /// Whether the next page in order has as many rows left as it should, or does not say.
    func areCounted(by page: ServerPage) -> Bool {
        guard let count = page.totalCount else { return true }
        return count >= self.count - (page.rows.contains { $0.id == last } ? met : metWithLast)
    }

    /// The error of a server that passes rows over every time.
    static func error(column: String) -> RemoteError {
        RemoteError(
            .invalidResponse,
            "The server passes rows over: behind a page it counts fewer than it has counted before, again and again, and it"
                + " has them in front of that. It has to order rows by '\(column)' as it is asked to, and to compare that"
                + " column as it orders it."
        )
    }
}
