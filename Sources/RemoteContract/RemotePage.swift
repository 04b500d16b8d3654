public import SyncContract

/// One page of a query's rows.
public struct RemotePage: Sendable, Hashable {
    /// The rows in the query's order. Tombstones have `deleted` set to true.
    public var records: [Record]

    /// Rows that do not fit the table.
    public var setAside: [SetAsideRow]

    /// Whether the server said that nothing follows. False when more follows or when it did not say.
    public var isKnownToBeLast: Bool

    /// How many rows satisfy the query, this page included; nil when the server did not say.
    public var totalCount: Int?

    /// How many of the query's rows the page that follows skips, by what the server said; nil when it did not say. A page
    /// without rows is the last one unless it has this, which is then more than the query has skipped.
    public var nextOffset: Int?

    /// Creates a page.
    public init(
        records: [Record],
        setAside: [SetAsideRow] = [],
        isKnownToBeLast: Bool,
        totalCount: Int? = nil,
        nextOffset: Int? = nil
    ) {
        self.records = records
        self.setAside = setAside
        self.isKnownToBeLast = isKnownToBeLast
        self.totalCount = totalCount
        self.nextOffset = nextOffset
    }
}
