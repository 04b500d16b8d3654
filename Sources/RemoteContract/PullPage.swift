public import SyncContract

/// Where in a pull a page lies.
public enum PullPosition: Sendable, Hashable {
    /// The first page of a pull of all rows, whether or not they changed.
    case everything

    /// The first page of a pull of what changed since a cursor was given; of all rows without one, and with one that the
    /// remote cannot read.
    case changes(since: String?)

    /// The page after another one of the same pull, in the remote's own words.
    case next(String)
}

/// One page of a pull.
public struct PullPage: Sendable, Hashable {
    /// The rows. Tombstones have `deleted` set to true.
    public var records: [Record]

    /// Rows that were left out because they cannot be had or do not fit the table.
    public var setAside: [SetAsideRow]

    /// Where the pull goes on; nil when this was its last page.
    public var next: PullPosition?

    /// Where the next pull of the same query starts when this page, and all before it, were stored: opaque text, to be
    /// kept in the same transaction as the page. Nil when it starts where this pull did.
    public var cursor: String?

    /// Creates a page.
    public init(
        records: [Record],
        setAside: [SetAsideRow] = [],
        next: PullPosition? = nil,
        cursor: String? = nil
    ) {
        self.records = records
        self.setAside = setAside
        self.next = next
        self.cursor = cursor
    }
}

/// A row that a pull left out so that the others could come.
public struct SetAsideRow: Sendable, Hashable {
    /// The row's id as the server has it; it may be empty.
    public var id: String

    /// Why it was left out and what to do: names of columns, never content.
    public var reason: String

    /// Creates one.
    public init(id: String, reason: String) {
        self.id = id
        self.reason = reason
    }
}
