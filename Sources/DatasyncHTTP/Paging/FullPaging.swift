internal import RemoteContract
internal import SyncContract

/// What a pull of everything asks next: rows by id.
struct FullPaging: Sendable, Hashable, Codable {
    private var ids = IDPaging()
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
        // Once, for whoever shows how far the pull has come.
        query.includesTotalCount = ids.lastID == nil
        return ids.remaining(query)
    }

    /// The query with the most conditions that a pull may come to ask: what a server takes of it, it takes of all.
    static func widestRequest(_ query: Query, pageSize: Int?) throws(RemoteError) -> Query {
        var paging = FullPaging(limit: query.limit)
        try paging.ids.advance(behind: .sample)
        return paging.request(query, pageSize: pageSize)
    }

    /// Takes a page in and moves on.
    mutating func receive(_ page: ServerPage) throws(RemoteError) {
        if let wanted { self.wanted = wanted - page.rows.count }
        guard let last = page.rows.last, !page.isKnownToBeLast, wanted ?? 1 > 0 else {
            isFinished = true
            return
        }
        try ids.advance(behind: last.id)
    }
}
