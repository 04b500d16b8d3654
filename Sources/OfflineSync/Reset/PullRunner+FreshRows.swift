internal import RemoteContract
internal import SyncContract

extension PullRunner {
    /// Brings everything of a query beside the rows that are here, and goes on where an interruption has left it.
    func bringFreshRows(_ query: Query, queryID: String, reconciles: Bool, _ work: inout Work) async throws {
        let table = table
        let query = try await asked(query)
        let fingerprint = try Self.fingerprint(of: query, in: table, parameters)
        let cursors = try await store.read { try FreshRows.cursors(of: table.name, &$0) }
        let cursor = cursors.first { $0.queryID == queryID && $0.query == fingerprint }?.cursor
        let start = reconciles ? PullPosition.everything : .changes(since: cursor)
        var machine = PullMachine(start, of: table, limit: query.limit)
        try await fetchPages(query, from: start, &machine, &work) { fetched, _ in
            let page = fetched.page
            guard fetched.rowCount > 0 || page.cursor != cursor else { return }
            try await store.write { transaction in
                try FreshRows.insert(page, of: table, hasParameters: !parameters.isEmpty, &transaction)
                guard let cursor = page.cursor, !reconciles else { return }
                try FreshRows.setCursor(cursor, queryID, of: table.name, query: fingerprint, &transaction)
            }
        }
    }
}
