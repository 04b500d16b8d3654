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

    /// How many rows the server says there are still for this pull, those of this page included; nil when it does not
    /// say.
    public var totalCount: Int?

    /// Where the rows stand in the order in which the remote asks for them, as numbers that do not fall, such as seconds
    /// or sequence numbers; empty when it cannot say. A pull ends with an error when they fall: the rows between would
    /// be lost.
    public var orderKeys: [Int64]

    /// Creates a page.
    public init(
        records: [Record],
        setAside: [SetAsideRow] = [],
        next: PullPosition? = nil,
        cursor: String? = nil,
        totalCount: Int? = nil,
        orderKeys: [Int64] = []
    ) {
        self.records = records
        self.setAside = setAside
        self.next = next
        self.cursor = cursor
        self.totalCount = totalCount
        self.orderKeys = orderKeys
    }
}

/// A row that a pull left out so that the others could come.
public struct SetAsideRow: Sendable, Hashable {
    /// The row's id as the server has it; it may be empty.
    public var id: String

    /// Why it was left out and what to do: names of columns, never content. Where another row stands against it, the id of that.
    public var reason: String

    /// The table; empty in what a remote gives, the engine fills it in.
    public var table: String

    /// Whether it may have been left out for a reason that passes, as when the server has failed on it, so that the next pull asks
    /// for it once more.
    public var mayPass = false

    /// The row's id, as operations and errors name it.
    public var itemID: String { id }

    /// Creates one.
    public init(id: String, reason: String, table: String = "") {
        self.id = id
        self.reason = reason
        self.table = table
    }
}
