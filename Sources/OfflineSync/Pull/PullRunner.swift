internal import RemoteContract
internal import SyncContract

/// Fetches pages and applies them; each page and its cursor in one transaction.
struct PullRunner {
    let store: any SyncContextDataSource
    let remote: any SyncRemote
    let table: TableDefinition
    let pageSize: Int?

    private var application: PageApplication {
        PageApplication(
            table: table,
            schema: store.schema,
            storesUndeclaredColumns: store.capabilities.contains(.unknownColumns)
        )
    }

    func runIncrementally(_ query: Query, queryID: String) async throws -> PullReport {
        try await countingRequests { try await fetchChanges(query, queryID: queryID) }
    }

    func runFully(_ query: Query) async throws -> PullReport {
        try await countingRequests { try await fetchAll(query) }
    }

    private func countingRequests(_ pull: () async throws -> PullReport) async throws -> PullReport {
        let requests = RequestCounter()
        var report = try await requests.counting(pull)
        report.requests = requests.count
        return report
    }

    private func fetchChanges(_ query: Query, queryID: String) async throws -> PullReport {
        var report = PullReport()
        try await refetch(&report)
        let name = table.name
        let fingerprint = try query.predicate?.normalized().canonicalText ?? ""
        var cursor = try await store.read {
            try PullCursorStorage.cursor(queryID, of: name, query: fingerprint, &$0)
        }
        var position: PullPosition? = .changes(since: cursor)
        while let current = position {
            let page = try await fetch(query, at: current)
            // Nothing to write, most often: a pull that brings nothing leaves the store as it is.
            let reached = page.cursor == cursor ? nil : page.cursor
            try await apply(page, &report) { transaction in
                guard let reached else { return }
                try PullCursorStorage.set(reached, queryID, of: name, query: fingerprint, &transaction)
            }
            cursor = page.cursor ?? cursor
            position = page.next
        }
        return report
    }

    private func fetchAll(_ query: Query) async throws -> PullReport {
        var report = PullReport()
        try await refetch(&report)
        var position: PullPosition? = .everything
        while let current = position {
            let page = try await fetch(query, at: current)
            try await apply(page, &report) { _ in }
            position = page.next
        }
        return report
    }

    /// Asks for the items by id whose local state was given up. One that the server does not hand over is asked for
    /// again by the next pull, and holds nothing up. That there is none is believed of a table that is there.
    private func refetch(_ report: inout PullReport) async throws {
        let name = table.name
        let confirmed = ConfirmedTables()
        for itemID in try await store.read({ try ConfigurationTable.refetches(in: name, &$0) }) {
            let record: Record
            do {
                if let found = try await remote.record(itemID, in: table) {
                    record = found
                } else {
                    try await confirmed.confirm(table, at: remote)
                    record = Record(id: .string(itemID), ["deleted": true])
                }
            } catch let error as RemoteError {
                guard await isAboutTheItem(error) else { throw Self.aborted(error) }
                report.notFetched += 1
                report.setAside([SetAsideRow(id: itemID, reason: error.message)])
                continue
            }
            try await apply(PullPage(records: [record]), &report) { transaction in
                try ConfigurationTable.removeRefetch(of: itemID, in: name, &transaction)
            }
        }
    }

    /// Whether an item could not be had for a reason of its own. The answer to some breaks off every time, as if the
    /// connection had failed: then the table answers all the same.
    private func isAboutTheItem(_ error: RemoteError) async -> Bool {
        guard error.code == .unreachable else {
            return ![.throttled, .unauthorized, .notFound, .notTheService].contains(error.code)
        }
        do {
            try await remote.confirm(table)
            return true
        } catch {
            // Whatever it is: what came first says why the pull ends.
            return false
        }
    }

    private func fetch(_ query: Query, at position: PullPosition) async throws -> PullPage {
        try Task.checkCancellation()
        do {
            return try await remote.page(query, of: table, at: position, pageSize: pageSize)
        } catch let error as RemoteError {
            throw Self.aborted(error)
        }
    }

    private static func aborted(_ error: RemoteError) -> SyncError {
        SyncError(
            .pullAborted,
            "The pull stopped; what was applied stays, and the next pull goes on from there.",
            cause: error
        )
    }

    private func apply(
        _ page: PullPage,
        _ report: inout PullReport,
        _ alongside: @escaping @Sendable (inout StoreTransaction) throws -> Void
    ) async throws {
        let application = application
        let name = table.name
        let counts = try await store.write { transaction in
            let counts = try application.apply(page.records, &transaction)
            try ConfigurationTable.requestRefetches(of: page.setAside.map(\.id), in: name, &transaction)
            try alongside(&transaction)
            return counts
        }
        report.received += counts.received
        report.deleted += counts.deleted
        report.skippedIDs.formUnion(counts.skipped)
        report.setAside(page.setAside)
    }
}
