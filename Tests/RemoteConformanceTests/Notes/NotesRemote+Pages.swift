import HTTPTransport
import QueryEvaluation
import RemoteContract
import SyncContract

extension NotesRemote {
    /// One page of a pull: the service goes by numbers, and so do positions and cursors.
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        switch position {
        case .changes(let cursor):
            return try await changes(query, of: table, since: cursor.flatMap { Int($0) } ?? 0, pageSize)
        case .everything: return try await everything(query, of: table, since: 0, wanted: query.limit, pageSize)
        case .next(let text):
            // `changes 42`, or `everything 42` with how many rows are wanted still.
            let words = text.split(separator: " ").map(String.init)
            guard words.count > 1, let since = Int(words[1]) else {
                throw RemoteError(.invalidRequest, "The position in a pull is not one of this remote; start it again.")
            }
            guard words[0] == "everything" else {
                return try await changes(query, of: table, since: since, pageSize)
            }
            let wanted = words.count > 2 ? Int(words[2]) : nil
            return try await everything(query, of: table, since: since, wanted: wanted, pageSize)
        }
    }

    private func changes(
        _ query: Query,
        of table: TableDefinition,
        since: Int,
        _ pageSize: Int?
    ) async throws -> PullPage {
        let answer = try await feed(query, of: table, since: max(0, since), pageSize)
        return PullPage(
            records: answer.records,
            setAside: answer.setAside,
            next: answer.more ? .next("changes \(answer.reached)") : nil,
            cursor: String(answer.reached)
        )
    }

    private func everything(
        _ query: Query,
        of table: TableDefinition,
        since: Int,
        wanted: Int?,
        _ pageSize: Int?
    ) async throws -> PullPage {
        guard wanted != 0 else { return PullPage(records: []) }
        let size = [pageSize, wanted].compactMap(\.self).min()
        let answer = try await feed(query, of: table, since: since, size)
        let left = wanted.map { $0 - answer.records.count }
        let rest = left.map { " \($0)" } ?? ""
        return PullPage(
            records: answer.records,
            setAside: answer.setAside,
            next: answer.more && left != 0 ? .next("everything \(answer.reached)\(rest)") : nil
        )
    }

    private struct Feed {
        var records: [Record] = []
        var setAside: [SetAsideRow] = []
        var reached: Int
        var more: Bool
    }

    /// Some rows that changed after a number.
    private func feed(_ query: Query, of table: TableDefinition, since: Int, _ size: Int?) async throws -> Feed {
        let path = "/\(table.name)/changes?since=\(since)&limit=\(size ?? 50)"
        let answer = try await exchange(request(.get, path))
        switch answer.status.code {
        case 200: break
        // The service has never given this number: it was set up anew, or the number is no number of it.
        case 410 where since > 0: return try await feed(query, of: table, since: 0, size)
        default: throw RemoteError(status: answer.status.code)
        }
        guard let last = HTTPField.Name("Last-Sequence"), let more = HTTPField.Name("More"),
            let reached = answer.headerFields[last].flatMap({ Int($0) })
        else { throw RemoteError(.invalidResponse, "A page of the service does not say how far it reaches.") }
        var feed = Feed(reached: reached, more: answer.headerFields[more] == "true")
        let (rows, evaluator) = (NotesRow(table), QueryEvaluator(table))
        for line in answer.body.split(separator: UInt8(ascii: "\n")) {
            switch try rows.row(line) {
            // The service knows no conditions. A deleted row comes in any case: here it may be one that satisfied it.
            case .success(let row):
                if try row.isDeleted || evaluator.matches(row, query.predicate) { feed.records.append(row) }
            case .failure(let misfit): feed.setAside.append(SetAsideRow(id: misfit.id, reason: misfit.reason))
            }
        }
        return feed
    }
}
