public import RemoteContract
public import SyncContract

/// What a pull did.
public struct PullReport: Sendable {
    /// How many rows the pull inserted or changed locally. Rows that were up to date already do not count.
    public internal(set) var received = 0

    /// How many local rows were removed: the server deleted them, or, in a reconciling pull, has them no longer, or they
    /// left the condition.
    public internal(set) var deleted = 0

    /// How many rows were left alone: a local change waits for them, or the local row was kept over just what the server has
    /// (``ConflictResolution/keepLocal(_:)``).
    public var skipped: Int { skippedRows.count }

    /// How many items that were asked for by id the server did not hand over. Where it failed, the next pull asks again;
    /// where the row does not fit, it is in ``setAside``.
    public internal(set) var notFetched = 0

    /// The rows that the server could not hand over to this pull, or that do not fit their table, and why; not those that a
    /// later page of the same pull has brought. Their local state stays as it is; ``SyncContext/setAsideRows()`` lists them
    /// from then on.
    ///
    /// They come with the pull that follows their next change, and are asked for again when the declaration of their table
    /// has changed, or by ``SyncContext/retrySetAsideRows()``.
    public private(set) var setAside: [SetAsideRow] = []

    /// Whether everything was brought; false when a bound of the options was met, and the next pull goes on.
    public internal(set) var isComplete = true

    /// How many changes that waited were dropped because the server has the same content: see
    /// ``PullOptions/Order/pullFirst``.
    public internal(set) var pruned = 0

    /// How many requests the pull sent, those of ``push`` not included.
    public internal(set) var requests = 0

    /// What the push before the pull did, or after it as ``PullOptions/order`` says; nil when nothing was waiting.
    public internal(set) var push: PushReport?

    /// What that push did not get taken: conflicts and refusals. They stay stored.
    public var notTaken: [TableOperationError<Record>] { push.map { $0.conflicts + $0.failures } ?? [] }

    private struct Row: Hashable {
        let table: String
        let id: RecordID
    }

    private var skippedRows: Set<Row> = []
    private var setAsideRows: Set<Row> = []

    /// Counts rows that were left alone; a pull may see one twice.
    mutating func skip(_ ids: Set<RecordID>, of table: String) {
        for id in ids { skippedRows.insert(Row(table: table, id: id)) }
    }

    /// Takes over the rows that another pull has left alone or set aside.
    mutating func addRows(of other: PullReport) {
        skippedRows.formUnion(other.skippedRows)
        for row in other.setAside where setAsideRows.insert(Row(table: row.table, id: .string(row.id))).inserted {
            setAside.append(row)
        }
    }

    /// Takes note of rows that came and were not set aside: a pull may see one twice, and then as it fits.
    mutating func came(_ ids: some Collection<RecordID>, of table: String) {
        guard !setAsideRows.isEmpty else { return }
        let came = Set(ids.lazy.map { Row(table: table, id: $0) }).intersection(setAsideRows)
        guard !came.isEmpty else { return }
        setAsideRows.subtract(came)
        setAside.removeAll { came.contains(Row(table: $0.table, id: .string($0.id))) }
    }

    /// Names rows that were set aside; a pull may see one twice.
    mutating func setAside(_ rows: [SetAsideRow], of table: String) {
        for row in rows where setAsideRows.insert(Row(table: table, id: .string(row.id))).inserted {
            setAside.append(SetAsideRow(id: row.id, reason: row.reason, table: table))
        }
    }
}

extension PullReport: CustomStringConvertible {
    /// The numbers in words; never what is in a row.
    public var description: String { numbers + (push.map { "; push: \($0)" } ?? "") }

    /// The description without the push.
    var numbers: String {
        "\(received) received, \(deleted) deleted, \(skipped) skipped, \(notFetched) not fetched, \(setAside.count) set aside,"
            + " \(pruned) pruned, \(requests) requests" + (isComplete ? "" : ", incomplete")
    }
}
