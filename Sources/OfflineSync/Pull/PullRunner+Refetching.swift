internal import RemoteContract
internal import SyncContract

/// Rows that are asked for by id, before the pages.
extension PullRunner {
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
        let (due, marked) = try await store.read { reader in
            let due = try SetAsideStorage.dueIDs(of: table, all: all, &reader)
            return (due, try PurgedRowStorage.rows(PurgedRowStorage.marked, of: table.name, &reader))
        }
        let purged = PurgedRows(marked, of: table)
        var questions = RowQuestions(
            due.map(RecordID.string),
            passingOver: RowQuestions.passedOver,
            mostFailures: RowQuestions.fewParts
        )
        var refused: [String] = []
        var isAnswered = false
        // A question that was broken off is asked again in parts.
        var missed: Set<RecordID> = []
        func miss(_ ids: some Sequence<RecordID>) {
            let before = missed.count
            missed.formUnion(ids)
            work.report.notFetched += missed.count - before
        }
        func take(_ fetched: Fetched) async throws {
            miss(fetched.page.setAside.map { .string($0.id) })
            var fetched = fetched
            let asItWas = fetched.page.records.filter(purged.contains).map(\.id)
            fetched.page.records.removeAll(where: purged.contains)
            try await apply(fetched, isNews: !asItWas.isEmpty, isRepeated: true, &work) { transaction in
                // It stays away, and nothing is to be asked any more.
                try SetAsideStorage.remove(asItWas, of: table, &transaction)
                for id in asItWas {
                    let known = purged[id]?.id ?? id
                    try PurgedRowStorage.remove(known, PurgedRowStorage.marked, of: table.name, &transaction)
                }
            }
        }
        while !stops(&work), let outcome = try await ask(&questions, of: Query(table.name), parameters, take) {
            // Whatever the server has against the question must not stop every pull from here on.
            switch outcome {
            case .halved: break
            case .answered(let ids):
                isAnswered = true
                // What does not come with parameters may come with others.
                guard parameters.isEmpty else { break }
                // What did not come is on the server no longer; what came is not due.
                try await store.write { transaction in
                    try SetAsideStorage.removeDue(ids.compactMap(\.stringValue), of: table, &transaction)
                    let left = Set(try SetAsideStorage.ids(of: table.name, &transaction))
                    for id in ids where !left.contains(id) {
                        guard let known = purged[id]?.id else { continue }
                        try PurgedRowStorage.remove(known, PurgedRowStorage.marked, of: table.name, &transaction)
                    }
                }
            case .refused(let id, let error):
                miss([id])
                let cause = error.cause as? RemoteError
                if cause?.code != .serverFailure, cause?.isOfConnection != true {
                    refused += [id].compactMap(\.stringValue)
                }
            case .givenUp(let ids, _): miss(ids)
            }
        }
        guard !refused.isEmpty else { return }
        if !isAnswered { isAnswered = try await confirms() }
        // A server that answers nothing has said nothing of these.
        if isAnswered { try await store.write { [refused] in try SetAsideStorage.settle(refused, of: table, &$0) } }
    }

    /// Whether the table answers.
    func confirms() async throws -> Bool {
        do {
            try await remote.confirm(table)
            return true
        } catch is RemoteError {
            // Whatever it is: what came before says more.
            return false
        }
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
                let shown = try await shownWithParameters(serverID)
                if let unfit = shown.unfit {
                    let error = RemoteError(.unfitRow, unfit.reason)
                    return try await setAside(id, serverID, error, hasParameters: true, &work)
                }
                if let found = shown.record {
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
            guard try await isAboutTheItem(error) else { throw Self.aborted(error) }
            return try await setAside(id, serverID, error, &work)
        }
        let records = purged.contains(record) ? [] : [record]
        let fetched = Fetched(page: PullPage(records: records), request: request)
        let (isDeleted, came) = (record.isDeleted, records.first?.id)
        try await apply(fetched, isNews: true, &work) { transaction in
            // What was answered meanwhile is asked for once more.
            guard !request.isOlderThanAnswer(for: .string(id), in: table) else { return }
            // So is what is hidden behind a change of another row, which may be given up.
            guard try isDeleted || !isHidden(id, &transaction) else { return }
            try ConfigurationTable.removeRefetch(of: id, in: table.name, &transaction)
            if !purged.isEmpty {
                // As the row was spelled here.
                let id = purged[.string(serverID)]?.id ?? .string(serverID)
                try PurgedRowStorage.remove(id, PurgedRowStorage.marked, of: table.name, &transaction)
            }
            // Under the id with which it came it may just have been set aside beside another spelling.
            guard came != .string(serverID) else { return }
            try SetAsideStorage.remove([.string(serverID)], of: table, &transaction)
        }
    }

    /// Whether a row that came waits behind a change of one whose id differs in case only, which the table takes for the same.
    private func isHidden(_ id: String, _ transaction: inout StoreTransaction) throws -> Bool {
        guard table.idComparison != .exact else { return false }
        return try OperationQueue.operation(for: id, in: table, &transaction, store.schema).map { $0.itemID != id }
            ?? false
    }

    /// An item that the service may show to this pull only: as a row, or as one that does not fit.
    private func shownWithParameters(_ serverID: String) async throws -> (record: Record?, unfit: SetAsideRow?) {
        guard !parameters.isEmpty else { return (nil, nil) }
        let query = Query(table.name).filtered(by: Column("id") == .string(serverID))
        var machine = PullMachine(.everything, of: table)
        var position: PullPosition? = .everything
        // Pages may be empty in the middle.
        while let current = position {
            let page = try await remote.page(query, of: table, at: current, pageSize: nil, parameters: parameters)
            let unfit = page.setAside.first { table.isSameID(.string($0.id), .string(serverID)) }
            let record = page.records.first { table.isSameID($0.id, .string(serverID)) }
            // Whoever shows others does not look at the condition.
            guard page.records.isEmpty, page.setAside.isEmpty else { return (record, unfit) }
            do {
                position = try machine.receive(page)
            } catch {
                throw RemoteError(.invalidResponse, error.message)
            }
        }
        return (nil, nil)
    }

    /// Names an item that cannot be had. One that does not fit, or that no address can name, is no longer asked for, and one whose
    /// answer cannot be read once more, as a row set aside; where the server fails or refuses, the mark stays.
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
        var row = SetAsideRow(id: spelling ?? serverID, reason: error.reasonForSettingAside)
        // Something on the way may have cut it off.
        row.mayPass = error.code == .invalidResponse
        let mayCome = ![.unfitRow, .invalidResponse, .invalidRequest].contains(error.code)
        work.report.notFetched += 1
        work.report.setAside([row], of: table.name)
        try await store.write { [row] transaction in
            if row.id != serverID { try SetAsideStorage.remove([.string(serverID)], of: table, &transaction) }
            try SetAsideStorage.insert([row], of: table, areFirst: true, hasParameters: hasParameters, &transaction)
            guard !mayCome else { return }
            try ConfigurationTable.removeRefetch(of: id, in: table.name, &transaction)
            // It is asked for once more as a row set aside.
            guard !row.mayPass else { return }
            try PurgedRowStorage.remove(.string(serverID), PurgedRowStorage.marked, of: table.name, &transaction)
        }
        events.send(.rowSetAside(table: table.name, row: row))
    }

    /// Whether an item could not be had for a reason of its own. The answer to some breaks off every time, as if the connection
    /// had failed, takes longer than something in front of the service waits, is a page of that, or says when to come again: then
    /// the table answers all the same.
    private func isAboutTheItem(_ error: RemoteError) async throws -> Bool {
        switch error.code {
        case .throttled, .notFound: false
        // Servers forbid single rows with 401 as well: whoever is not signed in gets no answer of the table either.
        case .unauthorized: error.wasNotSent ? false : try await confirms()
        case _ where error.isPerhapsOfAll: try await confirms()
        default: true
        }
    }
}

extension RemoteError {
    /// Whether the service was not reached, as far as can be told.
    var isOfConnection: Bool { code == .unreachable || code == .notTheService }

    /// Whether other questions may be answered alike.
    var isPerhapsOfAll: Bool { isOfConnection || retryAfter != nil }

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
