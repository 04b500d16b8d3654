internal import RemoteContract
internal import SyncContract

extension PullRunner {
    // Small enough to keep nobody waiting, large enough for a million rows.
    private static let rowsPerTransaction = 500

    /// Removes the local rows of a query that a pull of everything has not met and that the server does not hand over when it
    /// is asked for them by id: it has them no longer, or they left the condition. Of one that it has, the store says whether it
    /// did: a server may compare texts otherwise than the store, and keeps nothing of what a migration has filled in here. Rows
    /// with a waiting change stay, rows that were kept where the server had none, rows for which an answer was recorded since the
    /// pull began, and rows that cannot be asked for, which the report names. What an interruption leaves is removed by the next
    /// reconciling pull.
    func removeUnseen(
        _ seen: SeenRows,
        of query: Query,
        since beginning: AnswerLog.Request,
        _ work: inout Work
    ) async throws {
        let table = table
        let local = query.ordered(by: "id").selecting([])
        let asked = try await asked(query)
        var withoutCondition = asked
        withoutCondition.predicate = nil
        var seen = seen
        var questions = RowQuestions(
            passingOver: [.invalidRequest, .refused],
            mostFailures: RowQuestions.allParts
        )
        for try await batch in store.batches(of: local, size: Self.rowsPerTransaction) {
            try await letOthersIn?()
            let rows = try await rowsToAskFor(batch.map(\.id))
            // A server that orders rows otherwise than it is asked to passes some over.
            questions.add(rows.map(\.server).filter { !seen.contains($0, in: table) })
            _ = try await look(asking: &questions, of: asked, &seen, &work)
            var unseen = rows.filter { !seen.contains($0.server, in: table) }
            var there: Set<RecordID> = []
            if query.predicate != nil {
                questions.add(unseen.map(\.server))
                there = try await look(asking: &questions, of: withoutCondition, &seen, &work)
                unseen.removeAll { seen.contains($0.server, in: table) && !there.contains(folded($0.server)) }
            }
            guard !unseen.isEmpty else { continue }
            let met = Set(unseen.filter { there.contains(folded($0.server)) }.map(\.local))
            work.report.deleted += try await remove(unseen.map(\.local), of: query, met: met, since: beginning)
        }
        guard query.predicate == nil, parameters.isEmpty else { return }
        // Another spelling that came is another row, or has taken the place of the one set aside.
        let unmet = seen.unmet
        guard !unmet.isEmpty else { return }
        try await store.write { try SetAsideStorage.removeUnmet(unmet, of: table, &$0) }
    }

    /// Those of some local rows that no change waits for, with the ids that the server knows them by: the others stay, and there
    /// is nothing to be asked.
    private func rowsToAskFor(_ ids: [RecordID]) async throws -> [(local: RecordID, server: RecordID)] {
        let (table, schema) = (table, store.schema)
        return try await store.read { transaction in
            let keys = ids.compactMap { $0.stringValue.map { OperationCoding.itemKey($0, table) } }
            let waiting = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
            let ids = ids.filter { id in
                id.stringValue.map { !waiting.contains(OperationCoding.itemKey($0, table)) } ?? true
            }
            let serverIDs = try IdentifierTranslation(table, schema).serverIDs(of: ids, &transaction)
            return zip(ids, serverIDs).map { ($0, $1) }
        }
    }

    /// Removes rows of a query, unless something keeps them: those that the server lacks, and those that came and have left the
    /// condition.
    ///
    /// - Parameters:
    ///   - ids: The rows.
    ///   - query: The query.
    ///   - met: Those of them that came.
    ///   - beginning: When the pull began.
    /// - Returns: How many were removed.
    /// - Throws: What the store throws.
    private func remove(
        _ ids: [RecordID],
        of query: Query,
        met: Set<RecordID>,
        since beginning: AnswerLog.Request
    ) async throws -> Int {
        let (table, schema) = (table, store.schema)
        return try await coordination.gate.withTurn {
            try await store.write { transaction in
                let keys = ids.compactMap(\.stringValue).map { OperationCoding.itemKey($0, table) }
                let staying = try ItemMemoryStorage.staying(among: keys, in: table, &transaction)
                let gone = try ids.filter { id in
                    guard !beginning.isOlderThanAnswer(for: id, in: table), let text = id.stringValue,
                        !staying.contains(OperationCoding.itemKey(text, table))
                    else { return false }
                    return try OperationQueue.operation(for: text, in: table, &transaction, schema) == nil
                }
                guard !gone.isEmpty else { return 0 }
                try AttachmentMarks.keepDue(in: table, schema, &transaction)
                guard query.predicate != nil else { return try transaction.delete(gone, from: table.name) }
                let within = query.filtered(by: Column("id").isAny(of: gone.compactMap(\.stringValue))).selecting([])
                let satisfying = Set(try transaction.records(within).map(\.id))
                // What was decided here meanwhile may have taken one that the server lacks out of what was asked for.
                return try transaction.delete(
                    gone.filter { satisfying.contains($0) != met.contains($0) },
                    from: table.name
                )
            }
        }
    }

    private func folded(_ id: RecordID) -> RecordID { id.folded(for: table.idComparison) }

    /// Asks for rows of a query by their ids, and applies and marks as seen what comes; for fewer at a time where the server
    /// does not take so many. A row for which no question can be asked is taken for seen, and named; a server that answers
    /// none ends the pull.
    ///
    /// - Returns: The folded ids of the rows that the server has.
    private func look(
        asking questions: inout RowQuestions,
        of query: Query,
        _ seen: inout SeenRows,
        _ work: inout Work
    ) async throws -> Set<RecordID> {
        var there: Set<RecordID> = []
        func take(_ fetched: Fetched) async throws {
            for record in fetched.page.records {
                _ = seen.insert(record.id, in: table)
                if !record.isDeleted { there.insert(folded(record.id)) }
            }
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
        return there
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
