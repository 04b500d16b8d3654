internal import RemoteContract
internal import SyncContract

extension PullRunner {
    // Small enough to keep nobody waiting, large enough for a million rows.
    private static let rowsPerTransaction = 500

    /// Removes the local rows of a query that a pull of everything has not met and that the server does not hand over when it
    /// is asked for them by id: it has them no longer, or they left the condition. Rows with a waiting change stay, rows that
    /// were kept where the server had none, rows for which an answer was recorded since the pull began, and rows that cannot be
    /// asked for, which the report names. What an
    /// interruption leaves is removed by the next reconciling pull.
    func removeUnseen(
        _ seen: SeenRows,
        of query: Query,
        since beginning: AnswerLog.Request,
        _ work: inout Work
    ) async throws {
        let table = table
        let schema = store.schema
        let local = query.ordered(by: "id").selecting([])
        let asked = try await asked(query)
        var seen = seen
        var questions = RowQuestions(
            passingOver: [.invalidRequest, .refused],
            mostFailures: RowQuestions.allParts
        )
        for try await batch in store.batches(of: local, size: Self.rowsPerTransaction) {
            try await letOthersIn?()
            let local = batch.map(\.id)
            let rows = try await store.read { transaction in
                // Rows with a waiting change stay: there is nothing to be asked.
                let keys = local.compactMap { $0.stringValue.map { OperationCoding.itemKey($0, table) } }
                let waiting = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
                let ids = local.filter { id in
                    id.stringValue.map { !waiting.contains(OperationCoding.itemKey($0, table)) } ?? true
                }
                let serverIDs = try IdentifierTranslation(table, schema).serverIDs(of: ids, &transaction)
                return Array(zip(ids, serverIDs))
            }
            let missing = rows.map(\.1).filter { !seen.contains($0, in: table) }
            // A server that orders rows otherwise than it is asked to passes some over.
            questions.add(missing)
            try await look(asking: &questions, of: asked, &seen, &work)
            let unseen = rows.filter { !seen.contains($0.1, in: table) }.map(\.0)
            guard !unseen.isEmpty else { continue }
            work.report.deleted += try await coordination.gate.withTurn {
                try await store.write { transaction in
                    let keys = unseen.compactMap(\.stringValue).map { OperationCoding.itemKey($0, table) }
                    let staying = try ItemMemoryStorage.staying(among: keys, in: table, &transaction)
                    let gone = try unseen.filter { id in
                        guard !beginning.isOlderThanAnswer(for: id, in: table), let text = id.stringValue,
                            !staying.contains(OperationCoding.itemKey(text, table))
                        else { return false }
                        return try OperationQueue.operation(for: text, in: table, &transaction, schema) == nil
                    }
                    guard !gone.isEmpty else { return 0 }
                    try AttachmentMarks.keepDue(in: table, schema, &transaction)
                    guard query.predicate != nil else { return try transaction.delete(gone, from: table.name) }
                    // What was decided here meanwhile may have taken a row out of what was asked for.
                    let left = query.filtered(by: Column("id").isAny(of: gone.compactMap(\.stringValue))).selecting([])
                    return try transaction.delete(try transaction.records(left).map(\.id), from: table.name)
                }
            }
        }
        guard query.predicate == nil, parameters.isEmpty else { return }
        // Another spelling that came is another row, or has taken the place of the one set aside.
        let unmet = seen.unmet
        guard !unmet.isEmpty else { return }
        try await store.write { try SetAsideStorage.removeUnmet(unmet, of: table, &$0) }
    }

    /// Asks for rows of a query by their ids, and applies and marks as seen what comes; for fewer at a time where the server
    /// does not take so many. A row for which no question can be asked is taken for seen, and named; a server that answers
    /// none ends the pull.
    private func look(
        asking questions: inout RowQuestions,
        of query: Query,
        _ seen: inout SeenRows,
        _ work: inout Work
    ) async throws {
        func take(_ fetched: Fetched) async throws {
            for record in fetched.page.records { _ = seen.insert(record.id, in: table) }
            for row in fetched.page.setAside { _ = seen.insert(.string(row.id), in: table) }
            try await apply(fetched, isNews: false, &work) { _ in }
        }
        while let outcome = try await ask(&questions, of: query, parameters, take) {
            switch outcome {
            case .answered, .halved: break
            case .refused(let id, let error):
                _ = seen.insert(id, in: table)
                try await setAside(id, error, &work)
            case .givenUp(_, let error): throw error
            }
        }
    }

    /// Names a row that stays, though the server may not have it any more.
    private func setAside(_ id: RecordID, _ error: SyncError, _ work: inout Work) async throws {
        guard let id = id.stringValue else { return }
        let table = table
        let row = SetAsideRow(
            id: id,
            reason: "It stays here, as the server cannot be asked whether it has it: \(error.refusalOfQuestion)"
        )
        work.report.setAside([row], of: table.name)
        try await store.write { try SetAsideStorage.insert([row], of: table, &$0) }
        events.send(.rowSetAside(table: table.name, row: row))
    }
}

extension SyncError {
    /// Why a question was not answered. Reasons are in log lines: what the server says of it may quote the row.
    fileprivate var refusalOfQuestion: String {
        guard let cause = cause as? RemoteError, cause.code != .invalidRequest else { return message }
        return "it refuses the question" + (cause.status.map { " (HTTP \($0))" } ?? "") + "; its log says more."
    }
}
