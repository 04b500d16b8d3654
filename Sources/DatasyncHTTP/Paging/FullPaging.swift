internal import RemoteContract
internal import SyncContract

/// What a pull of everything asks next: rows by id.
struct FullPaging: Sendable, Hashable, Codable {
    private var ids = IDPaging()
    private var emptyPages = EmptyPages()
    /// What the page before has left, and where it lies; nil when nothing is known of it.
    private var left: RowsLeft?
    private var before = IDPaging()
    private var looks = 0
    /// How many rows are wanted still; nil for all.
    private(set) var wanted: Int?

    /// Whether everything that was asked for was seen.
    private(set) var isFinished: Bool

    init(limit: Int?) {
        wanted = limit
        isFinished = limit == 0
    }

    /// The next page to ask for.
    func request(_ query: Query, pageSize: Int?) -> Query {
        var query = query
        query.limit = [pageSize, wanted].compactMap(\.self).min()
        // For whoever shows how far the pull has come, and to notice rows that are passed over.
        query.includesTotalCount = true
        query.offset = emptyPages.offset
        return ids.remaining(query)
    }

    /// The query with the most conditions that a pull may come to ask: what a server takes of it, it takes of all.
    static func widestRequest(_ query: Query, pageSize: Int?) throws(RemoteError) -> Query {
        var paging = FullPaging(limit: query.limit)
        try paging.ids.advance(behind: .sample)
        return paging.request(query, pageSize: pageSize)
    }

    /// Goes back to the page before when rows are missing behind it.
    ///
    /// - Returns: Whether it went back, so that the page is not to be taken in.
    /// - Throws: `RemoteError` when rows are missing again and again.
    mutating func goesBack(from page: ServerPage) throws(RemoteError) -> Bool {
        guard let left else { return false }
        guard !left.areCounted(by: page) else {
            looks = 0
            return false
        }
        looks += 1
        guard looks <= RowsLeft.mostLooks else { throw RowsLeft.error(column: "id") }
        ids = before
        self.left = nil
        return true
    }

    /// Takes a page in and moves on.
    mutating func receive(_ page: ServerPage) throws(RemoteError) {
        let offset = emptyPages.offset
        if wanted ?? 1 > 0, try emptyPages.areContinued(by: page) {
            left = nil
            return
        }
        // A pull with a limit removes nothing, and does not count rows twice.
        let met = page.rows.count
        left = wanted == nil ? RowsLeft(behind: page, offset: offset, met: met, metWithLast: met) : nil
        // Without a count nobody goes back.
        before = left == nil ? IDPaging() : ids
        if let wanted { self.wanted = wanted - page.rows.count }
        isFinished = page.rows.isEmpty || page.isKnownToBeLast || wanted ?? 1 <= 0
        try ids.receive(page, isLast: isFinished)
    }
}
