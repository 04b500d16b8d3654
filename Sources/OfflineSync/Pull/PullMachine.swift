internal import RemoteContract
internal import SyncContract

/// Decides after each page of a pull where it goes on, and ends one that would never end. Pure: no clock, no network.
///
/// A legal server is never blamed: rows may come again, pages may be empty in the middle, rows may be added meanwhile.
struct PullMachine: Sendable {
    /// What a server does that has no end.
    enum Endlessness: Error, Sendable, Hashable {
        case repeatsRows
        case repeatsPosition
        case runsBackwards
        case exceedsCount(Int)
        case exceedsLimit(Int)
        case onlyEmptyPages(Int)
    }

    // In a pull of changes, rows that share a millisecond come three times before those after them do: in the order of
    // the whole pull twice, then within the millisecond; and in both ways once more when others have left behind them.
    private static let mostRepetitions = 5
    // Servers that filter a page after they have read it answer with empty ones in the middle.
    private static let mostEmptyPages = 1_000
    // A count may be older than its page, and a link may lead to one page without rows.
    private static let mostPagesBeyondCount = 3

    private let table: TableDefinition
    private let limit: Int?

    private var position: PullPosition
    private var positions = CycleDetector<PullPosition>(mostMeetings: 0)
    private var pages = CycleDetector<PageContent>(mostMeetings: PullMachine.mostRepetitions)
    private var emptyPages = 0
    private var pagesWithoutNews = 0
    private var pagesBeyondCount = 0
    private var rowCount = 0
    private var firstKey: Int64?

    /// The rows that a pull of everything has brought; nil in a pull of changes, where a row may come again as another.
    private(set) var seen: SeenRows?

    /// A pull that starts at a position, of as many rows as the limit says at the most. Of everything, it tells which of some
    /// ids have not come.
    init(_ start: PullPosition, of table: TableDefinition, limit: Int? = nil, lookingOutFor ids: [RecordID] = []) {
        self.table = table
        self.limit = limit
        position = start
        if start == .everything { seen = SeenRows(lookingOutFor: ids) }
        _ = positions.closesCircle(start)
    }

    /// Takes a page in.
    ///
    /// - Returns: Where the pull goes on; nil when the page was its last.
    mutating func receive(_ page: PullPage) throws(Endlessness) -> PullPosition? {
        try checkOrder(page.orderKeys)
        let rows = page.records.count + page.setAside.count
        rowCount += rows
        var hasNews = rows > 0
        if seen != nil { hasNews = see(page) }
        guard let next = page.next else { return nil }

        if next == position || positions.closesCircle(next) { throw .repeatsPosition }
        position = next
        if let limit, rowCount > limit { throw .exceedsLimit(limit) }
        emptyPages = rows == 0 ? emptyPages + 1 : 0
        if emptyPages > Self.mostEmptyPages { throw .onlyEmptyPages(emptyPages) }
        if rows > 0 {
            pagesWithoutNews = hasNews ? 0 : pagesWithoutNews + 1
            if pagesWithoutNews > 1 || pages.closesCircle(PageContent(page)) { throw .repeatsRows }
        }
        if let count = page.totalCount {
            pagesBeyondCount = count > rows ? 0 : pagesBeyondCount + 1
            if pagesBeyondCount > Self.mostPagesBeyondCount { throw .exceedsCount(count) }
        }
        return next
    }

    /// Refuses an order that runs backwards. A page may begin before the one before it, where rows have become visible
    /// late, but not lie before it as a whole.
    private mutating func checkOrder(_ keys: [Int64]) throws(Endlessness) {
        guard let first = keys.first, let last = keys.last else { return }
        guard last >= firstKey ?? last, zip(keys, keys.dropFirst()).allSatisfy({ $0 <= $1 }) else {
            throw .runsBackwards
        }
        firstKey = first
    }

    private mutating func see(_ page: PullPage) -> Bool {
        var hasNews = false
        for record in page.records where seen?.insert(record.id, in: table) == true { hasNews = true }
        for row in page.setAside where seen?.insert(.string(row.id), in: table) == true { hasNews = true }
        return hasNews
    }
}

/// What tells a page from another one: the ids and versions of its rows, their content where they have no version. One
/// page is kept at a time, and mostly the first row tells.
private struct PageContent: Equatable, Sendable {
    private let records: [Record]
    private let setAside: [String]

    init(_ page: PullPage) {
        records = page.records
        setAside = page.setAside.map(\.id)
    }

    static func == (one: Self, other: Self) -> Bool {
        one.setAside == other.setAside
            && one.records.elementsEqual(other.records) { one, other in
                guard let version = one.version else { return one == other }
                return one.id == other.id && other.version == version
            }
    }
}

/// Which rows were seen: hashes of ids, so that a table of a million rows takes some 16 MB.
///
/// Two ids may share a hash. Then a row that was not seen counts as seen, and is kept.
struct SeenRows: Sendable {
    private var hashes: Set<Int> = []
    /// Of the ids that were looked out for, those that no row has had in this very spelling.
    private(set) var unmet: Set<RecordID>

    init(lookingOutFor ids: [RecordID] = []) { unmet = Set(ids) }

    /// Takes a row in; false when it was there.
    mutating func insert(_ id: RecordID, in table: TableDefinition) -> Bool {
        unmet.remove(id)
        return hashes.insert(Self.hash(id, table)).inserted
    }

    func contains(_ id: RecordID, in table: TableDefinition) -> Bool { hashes.contains(Self.hash(id, table)) }

    private static func hash(_ id: RecordID, _ table: TableDefinition) -> Int {
        id.folded(for: table.idComparison).hashValue
    }
}

extension PullMachine.Endlessness {
    /// What the server does, and what to do about it.
    var message: String {
        switch self {
        case .repeatsRows:
            "The server sends the same rows again and again, each time with another page to follow; it has to filter and"
                + " order rows as it is asked to."
        case .repeatsPosition:
            "The server leads back to a page that it has sent before; its links, or what it continues by, have to lead"
                + " on."
        case .runsBackwards:
            "The server sends rows from the newest to the oldest, or in no order; it has to order them by what it is"
                + " asked to, ascending."
        case .exceedsCount(let count):
            "The server counts \(count) rows, and has another page to follow where they are all there; count or links"
                + " are wrong."
        case .exceedsLimit(let limit):
            "The server sends more than the \(limit) rows that were asked for, and has another page to follow; it has to"
                + " respect the limit."
        case .onlyEmptyPages(let count):
            "The server has sent \(count) pages without rows one after the other, each with another one to follow."
        }
    }
}
