internal import RemoteContract
internal import SyncContract

/// Decides what a full pull asks next: rows in the order of their ids, each page after the last id of the one before.
///
/// Rows that change meanwhile keep their place, so none is skipped.
struct FullPullPager {
    private let base: Query
    private let pageSize: Int?
    private var lastID: RecordID?
    private var remaining: Int?

    /// Whether everything that was asked for was seen.
    private(set) var isFinished: Bool

    /// - Parameters:
    ///   - query: The table and the app's predicate; a limit bounds the number of rows in all.
    ///   - pageSize: The rows per page; nil leaves it to the server.
    init(_ query: Query, pageSize: Int?) {
        self.base = query
        self.pageSize = pageSize
        self.remaining = query.limit
        self.isFinished = query.limit == 0
    }

    /// The next page to ask for.
    var query: Query {
        var query = base
        query.limit = [pageSize, remaining].compactMap(\.self).min()
        if let lastID { query = query.filtered(by: Column("id") > lastID.fieldValue) }
        return query.ordered(by: "id")
    }

    /// Takes a page in and moves on.
    mutating func receive(_ page: RemotePage) {
        if let left = remaining { remaining = left - page.records.count }
        guard let last = page.records.last, !page.isKnownToBeLast, remaining ?? 1 > 0 else {
            isFinished = true
            return
        }
        lastID = last.id
    }
}
