internal import HTTPTransport
internal import RemoteContract
internal import SyncContract
internal import Synchronization

/// Columns of tables that grow with their rows: on the Node server a column begins with the first value in it, and until then
/// every query that names it finds nothing, not even the rows in which it is null. A pull would take them for gone.
extension DatasyncRemote {
    /// The answer to a query: where it is empty because the server lacks a column, that to the query in which the column is
    /// null.
    ///
    /// - Parameters:
    ///   - answer: What the server has answered.
    ///   - query: The query.
    ///   - known: The columns that the table was known to have before it was asked, in lower case.
    ///   - table: The table.
    ///   - includesDeleted: Whether deleted rows were asked for.
    /// - Returns: The answer that is to be believed.
    /// - Throws: As ``read(_:of:includesDeleted:)``.
    func complete(
        _ answer: Answer,
        to query: Query,
        knowing known: Set<String>,
        of table: TableDefinition,
        includesDeleted: Bool
    ) async throws -> Answer {
        guard wire.columnsBeginWithValues, answer.page.rows.isEmpty, answer.page.totalCount ?? 0 == 0,
            answer.response.isOfNode,
            query.limit != 0 || query.includesTotalCount
        else { return answer }
        var query = query
        query.predicate = try query.predicate?.normalized()
        let doubtful = query.namedColumns.filter { !known.contains($0.key) }
        guard !doubtful.isEmpty, let missing = try await missing(among: doubtful, of: table) else { return answer }
        // Where none is missing, one may have been filled since the answer: all are known by now.
        let again = missing.isEmpty ? query : query.withoutValues(in: missing)
        let known = known.union(doubtful.keys)
        var complete = try await read(again, knowing: known, of: table, includesDeleted: includesDeleted)
        // What is written between the two, and fills a column, is of after the answer.
        complete.response = answer.response
        return complete
    }

    /// Which of some columns the server lacks; nil where it shows no row at all, not even a deleted one, or does not let itself
    /// be asked: then the empty answer stands.
    private func missing(among columns: [String: String], of table: TableDefinition) async throws -> Set<String>? {
        var missing: Set<String> = []
        for (key, name) in columns.sorted(by: { $0.key < $1.key }) {
            // True in every row, but for one who does not know the column.
            let isThere = QueryPredicate.any([
                .comparison(.column(name), .equal, .value(.null)), .comparison(.column(name), .notEqual, .value(.null)),
            ])
            guard let hasRow = try await hasRow(Query(table.name).filtered(by: isThere), of: table) else { return nil }
            if hasRow {
                knowledge.withLock { _ = $0[table].columns.insert(key) }
            } else {
                missing.insert(key)
            }
        }
        guard missing.count == columns.count else { return missing }
        return try await hasRow(Query(table.name), of: table) == true ? missing : nil
    }

    /// Whether a query finds a row, deleted ones included; nil when the server refuses to say.
    private func hasRow(_ query: Query, of table: TableDefinition) async throws -> Bool? {
        let request = try wire.page(query.selecting([]).limited(to: 1), of: table)
        let response = try await exchangeOrBreak(request)
        guard response.mapping == .success else { return nil }
        do {
            let body = try response.json()
            return (body.elements ?? body["results"]?.elements).map { !$0.isEmpty }
        } catch {
            // The row that it happens to show is one that it cannot write, and nobody has asked for it.
            return nil
        }
    }
}

extension ServerResponse {
    /// Whether it is one of the Node server: each answer of it says so (node-server-protocol2, Versions and headers).
    fileprivate var isOfNode: Bool { fields[.zumoServerVersion]?.lowercased().hasPrefix("node-") ?? false }
}
