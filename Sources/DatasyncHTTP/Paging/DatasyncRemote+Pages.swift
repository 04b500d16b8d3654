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
    /// - Parameters:
    ///   - query: What is asked for.
    ///   - known: Columns that the server has, besides those that it is known to have.
    ///   - table: The table.
    ///   - includesDeleted: Whether deleted rows are asked for.
    /// - Returns: The page.
    /// - Throws: `RemoteError`; `TransportError` for an exchange that came to nothing.
    func read(
        _ query: Query,
        knowing known: Set<String> = [],
        of table: TableDefinition,
        includesDeleted: Bool = true
    ) async throws -> Answer {
        var query = query
        let columns = known.union(knowledge.withLock { $0[table].columns })
        if let maximum = knowledge.withLock({ $0[table].maximumTop }), let limit = query.limit {
            query.limit = min(limit, maximum)
        }
        let response = try await response(to: query, of: table, includesDeleted: includesDeleted)
        if let limit = query.limit, let maximum = response.maximumTop, maximum < limit {
            knowledge.withLock { $0[table].maximumTop = maximum }
            return try await read(query, knowing: known, of: table, includesDeleted: includesDeleted)
        }
        guard response.mapping == .success else { throw response.failure(table: table.name) }
        let answer = Answer(page: try reader(of: table).page(of: query, in: response), response: response)
        return try await complete(answer, to: query, knowing: columns, of: table, includesDeleted: includesDeleted)
    }

    /// The answer to a query in the words that the server knows: a refusal of those that only some know is followed by the
    /// others, which are used from then on when the server takes them.
    private func response(
        to query: Query,
        of table: TableDefinition,
        includesDeleted: Bool
    ) async throws -> ServerResponse {
        let usual = try wire.page(query, of: table, includesDeleted: includesDeleted)
        let other = try wire.inWordsOfDotNet?.page(query, of: table, includesDeleted: includesDeleted)
        guard let other, other != usual else { return try await exchangeOrBreak(usual) }
        let isForDotNet = knowledge.withLock(\.isForDotNet)
        let first = try await exchangeOrBreak(isForDotNet ? other : usual)
        // One that does not know the word says so as a fault of its own.
        let isRefusal = isForDotNet ? [400, 500].contains(first.status) : first.status == 400
        guard isRefusal, first.maximumTop == nil else { return first }
        let second = try await exchangeOrBreak(isForDotNet ? usual : other)
        // A refusal of words that are right by what is known gives the reason.
        guard second.mapping == .success else { return !isForDotNet && second.status == 400 ? second : first }
        knowledge.withLock { $0.isForDotNet = !isForDotNet }
        return second
    }
}
