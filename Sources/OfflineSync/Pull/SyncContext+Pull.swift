internal import RemoteContract
internal import SyncContract

extension SyncContext {
    /// Brings the rows of one or several tables, or of queries, that changed on the server since their last pull.
    ///
    /// When changes of these tables wait, everything that waits is pushed first, unless the options say otherwise. Where the
    /// server forbids all of them (403), the pull is made all the same, and the error of the push is thrown behind it. Rows
    /// with a local change that still waits are left alone. Rows that the server deleted are removed. Rows that no
    /// longer satisfy the predicate stay, unless the pull reconciles. Rows that the server cannot hand over, or that do
    /// not fit their table, are set aside: ``setAsideRows()`` names them.
    ///
    /// How late a change may become visible on the server for this to find it is a setting of the remote
    /// (`DatasyncOptions.settlingTime`); a reconciling pull finds what was later.
    ///
    /// A row of the server takes the place of the local one, also when only its content differs and not its version. A
    /// column that rows of the table have shown and that is absent becomes null; a declared one that was never shown
    /// keeps its value, and ``status()`` names it; columns declared `isLocal` are never touched.
    ///
    /// Of several, one that the server refuses or fails on keeps none of the others from being pulled: its error is thrown behind
    /// them, the first one where there are several. What stands against all of them, no network among it, ends the call.
    ///
    /// Pulls and purges run one at a time, in the order they were asked for; pushes run between two pages. The next page
    /// is fetched while one is applied. Each page and the progress of its query are one transaction: whatever ends a
    /// pull, what was applied stays, and the next pull goes on from there. A pull ends: where the server goes round in
    /// a circle, the error's cause says so.
    ///
    /// - Parameters:
    ///   - source: A table, or a query: a table and a predicate. A reconciling pull may have a limit; it removes
    ///     nothing then.
    ///   - more: More of them, pulled one after the other.
    ///   - options: How it is done.
    /// - Returns: What changed locally.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidParameter`` for an order, limit, offset, selection or
    ///   total count in a query, for a predicate that names a local column, for a table that is local only, and for
    ///   ``PullOptions/parameters`` that the remote cannot ask with: nothing was sent then; ``SyncError/Code/pullAborted`` when
    ///   the server cannot be reached or answers something else than rows, with what the push before did in
    ///   ``SyncError/push``; ``SyncError/Code/historyLost`` when the server no longer has what the pull goes on from, or
    ///   everything is to be brought anew; what `push()` throws; ``SyncError/Code/storeUnavailable`` when the store is
    ///   locked or closed meanwhile; `StoreError`; `CancellationError`.
    @discardableResult
    public func pull(
        _ source: any SyncSource,
        _ more: any SyncSource...,
        options: PullOptions = .init()
    ) async throws -> PullReport {
        try await pull(try ([source] + more).map { try pulledQuery($0, nil, options) }, options)
    }

    /// Brings the rows of a table or query that changed on the server since the last pull with the same query id.
    /// Otherwise as ``pull(_:_:options:)``.
    ///
    /// - Parameters:
    ///   - source: A table, or a query: a table and a predicate. A predicate other than the last one under this id
    ///     starts from the beginning.
    ///   - queryID: A name for the query, 1 to 128 characters. A reconciling pull does not use it.
    ///   - options: How it is done.
    /// - Returns: What changed locally.
    /// - Throws: As ``pull(_:_:options:)``, and ``SyncError/Code/invalidParameter`` for an id that is none.
    @discardableResult
    public func pull(
        _ source: any SyncSource,
        queryID: String,
        options: PullOptions = .init()
    ) async throws -> PullReport {
        try await pull([try pulledQuery(source, queryID, options)], options)
    }

    /// Has the next pull of a query start from the beginning.
    ///
    /// - Parameters:
    ///   - source: The table or query.
    ///   - queryID: The name that its pulls were given, if they were.
    ///   - parameters: Those of its pulls, where they were given no name.
    /// - Throws: ``SyncError`` with code ``SyncError/Code/invalidParameter`` for a table that is local only; `StoreError`;
    ///   `CancellationError`.
    public func resetDeltaToken(
        of source: any SyncSource,
        queryID: String? = nil,
        parameters: [String: String] = [:]
    ) async throws {
        let query = source.source
        let table = try syncedTable(query.table, "pulled")
        let id = try queryID ?? PullRunner.defaultQueryID(of: query, in: table, parameters)
        try await coordination.pullGate.withTurn {
            try await store.write { transaction in
                try PullCursorStorage.remove(id, of: query.table, &transaction)
                try PurgedRowStorage.removeAll(id, of: query.table, &transaction)
            }
        }
    }

    /// Pulls what somebody keeps who pushes by himself: as ``pull(_:queryID:options:)``, with a query id that is made of the
    /// query where it is nil, and without sending anything. With ``PullOptions/Order/pullFirst`` it drops the changes that
    /// have become pointless; several pulls may so precede one push.
    /// What is given to be done when all is here comes before a purge that waits for the pull.
    package func pullWithoutPush(
        _ source: any SyncSource,
        queryID: String?,
        options: PullOptions,
        complete: (@Sendable () async throws -> Void)? = nil
    ) async throws -> PullReport {
        try await pull([try pulledQuery(source, queryID, options)], options, pushes: false, complete: complete)
    }

    /// Brings what changed in several tables.
    func pull(_ sources: [any SyncSource], _ options: PullOptions) async throws -> PullReport {
        try await pull(try sources.map { try pulledQuery($0, nil, options) }, options)
    }

    // MARK: How

    /// A query to pull, and the name under which its progress is kept.
    struct PulledQuery {
        let query: Query
        let queryID: String
        let table: TableDefinition
    }

    private func pull(
        _ queries: [PulledQuery],
        _ options: PullOptions,
        pushes: Bool = true,
        complete: (@Sendable () async throws -> Void)? = nil
    ) async throws -> PullReport {
        try checkRemote()
        try check(options.parameters)
        let names = Set(queries.map(\.table.name))
        let order = options.order ?? order
        return try await coordination.pullGate.withTurn {
            var push: PushReport?
            var pull: PullReport?
            // Who signs out in the middle of it signs out of all of it.
            let whole = RequestCounter()
            do {
                try await checkReset()
                try await prepareExchangeInTurn()
                var forbidden: SyncError?
                do {
                    if order == .pushFirst, pushes { push = try await pushWaiting(of: names, partOf: whole) }
                } catch let error as SyncError where error.isOfForbiddenChanges {
                    // Who may not write may read.
                    (forbidden, push) = (error, error.push)
                }
                var report = try await bring(queries, options, partOf: whole)
                report.push = push
                pull = report
                if let forbidden { throw forbidden }
                if order == .pullFirst {
                    report.pruned = try await prune(queries.map(\.table))
                    pull = report
                    if pushes { report.push = try await pushWaiting(of: names, partOf: whole) }
                }
                if report.isComplete { try await complete?() }
                return report
            } catch {
                guard var error = SyncError(ending: error) else { throw error.ofApp }
                // What was sent has arrived, whatever became of the rest.
                error.push = error.push ?? push
                error.pull = error.pull ?? pull
                throw error
            }
        }
    }

    /// Refuses parameters that no pull can have, before anything is sent.
    private func check(_ parameters: [String: String]) throws(SyncError) {
        guard !parameters.isEmpty else { return }
        do {
            try remote.check(parameters: parameters)
        } catch {
            throw SyncError(
                .invalidParameter,
                "The service cannot be asked with the parameters of the pull; nothing was sent.",
                cause: error
            )
        }
    }

    /// Sends everything that waits, when a change of one of the tables does.
    private func pushWaiting(of tables: Set<String>, partOf whole: RequestCounter) async throws -> PushReport? {
        let waiting = try await store.read { transaction in
            var count = 0
            for table in tables { count += try OperationQueue.countToSend(of: table, &transaction) }
            return count
        }
        if waiting == 0, try await !isToSettle(tables) { return nil }
        return try await pushTellingApp(nil, partOf: whole)
    }

    private func bring(
        _ queries: [PulledQuery],
        _ options: PullOptions,
        partOf whole: RequestCounter
    ) async throws -> PullReport {
        try await pullEach(queries, options, partOf: whole) { query, work in
            let runner = runner(query.table, options)
            if options.reconciles {
                try await runner.reconcile(query.query, &work)
            } else {
                try await runner.runIncrementally(query.query, queryID: query.queryID, &work)
            }
        }
    }

    /// Makes the parts of a pull one after the other. One that the server refuses or fails on keeps none behind it from being made:
    /// its error is thrown behind them.
    ///
    /// - Returns: What all of them did.
    /// - Throws: As a pull, with what was done in ``SyncError/pull``.
    func pullEach<Part>(
        _ parts: [Part],
        _ options: PullOptions,
        partOf whole: RequestCounter? = nil,
        _ body: (Part, inout PullRunner.Work) async throws -> Void
    ) async throws -> PullReport {
        var work = PullRunner.Work(
            bounds: PullBounds(options, clock),
            progress: PullProgress(tables: parts.count)
        )
        let requests = RequestCounter(partOf: whole)
        do {
            var failure: (any Error)?
            try await requests.counting {
                for part in parts {
                    do {
                        try await body(part, &work)
                    } catch  where error.isOfOnePull {
                        failure = failure ?? error
                    }
                }
            }
            if let failure { throw failure }
        } catch {
            guard var error = SyncError(ending: error) else { throw error }
            work.report.requests = requests.count
            work.report.isComplete = false
            // One within a part of the pull has its own with it.
            error.pull = work.report
            throw error
        }
        work.report.requests = requests.count
        return work.report
    }

    func runner(_ table: TableDefinition, _ options: PullOptions) -> PullRunner {
        PullRunner(
            store: store,
            remote: remote,
            coordination: coordination,
            table: table,
            pageSize: options.pageSize.flatMap { $0 > 0 ? $0 : nil } ?? pageSize,
            parameters: options.parameters,
            tellProgress: options.progress,
            letOthersIn: options.reconciles ? options.betweenPages : nil,
            events: events
        )
    }

    private func prune(_ tables: [TableDefinition]) async throws -> Int {
        let schema = store.schema
        let storesUndeclaredColumns = store.capabilities.contains(.unknownColumns)
        return try await coordination.gate.withTurn {
            try await store.write { transaction in
                var pruned = 0
                for table in tables {
                    pruned += try QueuePruning(
                        table: table,
                        schema: schema,
                        storesUndeclaredColumns: storesUndeclaredColumns
                    )
                    .prune(&transaction)
                }
                return pruned
            }
        }
    }

    /// Asks for a row of a pull, to see whether the server answers it. Nothing is taken in.
    ///
    /// - Throws: As the pull does.
    package func ask(_ source: any SyncSource, queryID: String?, options: PullOptions) async throws {
        let pulled = try pulledQuery(source, queryID, options)
        let runner = runner(pulled.table, options)
        _ = try await runner.fetch(
            runner.asked(pulled.query),
            at: options.reconciles ? .everything : .changes(since: nil),
            1
        )
    }

    func pulledQuery(
        _ source: any SyncSource,
        _ queryID: String?,
        _ options: PullOptions
    ) throws -> PulledQuery {
        let query = source.source
        let table = try checked(query)
        guard query.limit == nil || options.reconciles, (1...128).contains(queryID?.count ?? 1) else {
            throw SyncError(
                .invalidParameter,
                "An incremental pull takes a query without a limit, and a query id of 1 to 128 characters."
            )
        }
        let id = try queryID ?? PullRunner.defaultQueryID(of: query, in: table, options.parameters)
        return PulledQuery(query: query, queryID: id, table: table)
    }

    private func checked(_ query: Query) throws -> TableDefinition {
        let table = try syncedTable(query.table, "pulled")
        guard query.order.isEmpty, query.offset == 0, query.selection == nil, !query.includesTotalCount else {
            throw SyncError(
                .invalidParameter,
                "A pull takes a query with a predicate only: no order, offset, selection or total count."
            )
        }
        guard !query.asksForSyncStates else {
            throw SyncError(
                .invalidParameter,
                "The sync state of a row is known on this device only; the server cannot be asked by it."
            )
        }
        try query.checkKinds(for: table)
        var columns: [String] = []
        try query.validated(for: table).predicate?.collectColumns(into: &columns)
        if let local = table.columns.first(where: { $0.isLocal && columns.contains($0.name) }) {
            throw SyncError(
                .invalidParameter,
                "Column '\(local.name)' stays on this device; the server cannot be asked by it."
            )
        }
        return table
    }
}
