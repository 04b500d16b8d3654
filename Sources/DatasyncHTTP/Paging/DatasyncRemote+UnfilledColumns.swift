internal import RemoteContract
internal import SyncContract
internal import Synchronization

/// Columns of tables that grow with their rows: on the Node server a column begins with the first value in it, and until then
/// every query that names it finds nothing, not even the rows in which it is null. A pull would take them for gone.
extension DatasyncRemote {
    /// The answer to a query: where it is empty because the server lacks a column, that to the query in which the column is
    /// null.
    ///
    /// - Throws: As ``read(_:of:includesDeleted:)``.
    func complete(
        _ answer: Answer,
        to query: Query,
        of table: TableDefinition,
        includesDeleted: Bool
    ) async throws -> Answer {
        guard wire.columnsBeginWithValues, query.limit != 0 || query.includesTotalCount else { return answer }
        let named = query.namedColumns
        guard !named.isEmpty else { return answer }
        guard answer.page.rows.isEmpty, answer.page.totalCount ?? 0 == 0 else {
            knowledge.withLock { $0[table].columns.formUnion(named) }
            return answer
        }
        let doubtful = named.subtracting(knowledge.withLock { $0[table].columns })
        guard !doubtful.isEmpty, let present = try await columns(of: table) else { return answer }
        let missing = doubtful.subtracting(present)
        guard !missing.isEmpty else { return answer }
        let query = query.withoutValues(in: missing)
        var complete = try await read(query, of: table, includesDeleted: includesDeleted)
        // What is written between the two, and fills a column, is of after the answer.
        complete.response = answer.response
        return complete
    }

    /// The columns that rows of a table have on the server, in lower case; nil when it shows no row, not even a deleted one.
    private func columns(of table: TableDefinition) async throws -> Set<String>? {
        let response = try await exchangeOrBreak(try wire.page(Query(table.name).limited(to: 1), of: table))
        guard response.mapping == .success else { throw response.failure(table: table.name) }
        let body = try response.json()
        guard case .object(let members, _)? = (body.elements ?? body["results"]?.elements)?.first else { return nil }
        let columns = Set(members.map { $0.name.lowercased() })
        knowledge.withLock { $0[table].columns.formUnion(columns) }
        return columns
    }
}
