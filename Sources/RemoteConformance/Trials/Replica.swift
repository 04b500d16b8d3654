internal import ConformanceRunner
internal import RemoteContract
internal import SyncContract

/// What a device has of the back end by its pulls: rows by id, and the cursor, each page stored with its cursor as the
/// engine does.
struct Replica: Sendable {
    var remote: any SyncRemote
    var pageSize: Int?
    var query: Query
    var parameters: [String: String] = [:]
    let table: TableDefinition
    let trial: Trial<RemoteSubject>
    private(set) var rows: [String: Record] = [:]
    private(set) var deleted: Set<String> = []
    private(set) var setAside: [String: String] = [:]
    private(set) var cursor: String?
    /// The pages of the last pull.
    private(set) var pages: [PullPage] = []

    /// A pull of a few hundred rows that takes more pages than this goes round in a circle.
    private static let mostPages = 600

    init(
        _ remote: any SyncRemote,
        _ trial: Trial<RemoteSubject>,
        pageSize: Int? = nil,
        of table: TableDefinition = .items
    ) {
        self.remote = remote
        self.table = table
        query = Query(table.name)
        self.trial = trial
        self.pageSize = pageSize
    }

    /// The rows that are not deleted.
    var live: [String: Record] { rows.filter { !$0.value.isDeleted } }

    /// Pulls what changed, or everything; to the end, or as many pages as are given.
    ///
    /// - Parameters:
    ///   - start: What to begin with; what changed since the cursor when nil.
    ///   - limit: After how many pages the device dies.
    ///   - between: What happens after each page but the last.
    /// - Throws: What the remote throws; `RemoteTrial.Stopped` for a pull that does not end.
    mutating func pull(
        from start: PullPosition? = nil,
        pages limit: Int = .max,
        between: (Int) async throws -> Void = { _ in }
    ) async throws {
        var position: PullPosition? = start ?? .changes(since: cursor)
        pages = []
        while let current = position, pages.count < limit {
            guard pages.count < Self.mostPages else {
                trial.report(
                    "a pull of pages of \(pageSize.map(String.init) ?? "any size")",
                    expected: "an end",
                    got: "\(pages.count) pages, and another one to follow"
                )
                throw RemoteTrial.Stopped()
            }
            let page = try await remote.page(
                query,
                of: table,
                at: current,
                pageSize: pageSize,
                parameters: parameters
            )
            store(page)
            position = page.next
            if position != nil { try await between(pages.count) }
        }
    }

    private mutating func store(_ page: PullPage) {
        pages.append(page)
        for record in page.records {
            let id = record.id.stringValue ?? "\(record.id)"
            rows[id] = record
            if record.isDeleted { deleted.insert(id) } else { deleted.remove(id) }
        }
        for row in page.setAside { setAside[row.id] = row.reason }
        cursor = page.cursor ?? cursor
    }

    /// Forgets the rows, not the cursor: what the next pull brings is seen.
    mutating func forget() {
        rows = [:]
        deleted = []
    }

    /// Reports live rows that are not those of the back end, and rows deleted there that are live here.
    func expectSame(as backEnd: [Record], _ input: String) {
        let theirs = Dictionary(
            backEnd.filter { !$0.isDeleted }.map { ($0.id.stringValue ?? "", $0) },
            uniquingKeysWith: { $1 }
        )
        let missing = theirs.keys.filter { live[$0] == nil }
        let surplus = live.keys.filter { theirs[$0] == nil }
        if !missing.isEmpty || !surplus.isEmpty {
            return trial.report(
                input,
                expected: "the rows of the back end",
                got: "missing \(shown(missing)), too many \(shown(surplus))"
            )
        }
        for (id, row) in theirs.sorted(by: { $0.key < $1.key }) where live[id]?.essence != row.essence {
            return trial.report(
                input,
                expected: shown(row, not: live[id]),
                got: shown(live[id], not: row),
                remark: "A later version of this row did not come, or an earlier one came after it."
            )
        }
    }
}
