internal import HTTPTransport
public import RemoteContract
public import SyncContract
internal import Synchronization

extension DatasyncRemote {
    /// One page of a query's rows, in the query's order, tombstones included; a reading of its own, not part of a pull.
    public func page(_ query: Query, of table: TableDefinition) async throws -> RemotePage {
        try await page(query, of: table, includesDeleted: true)
    }

    /// One page of a query's rows; see ``/RemoteContract/OnlineRemote/page(_:of:includesDeleted:)``.
    public func page(
        _ query: Query,
        of table: TableDefinition,
        includesDeleted: Bool
    ) async throws -> RemotePage {
        do {
            let page = try await read(query, of: table, includesDeleted: includesDeleted).page
            if query.limit != 0 {
                // Whoever asked goes on by the link alone behind a page without rows: it has to lead on.
                var emptyPages = EmptyPages(offset: query.offset)
                _ = try emptyPages.areContinued(by: page)
            }
            return RemotePage(
                records: page.records,
                setAside: page.setAside,
                isKnownToBeLast: page.isKnownToBeLast,
                totalCount: page.totalCount,
                nextOffset: page.nextOffset
            )
        } catch let error as TransportError {
            throw RemoteError(error)
        }
    }

    /// A page as the server sent it.
    struct Answer {
        var page: ServerPage
        var response: ServerResponse
    }

    /// Asks for a page; for fewer rows when the server has refused so many, or refuses them now.
    ///
    /// - Throws: `RemoteError`; `TransportError` for an exchange that came to nothing.
    func read(_ query: Query, of table: TableDefinition, includesDeleted: Bool = true) async throws -> Answer {
        var query = query
        if let maximum = knowledge.withLock({ $0[table].maximumTop }), let limit = query.limit {
            query.limit = min(limit, maximum)
        }
        let response = try await exchangeOrBreak(try wire.page(query, of: table, includesDeleted: includesDeleted))
        if let limit = query.limit, let maximum = response.maximumTop, maximum < limit {
            knowledge.withLock { $0[table].maximumTop = maximum }
            return try await read(query, of: table, includesDeleted: includesDeleted)
        }
        guard response.mapping == .success else { throw response.failure(table: table.name) }
        return Answer(page: try reader(of: table).page(of: query, in: response), response: response)
    }
}
