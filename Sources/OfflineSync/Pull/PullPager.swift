internal import RemoteContract
internal import SyncContract

/// Decides what an incremental pull asks next. Pure: pages go in, queries come out.
///
/// Rows are asked for in the order of `updatedAt` and id, from an instant **on** (that instant included), so that rows
/// that share the last millisecond of a page, or are committed late in it, are seen. A page that stays within one
/// millisecond is continued after its last id. A server with finer instants than milliseconds cannot be continued that
/// way: it shows by repeating a row or by ids that do not rise, and the rest of the millisecond is asked for by number.
struct PullPager {
    private enum Position: Equatable {
        /// From an instant on; from the start when nil.
        case from(Int64?)
        /// Within one millisecond, after an id.
        case after(Int64, String)
        /// From an instant on, leaving out as many rows as were seen.
        case skipping(Int64?, Int)
    }

    private let base: Query
    private var position: Position
    private var previousPage: Set<Identity> = []

    /// The instant up to which everything was seen; nil as long as no row had one.
    private(set) var token: Timestamp?

    /// Whether everything was seen.
    private(set) var isFinished = false

    private struct Identity: Hashable {
        var id: RecordID
        var version: String?
    }

    /// - Parameters:
    ///   - query: The table, the app's predicate, and the page size as limit.
    ///   - token: Where the last pull of the same query ended.
    init(_ query: Query, since token: Timestamp?) {
        self.base = query
        self.token = token
        self.position = .from(token?.milliseconds)
    }

    /// The next page to ask for.
    var query: Query {
        let updatedAt = Column("updatedAt")
        func date(_ milliseconds: Int64) -> FieldValue { .date(Timestamp(milliseconds: milliseconds)) }
        var query = base
        switch position {
        case .from(nil): break
        case .from(let instant?): query = query.filtered(by: updatedAt >= date(instant))
        case .after(let instant, let id):
            query = query.filtered(
                by: updatedAt > date(instant) || (updatedAt == date(instant) && Column("id") > .string(id))
            )
        case .skipping(let instant, let count):
            if let instant { query = query.filtered(by: updatedAt >= date(instant)) }
            query = query.skipping(count)
        }
        return query.ordered(by: "updatedAt").ordered(by: "id")
    }

    /// Takes a page in and moves on.
    mutating func receive(_ page: RemotePage) {
        let newest = page.records.compactMap { $0.updatedAt?.milliseconds }.max()
        let reached = token?.milliseconds
        if let newest, newest > reached ?? Int64.min { token = Timestamp(milliseconds: newest) }
        guard let last = page.records.last, !page.isKnownToBeLast else {
            isFinished = true
            return
        }
        let identities = Set(page.records.map { Identity(id: $0.id, version: $0.version) })
        let repeatsRows = !identities.isDisjoint(with: previousPage)
        previousPage = identities

        if let newest, newest > reached ?? Int64.min {
            position = .from(newest)
        } else {
            position = next(after: last, pageSize: page.records.count, repeatsRows: repeatsRows)
        }
    }

    /// Where to go on when a page did not reach a later instant.
    private func next(after last: Record, pageSize: Int, repeatsRows: Bool) -> Position {
        switch position {
        case .skipping(let instant, let count):
            return .skipping(instant, count + pageSize)
        case .from(let instant):
            guard let instant, let id = last.id.stringValue, last.updatedAt != nil else {
                // Rows without `updatedAt` come first; only their number leads past them.
                return .skipping(instant, pageSize)
            }
            return .after(instant, id)
        case .after(let instant, let previousID):
            guard let id = last.id.stringValue, !repeatsRows, Self.comes(id, after: previousID) else {
                return .skipping(instant, 0)
            }
            return .after(instant, id)
        }
    }

    private static func comes(_ id: String, after previous: String) -> Bool {
        previous.utf8.lexicographicallyPrecedes(id.utf8)
    }
}
