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

    /// Whether the server passes rows over each time that it is looked at again: then the pull has to end.
    private(set) var passesRowsOver = false

    init(limit: Int?) {
        wanted = limit
        isFinished = limit == 0
    }

    /// What the next page goes on behind; nil for the first one.
    var lastID: RowKey? { ids.lastID }

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

    /// What is to be done when a page has come.
    enum Step {
        case takeIn
        /// Rows are missing behind the page before, which were passed over or have left meanwhile.
        case lookAgain
        /// They are missing again.
        case askForGap
    }

    /// What is to be done with a page that has come.
    mutating func step(with page: ServerPage) -> Step {
        guard let left else { return .takeIn }
        guard !left.areCounted(by: page) else {
            looks = 0
            return .takeIn
        }
        return looks == 0 ? .lookAgain : .askForGap
    }

    /// Goes back to the page before, unless that was done often enough.
    ///
    /// - Returns: Whether it went back.
    mutating func goesBack() -> Bool {
        guard looks < RowsLeft.mostLooks else {
            passesRowsOver = true
            return false
        }
        looks += 1
        ids = before
        left = nil
        return true
    }

    // MARK: The gap

    /// Where the page before begins.
    var gapStart: IDPaging { before }

    /// The next page of what lies behind that and before the next page, when some of it has come.
    func gapRequest(behind come: IDPaging, _ query: Query, pageSize: Int?) -> Query {
        var query = query
        if let lastID = ids.lastID { query = query.filtered(by: Column("id") <= lastID.value) }
        query.limit = pageSize
        query.includesTotalCount = true
        return come.remaining(query)
    }

    /// The rows of the gap that had not come; nil when none was passed over by the server.
    func rowsPassedOver(in page: ServerPage) -> [ServerPage.Row]? {
        page.goesBeyond(ids.lastPage) ? page.rows(besides: ids.lastPage) : nil
    }

    /// Takes note that all of the gap had come: whatever is missing has left.
    mutating func hasSeenGap() {
        looks = 0
        left = nil
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
