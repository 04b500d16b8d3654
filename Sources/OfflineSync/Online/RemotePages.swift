public import RemoteContract
internal import SyncContract

/// The rows of a query on the server, page by page. Made by `RemoteTable.pages(_:size:)`.
///
/// A page may be empty although more follow: a server may take rows out of a page after it has read it. Without an order
/// and an offset, each page goes on behind the last id of the one before, so that rows which come and go meanwhile shift
/// nothing. Behind rows that do not fit the table it goes on by their number, and behind a page without rows where the server
/// says.
public struct RemotePages: AsyncSequence, Sendable {
    let table: RemoteTable<Record>
    let query: Query
    let size: Int?

    /// Starts with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(table: table, query: query, size: size) }

    /// Goes from page to page.
    public struct Iterator: AsyncIteratorProtocol {
        let table: RemoteTable<Record>
        let query: Query
        let size: Int?
        private var lastID: RecordID?
        private var seen = 0
        /// How many rows there are, as the server said with the first page: behind an id it counts those that are left.
        private var totalCount: Int?
        /// How many rows the next page skips behind the last id: those that came, and those that the server kept back.
        private var skippedBehindLastID = 0
        private var previous: [RecordID] = []
        /// Whether the page before came a second time.
        private var isRepeated = false
        private var isFinished = false
        private var emptyPages = 0
        /// As many as a pull takes in a row.
        private static let mostEmptyPages = 1_000

        init(table: RemoteTable<Record>, query: Query, size: Int?) {
            self.table = table
            self.size = size
            self.query = query
        }

        /// The next page; nil after the last one.
        ///
        /// - Throws: `RemoteError`, with code `invalidResponse` for a server that gives one page over and over, or one without
        ///   rows and does not say where the others are that follow; `CancellationError`.
        public mutating func next() async throws -> RemotePage? {
            guard !isFinished, query.limit.map({ seen < $0 }) ?? true else { return nil }
            var page = try await table.remote.page(
                nextQuery,
                of: table.definition,
                includesDeleted: table.includesDeleted
            )
            if lastID == nil { totalCount = page.totalCount } else { page.totalCount = totalCount }
            let ids = page.records.map(\.id) + page.setAside.map { RecordID.string($0.id) }
            guard ids.isEmpty || ids != previous else {
                // Rows that came meanwhile may have moved it, by just its length.
                if !followsIDs, !isRepeated {
                    guard !page.isKnownToBeLast else {
                        isFinished = true
                        return nil
                    }
                    isRepeated = true
                    skippedBehindLastID += ids.count
                    return try await next()
                }
                isFinished = true
                throw RemoteError(
                    .invalidResponse,
                    "The server gives one page of table '\(table.name)' over and over; it seems to ignore conditions or"
                        + " $skip."
                )
            }
            if !ids.isEmpty { (previous, isRepeated, emptyPages) = (ids, false, 0) }
            seen += ids.count
            if followsIDs, page.setAside.isEmpty, let last = page.records.last {
                (lastID, skippedBehindLastID) = (last.id, 0)
            } else {
                // Where the rows set aside stand among the others is not known.
                skippedBehindLastID += ids.count
            }
            guard ids.isEmpty, !page.isKnownToBeLast, let nextOffset = page.nextOffset,
                nextOffset > query.offset + skippedBehindLastID
            else {
                isFinished = page.isKnownToBeLast || ids.isEmpty
                return ids.isEmpty && seen > 0 ? nil : page
            }
            skippedBehindLastID = nextOffset - query.offset
            emptyPages += 1
            guard emptyPages < Self.mostEmptyPages else {
                isFinished = true
                throw RemoteError(
                    .invalidResponse,
                    "The server says again and again that rows of table '\(table.name)' follow, and gives none; it seems to"
                        + " ignore $skip."
                )
            }
            return page
        }

        /// Whether pages go on behind an id.
        private var followsIDs: Bool { query.order.isEmpty && query.offset == 0 }

        private var nextQuery: Query {
            var next = query
            next.limit = [query.limit.map { $0 - seen }, size].compactMap(\.self).min()
            let columns = Set(query.order.map { $0.column.lowercased() })
            // Servers take five columns at most.
            if !columns.contains("id"), columns.count < 5 { next = next.ordered(by: "id") }
            if let lastID { next = next.filtered(by: Column("id") > lastID.fieldValue) }
            next.offset = query.offset + skippedBehindLastID
            return next
        }
    }
}
