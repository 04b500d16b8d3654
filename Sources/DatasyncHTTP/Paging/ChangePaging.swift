internal import RemoteContract
internal import SyncContract

/// What a pull of changes asks next, and how far its cursor may go. Pure: pages go in, queries and cursors come out.
///
/// Rows are asked for in the order of `updatedAt`, from a millisecond **on**, so that those that share the last one of a
/// page are seen. A page that lies wholly within one millisecond is continued inside of it by id; then the next one is
/// asked for. Whole milliseconds, because stamps may be finer than answers show: those of one shown millisecond differ on
/// the server, and no equality finds them. Never by number: a row that moves away would shift the others.
struct ChangePaging: Sendable, Hashable, Codable {
    private enum Place: Hashable, Codable {
        /// From the start.
        case start
        /// Rows without a stamp, which no instant finds; then from a millisecond on.
        case unstamped(IDPaging, then: Int64)
        /// From a millisecond on.
        case from(Int64)
        /// Within one millisecond.
        case within(Int64, IDPaging)
        /// From the beginning of a page in order to that of the next one, where rows may have been passed over.
        case gap(from: Int64, below: Int64, IDPaging)
    }

    static let earliest: Int64 = -62_135_596_800_000  // 0001-01-01, the earliest that servers know

    /// Where the last pull's cursor stood; nil at the start.
    private let start: Int64?
    private var place: Place
    private var newest: Int64?
    private var emptyPages = EmptyPages()
    /// What the last page in order has left, and where that lies; nil when nothing is known of it.
    private var left: RowsLeft?
    private var before: Place?
    private var looks = 0
    /// The ids of what has come of the page that is looked at again, and of the places of their own behind it.
    private var seen: [String] = []

    /// Up to where rows that were written before the pull are there to be seen; nil when nothing is known of it. The
    /// cursor never passes it.
    var settled: Int64?

    /// By how much stamps lag behind the server's `Date`, in milliseconds; kept in the cursor.
    var lag: Int64 = 0

    /// Whether everything was seen.
    private(set) var isFinished = false

    /// Whether the server passes rows over each time that it is looked at again: then the pull has to end.
    private(set) var passesRowsOver = false

    /// The millisecond below which nothing is to be asked for again; nil when there is none.
    private(set) var reached: Int64?

    /// A pull from a millisecond on; nil for all rows.
    init(since start: Int64?) {
        self.start = start
        place = start.map(Place.from) ?? .start
    }

    /// A pull that goes on where another one has ended; nil for all rows.
    init(from cursor: PullCursor?) {
        self.init(since: cursor?.milliseconds)
        guard let cursor, let within = cursor.within else { return }
        place = .within(within.milliseconds, IDPaging(behind: within.id))
        reached = cursor.milliseconds
    }

    /// What the next pull of the same query is to start with; nil when it starts from the beginning.
    var cursor: PullCursor? {
        guard let settled, let reached else { return nil }
        return PullCursor(milliseconds: min(settled, reached), lag: lag, within: settledPlace(settled))
    }

    /// How far it has come among the rows of one millisecond, when no more of them can become visible. There may be very many,
    /// which one statement has written: a pull that is cut off among them, however often, must get past them.
    private func settledPlace(_ settled: Int64) -> PullCursor.Within? {
        guard case .within(let instant, let ids) = place, settled > instant, let id = ids.lastID, !isLookingAgain else {
            return nil
        }
        return PullCursor.Within(milliseconds: instant, id: id)
    }

    /// Whether pages come again because rows were missing behind one.
    var isLookingAgain: Bool { looks > 0 }

    /// Whether the next page is one of all rows that are left, in the order of their stamps.
    var asksInOrder: Bool {
        switch place {
        case .start, .from: true
        case .unstamped, .within, .gap: false
        }
    }

    /// The id that the next page goes on behind; nil where it goes on by stamps.
    var lastID: RowKey? {
        switch place {
        case .start, .from: nil
        case .unstamped(let ids, _), .within(_, let ids), .gap(_, _, let ids): ids.lastID
        }
    }

    /// The next page to ask for.
    func request(_ query: Query, pageSize: Int?) -> Query {
        var query = query
        query.limit = pageSize
        // Where there is no link, only the count tells that a page is the last one, and everywhere that rows are missing.
        query.includesTotalCount = true
        query.offset = emptyPages.offset
        let updatedAt = Column("updatedAt")
        switch place {
        case .start: break
        case .unstamped(let ids, _): return ids.remaining(query.filtered(by: updatedAt == .null))
        case .from(let instant): query = query.filtered(by: updatedAt >= .milliseconds(instant))
        case .within(let instant, let ids): return ids.remaining(query.filtered(by: Self.window(instant, instant + 1)))
        case .gap(let first, let end, let ids): return ids.remaining(query.filtered(by: Self.window(first, end)))
        }
        return query.ordered(by: "updatedAt").ordered(by: "id")
    }

    /// The rows from an instant on, and below another one.
    private static func window(_ first: Int64, _ end: Int64) -> QueryPredicate {
        Column("updatedAt") >= .milliseconds(first) && Column("updatedAt") < .milliseconds(end)
    }

    /// The query with the most conditions that a pull may come to ask: what a server takes of it, it takes of all.
    static func widestRequest(_ query: Query, pageSize: Int?) throws(RemoteError) -> Query {
        var ids = IDPaging()
        try ids.advance(behind: .sample)
        var paging = ChangePaging(since: nil)
        paging.place = .within(0, ids)
        return paging.request(query, pageSize: pageSize)
    }

    /// The rows of a page that are to be handed out: of a gap, those that have not just come.
    func news(in page: ServerPage) -> [ServerPage.Row] {
        if case .gap = place { page.rows(besides: seen) } else { page.rows }
    }

    /// Takes a page in and moves on.
    mutating func receive(_ page: ServerPage) throws(RemoteError) {
        let offset = emptyPages.offset
        if try emptyPages.areContinued(by: page) {
            left = nil
            return
        }
        if !asksInOrder {
            if page.isWhole { left?.meet(page.rows.count) } else { left = nil }
        }
        switch place {
        case .unstamped, .within: if isLookingAgain { seen += page.rows.map(\.id.text) }
        case .start, .from, .gap: break
        }
        switch place {
        case .start, .from: try receiveInOrder(page, offset)
        case .unstamped(var ids, let next):
            let isLast = page.rows.isEmpty || page.isKnownToBeLast
            try ids.receive(page, isLast: isLast)
            place = isLast ? .from(next) : .unstamped(ids, then: next)
        case .within(let instant, var ids):
            let isLast = page.rows.isEmpty || page.isKnownToBeLast
            try ids.receive(page, isLast: isLast)
            place = isLast ? .from(instant + 1) : .within(instant, ids)
            if isLast, left == nil { reached = instant + 1 }
        case .gap(let first, let end, var ids):
            guard !page.goesBeyond(seen) else { return lookAgain() }
            let isLast = page.rows.isEmpty || page.isKnownToBeLast
            try ids.receive(page, isLast: isLast)
            place = isLast ? .from(end) : .gap(from: first, below: end, ids)
            // Whatever is missing has left.
            if isLast { endLook() }
        }
    }

    private mutating func receiveInOrder(_ page: ServerPage, _ offset: Int) throws(RemoteError) {
        guard !lacksRows(before: page) else { return }
        if isLookingAgain { seen = page.rows.map(\.id.text) }
        let stamps = page.rows.compactMap(\.stamp)
        guard !zip(stamps, stamps.dropFirst()).contains(where: Self.runsBackwards) else {
            throw RemoteError(
                .invalidResponse,
                "The server sends rows from the newest to the oldest, or in no order; it has to order them by 'updatedAt' as"
                    + " it is asked to, ascending."
            )
        }
        newest = [newest, stamps.max()].compactMap(\.self).max()
        guard let last = page.rows.last, !page.isKnownToBeLast else {
            isFinished = true
            reached = [newest.map { $0 + 1 }, start].compactMap(\.self).max()
            return
        }
        if place == .start {
            // Servers put rows without a stamp first or last: they are asked for before a cursor could leave them behind.
            let isStamped = stamps.count == page.rows.count
            let next = isStamped ? last.stamp ?? Self.earliest : Self.earliest
            count(page, offset, below: next)
            place = .unstamped(IDPaging(), then: next)
            return
        }
        // Without an end to the page behind what was asked for, the same one would come again.
        guard let first = stamps.min(), let end = last.stamp, end > asked || (first == end && end == asked) else {
            throw RemoteError(
                .invalidResponse,
                "The server does not filter or order rows by 'updatedAt'; pulls need that column there."
            )
        }
        count(page, offset, below: end)
        // What lies below the page is seen; what lies in it is when the next one shows that nothing was passed over.
        reached = left == nil ? end : asked
        place = first == end ? .within(end, IDPaging()) : .from(end)
    }

    /// Keeps how many rows are left behind a page in order, the next one of which is asked for from an instant on.
    private mutating func count(_ page: ServerPage, _ offset: Int, below instant: Int64) {
        before = place
        let below = page.rows.count { $0.stamp.map { $0 < instant } ?? false }
        let through = page.rows.count { $0.stamp.map { $0 <= instant } ?? false }
        // Where the whole page is of one instant, those come again, by id.
        let isOneInstant = below == 0 && through == page.rows.count
        left = RowsLeft(
            behind: page,
            offset: offset,
            met: below,
            metWithLast: isOneInstant ? below : through
        )
    }

    /// Whether rows are missing behind the page before, which were passed over or have left meanwhile. Then it goes back to that
    /// page, once, and asks for the gap behind it when rows are missing again.
    private mutating func lacksRows(before page: ServerPage) -> Bool {
        guard let left else { return false }
        self.left = nil
        guard let before, !left.areCounted(by: page) else {
            endLook()
            return false
        }
        guard isLookingAgain else {
            lookAgain()
            return true
        }
        // Below what the next page is asked from, as the server compares: of what it has counted behind the beginning of the
        // page, nothing is in neither.
        place = .gap(from: Self.asked(in: before) ?? Self.earliest, below: asked, IDPaging())
        return true
    }

    /// Goes back to the page before, unless that was done often enough.
    private mutating func lookAgain() {
        guard let before, looks < RowsLeft.mostLooks else {
            passesRowsOver = true
            return
        }
        looks += 1
        place = before
        left = nil
        seen = []
    }

    private mutating func endLook() {
        looks = 0
        seen = []
    }

    /// Whether a stamp in front of another one is later than that, and no order that was asked for explains it. Servers that
    /// order stamps as text, and leave zeros at their end out, have `.12` behind `.123`, and a whole second behind all of it.
    private static func runsBackwards(_ first: Int64, _ second: Int64) -> Bool {
        let unit: Int64 = [1_000, 100, 10].first { second.isMultiple(of: $0) } ?? 1
        return first >= second + unit
    }

    /// The millisecond that was asked for.
    private var asked: Int64 { Self.asked(in: place) ?? Int64.min }

    private static func asked(in place: Place) -> Int64? {
        if case .from(let instant) = place { instant } else { nil }
    }
}

extension FieldValue {
    fileprivate static func milliseconds(_ milliseconds: Int64) -> FieldValue {
        .date(Timestamp(milliseconds: milliseconds))
    }
}
