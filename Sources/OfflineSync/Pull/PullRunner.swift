internal import RemoteContract
internal import SyncContract

/// Fetches the pages of one table and applies them; each page and its cursor in one transaction. The next page is fetched
/// while one is applied.
struct PullRunner {
    let store: any SyncContextDataSource
    let remote: any SyncRemote
    let coordination: SyncCoordination
    let table: TableDefinition
    let pageSize: Int?
    let parameters: [String: String]
    let tellProgress: (@Sendable (SyncProgress) -> Void)?
    let letOthersIn: (@Sendable () async throws -> Void)?
    let events: SyncEvents

    /// What the tables of one pull share.
    struct Work: Sendable {
        var report = PullReport()
        var bounds: PullBounds
        var progress: PullProgress
        let confirmed = ConfirmedTables()
        /// How many rows were passed over because an answer had overtaken their page.
        var overtaken = 0
    }

    /// A page, and the request that has brought it.
    struct Fetched: Sendable {
        var page: PullPage
        let request: AnswerLog.Request

        var rowCount: Int { page.records.count + page.setAside.count }
    }

    /// The name of a query that was given none.
    static func defaultQueryID(
        of query: Query,
        in table: TableDefinition,
        _ parameters: [String: String]
    ) throws -> String {
        "auto:" + StableHash.text(of: try fingerprint(of: query, in: table, parameters))
    }

    /// What a cursor belongs to: another condition, or other parameters, start from the beginning.
    ///
    /// The condition is in the names of the server. A column that is renamed here alone leaves a pull where it was; one that
    /// stands for another one of the server starts it anew. A cursor is its table's, whatever that is called on the server.
    static func fingerprint(
        of query: Query,
        in table: TableDefinition,
        _ parameters: [String: String]
    ) throws -> String {
        let query = WireNames.areNeeded(for: table) ? WireNames(table).outgoing(query) : query
        let condition = try query.predicate?.normalized().canonicalText ?? ""
        return condition + text(of: parameters)
    }

    /// What stands behind a condition, of which there is none or one in brackets.
    static func text(of parameters: [String: String]) -> String {
        parameters.sorted { $0.key < $1.key }
            .map { " " + JSONText.quoted($0.key) + "=" + JSONText.quoted($0.value) }
            .joined()
    }

    /// Whether a fingerprint is of a pull with parameters: those of a condition alone end with its bracket.
    static func hasParameters(_ fingerprint: String) -> Bool { fingerprint.hasSuffix("\"") }

    /// Whether a fingerprint is of a pull with these parameters, by their text.
    static func hasParameters(_ fingerprint: String, _ text: String) -> Bool {
        fingerprint == text || fingerprint.hasSuffix(")" + text)
    }

    /// Brings what changed since the last pull of the query.
    func runIncrementally(_ query: Query, queryID: String, _ work: inout Work) async throws {
        try await refetch(&work)
        let name = table.name
        let query = try await asked(query)
        let fingerprint = try Self.fingerprint(of: query, in: table, parameters)
        let (start, purgedRows) = try await store.read { transaction in
            let cursor = try PullCursorStorage.cursor(queryID, of: name, query: fingerprint, &transaction)
            return (cursor, try PurgedRowStorage.rows(queryID, of: name, &transaction))
        }
        // Who starts from the beginning wants everything.
        var purged = PurgedRows(start == nil ? [] : purgedRows, of: table)
        if start == nil, !purgedRows.isEmpty {
            try await store.write { try PurgedRowStorage.removeAll(queryID, of: name, &$0) }
        }
        var cursor = start
        var machine = PullMachine(.changes(since: start), of: table)
        try await fetchPages(query, from: .changes(since: start), &machine, &work) { fetched, work in
            var fetched = fetched
            var came: [RecordID] = []
            if !purged.isEmpty {
                came = fetched.page.records.filter { purged[$0.id] != nil && !purged.contains($0) }.map(\.id)
                fetched.page.records.removeAll(where: purged.contains)
            }
            // Nothing to write, most often: a pull that brings nothing leaves the store as it is.
            let reached = fetched.page.cursor == cursor ? nil : fetched.page.cursor
            let passed = reached.map { reached in
                purged.all.filter { !remote.mayRepeat($0, of: table, after: reached) }.map(\.id)
            }
            let forgotten = came + (passed ?? [])
            try await apply(fetched, isNews: reached != nil || !forgotten.isEmpty, &work) { transaction in
                for id in forgotten { try PurgedRowStorage.remove(id, queryID, of: name, &transaction) }
                guard let reached else { return }
                try PullCursorStorage.set(reached, queryID, of: name, query: fingerprint, &transaction)
            }
            purged.remove(forgotten)
            if reached != nil, fetched.rowCount > 0 { work.bounds.moved() }
            cursor = fetched.page.cursor ?? cursor
        }
    }

    /// Brings all rows of a query, then removes what it has not met.
    func reconcile(_ query: Query, _ work: inout Work) async throws {
        // Rows that are answered for from here on are none that the server no longer has.
        let beginning = coordination.answers.requestStarted()
        if !parameters.isEmpty {
            let own = Self.text(of: parameters)
            try await store.write { [table] in try PullCursorStorage.setReconciled(own, of: table.name, &$0) }
        }
        try await refetch(&work)
        let listed = try await store.read { [table] in try SetAsideStorage.ids(of: table.name, &$0) }
        var machine = PullMachine(.everything, of: table, limit: query.limit, lookingOutFor: listed)
        try await fetchPages(asked(query), from: .everything, &machine, endsTransfer: false, &work) { fetched, work in
            try await apply(fetched, isNews: false, &work) { _ in }
        }
        guard work.report.isComplete else { return }
        if query.limit == nil, let seen = machine.seen {
            try await removeUnseen(seen, of: query, since: beginning, &work)
        }
        tell(0, of: nil, isLast: true, &work)
    }

    /// A query in the server's ids.
    func asked(_ query: Query) async throws -> Query {
        let translation = IdentifierTranslation(table, store.schema)
        guard translation.isNeeded else { return query }
        return try await store.read { try translation.outgoing(query, &$0) }
    }

    /// Goes through the pages of a pull, and fetches the next one while one is applied. Whether nothing of the table is left
    /// to do behind them is said for the progress.
    func fetchPages(
        _ query: Query,
        from start: PullPosition,
        _ machine: inout PullMachine,
        endsTransfer: Bool = true,
        _ work: inout Work,
        _ apply: (Fetched, inout Work) async throws -> Void
    ) async throws {
        guard !stops(&work) else { return }
        let overtaken = work.overtaken
        var fetched = try await fetch(query, at: start, work.bounds.pageSize(pageSize))
        while true {
            let rows = fetched.rowCount
            let left = fetched.page.totalCount
            let next = try machine.next(after: fetched.page)
            guard let next, !work.bounds.leaveNothing(after: rows) else {
                try await apply(fetched, &work)
                let isLast = next == nil && endsTransfer && work.overtaken == overtaken
                tell(rows, of: left, isLast: isLast, &work)
                guard let next else { break }
                if stops(&work) { break }
                try await letOthersIn?()
                fetched = try await fetch(query, at: next, work.bounds.pageSize(pageSize))
                continue
            }
            let size = work.bounds.pageSize(pageSize, after: rows)
            async let following = fetch(query, at: next, size)
            try await apply(fetched, &work)
            tell(rows, of: left, isLast: false, &work)
            // What is on its way then is given up.
            if stops(&work) { break }
            try await letOthersIn?()
            fetched = try await following
        }
        guard work.overtaken > overtaken else { return }
        try await refetch(&work)
        if endsTransfer, work.report.isComplete { tell(0, of: nil, isLast: true, &work) }
    }

    /// Whether a bound of the pull is met.
    func stops(_ work: inout Work) -> Bool {
        guard work.bounds.areReached else { return false }
        work.report.isComplete = false
        return true
    }

    private func tell(_ rows: Int, of left: Int?, isLast: Bool, _ work: inout Work) {
        let progress = work.progress.applied(rows: rows, of: left, isLast: isLast)
        tellProgress?(progress)
    }

    func fetch(_ query: Query, at position: PullPosition, _ pageSize: Int?) async throws -> Fetched {
        try await fetch(query, at: position, pageSize, parameters)
    }

    /// A page as a pull with some parameters is shown it.
    func fetch(
        _ query: Query,
        at position: PullPosition,
        _ pageSize: Int?,
        _ parameters: [String: String]
    ) async throws -> Fetched {
        try Task.checkCancellation()
        let request = coordination.answers.requestStarted()
        do {
            let page = try await remote.page(
                query,
                of: table,
                at: position,
                pageSize: pageSize,
                parameters: parameters
            )
            return Fetched(page: page, request: request)
        } catch let error as RemoteError {
            throw Self.aborted(error)
        }
    }

    static func aborted(_ error: RemoteError) -> SyncError {
        guard error.code != .historyLost else {
            return SyncError(
                .historyLost,
                "The server no longer has the history that the pull goes on from; everything has to be brought anew, which a"
                    + " session does by itself.",
                cause: error
            )
        }
        return SyncError(
            .pullAborted,
            "The pull stopped; what was applied stays, and the next pull goes on from there.",
            cause: error
        )
    }

    /// Applies a page when pushes leave it its turn; one without rows when there is something to write beside them.
    func apply(
        _ fetched: Fetched,
        isNews: Bool,
        isRepeated: Bool = false,
        _ work: inout Work,
        _ alongside: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws {
        guard isNews || fetched.rowCount > 0 else { return }
        var application = PageApplication(
            table: table,
            schema: store.schema,
            storesUndeclaredColumns: store.capabilities.contains(.unknownColumns)
        )
        while true {
            do {
                return try await apply(fetched, by: application, isRepeated: isRepeated, &work, alongside)
            } catch let suspected as SuspectedRows {
                // Nothing was written. Each of them is asked for once.
                for (id, spelling) in try await spellings(of: suspected.ids) { application.spellings[id] = spelling }
            }
        }
    }

    private func apply(
        _ fetched: Fetched,
        by application: PageApplication,
        isRepeated: Bool,
        _ work: inout Work,
        _ alongside: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws {
        let (table, hasParameters) = (table, !parameters.isEmpty)
        let counts = try await coordination.gate.withTurn {
            try await store.write { transaction in
                let counts = try application.apply(fetched.page.records, from: fetched.request, &transaction)
                guard counts.suspected.isEmpty else { throw SuspectedRows(ids: counts.suspected) }
                try SetAsideStorage.remove(fetched.page.records.lazy.map(\.id), of: table, &transaction)
                try SetAsideStorage.insert(
                    fetched.page.setAside + counts.setAside,
                    of: table,
                    areFirst: !isRepeated,
                    hasParameters: hasParameters,
                    &transaction
                )
                try alongside(&transaction)
                return counts
            }
        }
        events.send(.pageApplied(table: table.name, rows: counts.received + counts.deleted))
        events.arrived(counts.written, of: table.name)
        let setAside = fetched.page.setAside + counts.setAside
        for row in setAside { events.send(.rowSetAside(table: table.name, row: row)) }
        work.overtaken += counts.overtaken
        work.report.received += counts.received
        work.report.deleted += counts.deleted
        work.report.skip(counts.skipped, of: table.name)
        work.report.came(fetched.page.records.lazy.map(\.id), of: table.name)
        work.report.setAside(setAside, of: table.name)
        work.bounds.count(counts.received + counts.deleted)
    }
}

extension PullMachine {
    /// Takes a page in.
    ///
    /// - Returns: Where the pull goes on; nil when the page was its last.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/pullAborted`` and what the server does as its cause.
    mutating func next(after page: PullPage) throws -> PullPosition? {
        do {
            return try receive(page)
        } catch {
            throw PullRunner.aborted(RemoteError(.invalidResponse, error.message))
        }
    }
}
