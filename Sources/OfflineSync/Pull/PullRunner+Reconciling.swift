internal import RemoteContract
internal import SyncContract

extension PullRunner {
    // Small enough to keep nobody waiting, large enough for a million rows.
    private static let rowsPerTransaction = 500

    /// Removes the local rows of a query that a pull of everything has not met: the server has them no longer, or they
    /// left the condition. Rows with a waiting change stay, and rows for which an answer was recorded since the pull
    /// began. What an interruption leaves is removed by the next reconciling pull.
    func removeUnseen(
        _ seen: SeenRows,
        of query: Query,
        since beginning: AnswerLog.Request,
        _ work: inout Work
    ) async throws {
        let table = table
        let schema = store.schema
        let local = query.ordered(by: "id").selecting([])
        for try await batch in store.batches(of: local, size: Self.rowsPerTransaction) {
            let ids = batch.map(\.id)
            let serverIDs = try await store.read { try IdentifierTranslation(table, schema).serverIDs(of: ids, &$0) }
            let unseen = zip(ids, serverIDs).filter { !seen.contains($0.1, in: table) }.map(\.0)
            guard !unseen.isEmpty else { continue }
            work.report.deleted += try await coordination.gate.withTurn {
                try await store.write { transaction in
                    let gone = try unseen.filter { id in
                        guard !beginning.isOlderThanAnswer(for: id, in: table), let text = id.stringValue else {
                            return false
                        }
                        return try OperationQueue.operation(for: text, in: table, &transaction, schema) == nil
                    }
                    return try transaction.delete(gone, from: table.name)
                }
            }
        }
        guard query.predicate == nil, parameters.isEmpty else { return }
        try await store.write { try SetAsideStorage.removeUnseen(seen, of: table, &$0) }
    }
}
