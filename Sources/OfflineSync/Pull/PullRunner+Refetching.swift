internal import RemoteContract
internal import SyncContract

/// Rows that are asked for by id, before the pages.
extension PullRunner {
    // As many ids as fit into a filter that every server takes.
    static let rowsPerRequest = 25

    /// Asks for the marked items, and for the rows set aside that are due. One that the server does not hand over holds
    /// nothing up. That there is none is believed of a table that is there.
    func refetch(_ work: inout Work) async throws {
        let (table, hasParameters) = (table, !parameters.isEmpty)
        let (marked, purged, hasDue) = try await store.read { transaction in
            let hasDue = try !SetAsideStorage.dueIDs(of: table, all: hasParameters, limit: 1, &transaction).isEmpty
            let marked = try ConfigurationTable.refetches(in: table.name, &transaction)
            guard !marked.isEmpty else { return (marked, PurgedRows([], of: table), hasDue) }
            let purged = try PurgedRowStorage.rows(PurgedRowStorage.marked, of: table.name, &transaction)
            return (marked, PurgedRows(purged, of: table), hasDue)
        }
        for id in marked {
            guard !stops(&work) else { return }
            try await refetch(id, passingOver: purged, &work)
        }
        if hasDue { try await retrySetAside(all: hasParameters, &work) }
    }

    /// Asks again for the rows set aside that are due, many at a time. A question that the server does not answer is asked in
    /// parts, so that one row takes nothing from the others. What it refuses on its own is not asked for again until the
    /// declaration changes; while the server fails, all stay due. So do those that need parameters and do not come without them.
    func retrySetAside(all: Bool, _ work: inout Work) async throws {
        let table = table
        let due = try await store.read { try SetAsideStorage.dueIDs(of: table, all: all, &$0) }
        var questions = stride(from: 0, to: due.count, by: Self.rowsPerRequest).reversed()
            .map { due[$0..<min($0 + Self.rowsPerRequest, due.count)] }
        var refused: [String] = []
        var (failures, isAnswered) = (0, false)
        while let ids = questions.popLast(), !stops(&work) {
            do {
                try await retrySetAside(Array(ids), &work)
                (failures, isAnswered) = (0, true)
            } catch let error as SyncError {
                // Whatever the server has against the question must not stop every pull from here on.
                guard let code = (error.cause as? RemoteError)?.code,
                    [.invalidRequest, .invalidResponse, .refused, .serverFailure].contains(code)
                else { throw error }
                failures += 1
                guard failures <= Self.mostFailures else {
                    work.report.notFetched += questions.reduce(ids.count) { $0 + $1.count }
                    break
                }
                if ids.count == 1 { work.report.notFetched += 1 }
                if ids.count > 1 {
                    let middle = ids.startIndex + ids.count / 2
                    questions += [ids[middle...], ids[..<middle]]
                } else if code != .serverFailure {
                    refused += ids
                }
            }
        }
        guard !refused.isEmpty else { return }
        if !isAnswered { isAnswered = await confirms() }
        // A server that answers nothing has said nothing of these.
        if isAnswered { try await store.write { [refused] in try SetAsideStorage.settle(refused, of: table, &$0) } }
    }

    // A row is found in five parts of a question, and the one beside it may fail as well.
    private static let mostFailures = 6

    /// Whether the table answers.
    private func confirms() async -> Bool {
        do {
            try await remote.confirm(table)
            return true
        } catch {
            // Whatever it is: what came before says more.
            return false
        }
    }

    private func retrySetAside(_ ids: [String], _ work: inout Work) async throws {
        let table = table
        let query = Query(table.name).filtered(by: Column("id").isAny(of: ids.map(FieldValue.string)))
        var machine = PullMachine(.everything, of: table)
        var position: PullPosition? = .everything
        while let current = position {
            let fetched = try await fetch(query, at: current, pageSize)
            position = try machine.next(after: fetched.page)
            work.report.notFetched += fetched.page.setAside.count
            try await apply(fetched, isNews: false, isRepeated: true, &work) { _ in }
        }
        // What does not come with parameters may come with others.
        guard parameters.isEmpty else { return }
        // What did not come is on the server no longer; what came is not due.
        try await store.write { try SetAsideStorage.removeDue(ids, of: table, &$0) }
    }

    /// Asks for one item, and applies what the server has, but for what a purge has removed.
    private func refetch(_ id: String, passingOver purged: PurgedRows, _ work: inout Work) async throws {
        let table = table
        let schema = store.schema
        let own = Self.text(of: parameters)
        let (known, before, isForOthers) = try await store.read { reader in
            let known = try IdentifierTranslation(table, schema).serverID(of: id, &reader)
            let before = try ConfigurationTable.refetchesInVain(of: id, in: table.name, &reader)
            let isForOthers =
                try before.contains(own)
                && PullCursorStorage.hasOtherParameters(than: before, of: table.name, &reader)
            return (known, before, isForOthers)
        }
        guard !isForOthers else { return }
        let asked = before.union([own])
        guard let serverID = known else {
            // The server has not given it an id: there is nothing to ask for.
            return try await store.write { try ConfigurationTable.removeRefetch(of: id, in: table.name, &$0) }
        }
        let request = coordination.answers.requestStarted()
        let record: Record
        do {
            if let found = try await remote.record(serverID, in: table) {
                record = found
            } else {
                let page = try await pageWithParameters(of: serverID)
                if let unfit = page?.setAside.first(where: { table.isSameID(.string($0.id), .string(serverID)) }) {
                    let error = RemoteError(.unfitRow, unfit.reason)
                    return try await setAside(id, serverID, error, hasParameters: true, &work)
                }
                if let found = page?.records.first(where: { table.isSameID($0.id, .string(serverID)) }) {
                    record = found
                } else {
                    try await work.confirmed.confirm(table, at: remote)
                    // It may be one of those that only a pull with others is shown, which asks as well.
                    let mayBeShown = try await store.write { transaction in
                        guard try PullCursorStorage.hasOtherParameters(than: asked, of: table.name, &transaction) else {
                            return false
                        }
                        // What was answered meanwhile is asked for once more, by all.
                        guard !request.isOlderThanAnswer(for: .string(id), in: table) else { return true }
                        try ConfigurationTable.setRefetchesInVain(asked, of: id, in: table.name, &transaction)
                        return true
                    }
                    guard !mayBeShown else { return }
                    record = Record(id: .string(serverID), ["deleted": true])
                }
            }
        } catch let error as RemoteError {
            guard await isAboutTheItem(error) else { throw Self.aborted(error) }
            return try await setAside(id, serverID, error, &work)
        }
        let records = purged.contains(record) ? [] : [record]
        let fetched = Fetched(page: PullPage(records: records), request: request)
        try await apply(fetched, isNews: true, &work) { transaction in
            // What was answered meanwhile is asked for once more.
            guard !request.isOlderThanAnswer(for: .string(id), in: table) else { return }
            try ConfigurationTable.removeRefetch(of: id, in: table.name, &transaction)
            if !purged.isEmpty {
                // As the row was spelled here.
                let id = purged[.string(serverID)]?.id ?? .string(serverID)
                try PurgedRowStorage.remove(id, PurgedRowStorage.marked, of: table.name, &transaction)
            }
            try SetAsideStorage.remove([.string(serverID)], of: table, &transaction)
        }
    }

    /// A page with an item that the service may show to this pull only; nil when that has nothing to say about it.
    private func pageWithParameters(of serverID: String) async throws -> PullPage? {
        guard !parameters.isEmpty else { return nil }
        return try await remote.page(
            Query(table.name).filtered(by: Column("id") == .string(serverID)),
            of: table,
            at: .everything,
            pageSize: nil,
            parameters: parameters
        )
    }

    /// Names an item that cannot be had. One that does not fit, or that no address can name, is no longer asked for; where
    /// the server fails or refuses, the mark stays.
    private func setAside(
        _ id: String,
        _ serverID: String,
        _ error: RemoteError,
        hasParameters: Bool = false,
        _ work: inout Work
    ) async throws {
        let table = table
        // The server may spell the id otherwise, and its pages name the row as it does.
        let spelling = error.code == .unfitRow ? error.serverRecord?.id.stringValue : nil
        let row = SetAsideRow(id: spelling ?? serverID, reason: error.reasonForSettingAside)
        let mayCome = ![.unfitRow, .invalidResponse, .invalidRequest].contains(error.code)
        work.report.notFetched += 1
        work.report.setAside([row], of: table.name)
        try await store.write { transaction in
            if row.id != serverID { try SetAsideStorage.remove([.string(serverID)], of: table, &transaction) }
            try SetAsideStorage.insert([row], of: table, hasParameters: hasParameters, &transaction)
            guard !mayCome else { return }
            try ConfigurationTable.removeRefetch(of: id, in: table.name, &transaction)
            try PurgedRowStorage.remove(.string(serverID), PurgedRowStorage.marked, of: table.name, &transaction)
        }
        events.send(.rowSetAside(table: table.name, row: row))
    }

    /// Whether an item could not be had for a reason of its own. The answer to some breaks off every time, as if the
    /// connection had failed, or is a page of something in front of the service: then the table answers all the same.
    private func isAboutTheItem(_ error: RemoteError) async -> Bool {
        guard error.code == .unreachable || error.code == .notTheService && error.isPageInFront else {
            return ![.throttled, .unauthorized, .notFound, .notTheService].contains(error.code)
        }
        return await confirms()
    }
}

extension RemoteError {
    /// Why an item could not be had. What the server says of that may quote the row, and is left out: reasons are in log
    /// lines.
    fileprivate var reasonForSettingAside: String {
        switch code {
        // What the remote says of the request, or of a column.
        case .invalidRequest, .invalidResponse, .unfitRow: message
        case .unreachable: "the connection breaks off whenever the server hands it over; the server's log says more"
        default:
            "the server does not hand it over" + (status.map { " (HTTP \($0))" } ?? "") + "; its log says more"
        }
    }
}
