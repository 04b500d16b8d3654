import DatasyncHTTP
import RemoteContract
import SyncContract
import Synchronization

extension RemoteMutant {
    static let reading: [RemoteMutant] = [
        RemoteMutant("shows no tombstones", "record.tombstone") {
            $0.reading = { remote, id, table in
                let row = try await remote.record(id, in: table)
                return row?.isDeleted == true ? nil : row
            }
        },
        RemoteMutant("reads declared columns only", "record.live") {
            $0.reading = { try await $0.record($1, in: $2)?.selecting($2.allColumns.map(\.name)) }
        },
        RemoteMutant("throws for a row that is not there", "record.unknown") {
            $0.reading = { remote, id, table in
                guard let row = try await remote.record(id, in: table) else {
                    throw RemoteError(.notFound, "There is no such row.")
                }
                return row
            }
        },
        RemoteMutant("takes every failure for a row that is not there", "failure.unauthorized") {
            $0.reading = { remote, id, table in
                do {
                    return try await remote.record(id, in: table)
                } catch is RemoteError {
                    return nil
                }
            }
        },
        RemoteMutant("believes in any table", "confirm.absent") { $0.confirming = { _, _ in } },
        RemoteMutant("takes any success for a table", "confirm.foreign-answer") {
            $0.confirming = { remote, table in
                do {
                    try await remote.confirm(table)
                } catch let error as RemoteError where error.status == 200 {
                    // Somebody answered.
                }
            }
        },
        RemoteMutant("takes a web page for an empty page", "failure.foreign-answer") {
            $0.paging = { remote, request in
                do {
                    return try await request.ask(remote)
                } catch let error as RemoteError where error.status == 200 {
                    return PullPage(records: [])
                }
            }
        },
        RemoteMutant("takes a server in need of rest for one that failed", "failure.throttled") {
            $0.paging = { remote, request in
                do {
                    return try await request.ask(remote)
                } catch let error as RemoteError where error.code == .throttled {
                    throw RemoteError(.serverFailure, error.message, status: error.status)
                }
            }
        },
    ]

    static let pulling: [RemoteMutant] = [
        RemoteMutant("does not say how long to wait", "failure.retry-after") {
            $0.paging = { remote, request in
                do {
                    return try await request.ask(remote)
                } catch let error as RemoteError where error.code == .throttled {
                    throw RemoteError(.throttled, error.message, status: error.status)
                }
            }
        },
        RemoteMutant("sets deleted rows aside", "aside.deleted-row-is-none") {
            $0.everyPage { page in
                page.setAside += page.records.filter(\.isDeleted)
                    .map { SetAsideRow(id: $0.id.stringValue ?? "", reason: "It is deleted.") }
                page.records.removeAll(where: \.isDeleted)
            }
        },
        RemoteMutant("stops after the first page", "page.everything") { $0.everyPage { $0.next = nil } },
        RemoteMutant("passes over the last row of a page", "page.everything") {
            $0.everyPage { _ = $0.records.popLast() }
        },
        RemoteMutant("gives the same page again and again", "page.everything") {
            $0.paging = { remote, request in
                var page = try await request.ask(remote)
                page.next = request.position
                return page
            }
        },
        RemoteMutant("asks for twice as many rows", "page.size") {
            $0.paging = { remote, request in
                var request = request
                request.pageSize = request.pageSize.map { $0 * 2 }
                return try await request.ask(remote)
            }
        },
        RemoteMutant("forgets the limit", "page.limit") {
            $0.paging = { remote, request in
                var request = request
                request.query.limit = nil
                return try await request.ask(remote)
            }
        },
        RemoteMutant("forgets the condition", "page.predicate") {
            $0.paging = { remote, request in
                var request = request
                request.query.predicate = nil
                return try await request.ask(remote)
            }
        },
        RemoteMutant("leaves deleted rows out", "page.tombstones") {
            $0.everyPage { $0.records.removeAll(where: \.isDeleted) }
        },
        RemoteMutant("takes an absent table for an empty one", "page.absent-table") {
            $0.paging = { remote, request in
                do {
                    return try await request.ask(remote)
                } catch let error as RemoteError where error.code == .notFound {
                    return PullPage(records: [])
                }
            }
        },
        RemoteMutant("goes through pages by number", "page.deletions-between") { $0.paging = byNumber },
        RemoteMutant("gives the order of rows as it does not go", "page.order-keys") {
            $0.everyPage { page in page.orderKeys = page.records.indices.map { -Int64($0) } }
        },
        RemoteMutant("gives later pages smaller numbers", "page.order-keys") {
            let falling = Falling()
            $0.everyPage { page in page.orderKeys = falling.keys(page.records.count) }
        },
        RemoteMutant("counts the rows of a page only", "page.total-count") {
            $0.everyPage { $0.totalCount = $0.records.count }
        },
        RemoteMutant("counts what has come already", "page.total-count") {
            $0.paging = { remote, request in
                var page = try await request.ask(remote)
                if page.totalCount != nil || request.position == .everything { page.totalCount = 23 }
                return page
            }
        },
        RemoteMutant("leaves parameters out", "page.parameters") {
            $0.paging = { remote, request in
                var request = request
                request.parameters = [:]
                return try await request.ask(remote)
            }
        },
        RemoteMutant("forgets parameters behind the first page", "page.parameters") {
            $0.paging = { remote, request in
                var request = request
                if case .next = request.position { request.parameters = [:] }
                return try await request.ask(remote)
            }
        },
        RemoteMutant("refuses parameters after it has asked", "page.parameters") {
            $0.paging = { remote, request in
                let page = try await request.ask(remote)
                guard request.parameters.isEmpty else { throw RemoteError(.invalidRequest, "No parameters, please.") }
                return page
            }
        },
        RemoteMutant("says that nothing comes again", "pull.may-repeat") { $0.repeating = { _, _, _, _ in false } },
        RemoteMutant("keeps no cursor", "pull.cursor-moves") { $0.everyPage { $0.cursor = nil } },
        RemoteMutant("has a cursor of the newest stamp", "pull.one-instant") { $0.paging = newestStamp },
        RemoteMutant("has a cursor that is ahead of what came", "pull.new-start") {
            $0.everyPage { page in
                // As a remote does that asks for the time at the start of a pull.
                page.cursor = "settled 2100-01-01T00:00:00.000Z"
            }
        },
        RemoteMutant("fails on a cursor that it cannot read", "pull.unknown-cursor") {
            $0.paging = { remote, request in
                if case .changes(let cursor?) = request.position, !cursor.hasPrefix("settled 2") {
                    throw RemoteError(.invalidRequest, "This is no cursor.")
                }
                return try await request.ask(remote)
            }
        },
        RemoteMutant("keeps its place in memory", "pull.positions-are-text") { $0.paging = Places().page },
        RemoteMutant("sets nothing aside", "aside.holds-up-no-other") {
            $0.paging = { remote, request in
                let page = try await request.ask(remote)
                if let row = page.setAside.first { throw RemoteError(.invalidResponse, row.reason) }
                return page
            }
        },
        RemoteMutant("passes over what does not fit without a word", "aside.holds-up-no-other") {
            $0.everyPage { $0.setAside = [] }
        },
        RemoteMutant("gives no reason", "aside.reason") {
            $0.everyPage { $0.setAside = $0.setAside.map { SetAsideRow(id: $0.id, reason: "") } }
        },
        RemoteMutant("takes a row that does not fit for a missing one", "aside.read-by-id") {
            $0.reading = { remote, id, table in
                do {
                    return try await remote.record(id, in: table)
                } catch let error as RemoteError where error.code == .unfitRow {
                    return nil
                }
            }
        },
        RemoteMutant("does not say that it is a row that does not fit that is in the way", "aside.in-the-way") {
            $0.deleting = { remote, id, table, version in
                do {
                    return try await remote.delete(id, from: table, version: version)
                } catch let error as RemoteError where error.code == .conflict {
                    throw RemoteError(.conflict, error.message, status: error.status, serverRecord: error.serverRecord)
                }
            }
        },
    ]

    static let others: [RemoteMutant] = [
        RemoteMutant("allows ids that the server changes", "id.kept-as-sent") {
            $0.rule = RowIDRule(maximumLength: 255, forbiddenCharacters: ["?", "\"", "\\"])
            $0.inserting = { remote, record, table in
                let id = record.id.stringValue?.replacing("+", with: " ") ?? ""
                return try await remote.insert(Record(id: .string(id), record.fields), into: table)
            }
        },
        RemoteMutant("takes short ids only", "id.new-ids-are-taken") { $0.rule = RowIDRule(maximumLength: 20) },
        RemoteMutant("counts a request twice", "pull.requests-are-counted") {
            $0.reading = { remote, id, table in
                RequestCounter.countRequest()
                return try await remote.record(id, in: table)
            }
        },
        RemoteMutant("hides cancellation behind an error of its own", "cancel.ends-early") {
            $0.updating = { remote, record, table, version, restoring in
                do {
                    return try await remote.update(record, in: table, version: version, restoring: restoring)
                } catch is CancellationError {
                    throw RemoteError(.unreachable, "The request was given up.")
                }
            }
        },
        RemoteMutant("waits in a task that nobody cancels", "cancel.ends-early") {
            $0.confirming = { remote, table in
                let task = Task { try await remote.confirm(table) }
                do {
                    try await Task.sleep(for: .milliseconds(1))
                } catch {
                    // The task goes on all the same; the caller hears of it when it ends.
                }
                try await withTaskCancellationHandler {
                    try await task.value
                } onCancel: {
                    Task {
                        try await Task.sleep(for: .seconds(7))
                        task.cancel()
                    }
                }
            }
        },
        RemoteMutant("writes in a cancelled task", "cancel.before") {
            $0.inserting = { remote, record, table in
                try await Task { try await remote.insert(record, into: table) }.value
            }
        },
        RemoteMutant("stops a batch at the first conflict", "batch.answers") {
            $0.batchSize = 10
            $0.sending = { remote, batch in
                var answers: [Result<RemoteOperationAnswer, any Error>] = []
                for operation in batch {
                    if case .failure? = answers.last {
                        answers.append(answers[answers.count - 1])
                    } else {
                        answers += try await remote.send([operation])
                    }
                }
                return answers
            }
        },
        RemoteMutant("answers a batch in another order", "batch.answers") {
            $0.batchSize = 10
            $0.sending = { try await $0.send($1).reversed() }
        },
        RemoteMutant("takes batches and sends one by one", "batch.is-one-request") { $0.batchSize = 10 },
        RemoteMutant("asks the server about a batch of none", "batch.maximum") {
            $0.sending = { remote, batch in
                if batch.isEmpty { try await remote.confirm(TableDefinition("items", columns: [])) }
                return try await remote.send(batch)
            }
        },
    ]

    /// Goes through a pull of everything by the number of rows that have come: those behind a deleted one move up.
    private static let byNumber: FaultyRemote.Page = { remote, request in
        var skipped = 0
        switch request.position {
        case .changes: return try await request.ask(remote)
        case .everything: break
        case .next(let text): skipped = Int(text) ?? 0
        }
        var all: [Record] = []
        var position: PullPosition? = .everything
        while let current = position {
            let page = try await remote.page(request.query, of: request.table, at: current, pageSize: nil)
            all += page.records.filter { !$0.isDeleted }
            position = page.next
        }
        let size = request.pageSize ?? 10
        let rows = Array(all.dropFirst(skipped).prefix(size))
        return PullPage(records: rows, next: skipped + size < all.count ? .next("\(skipped + size)") : nil)
    }

    /// Starts the next pull behind the newest stamp that came, and so loses what shares it or is committed late.
    private static let newestStamp: FaultyRemote.Page = { remote, request in
        guard case .changes(let cursor) = request.position else { return try await request.ask(remote) }
        var request = request
        request.position = .changes(since: nil)
        if let stamp = cursor.flatMap(Timestamp.init) {
            request.query = request.query.filtered(by: Column("updatedAt") > .date(stamp))
        }
        let page = try await request.ask(remote)
        let newest = page.records.compactMap(\.updatedAt).max { $0.milliseconds < $1.milliseconds }
        return PullPage(records: page.records, next: nil, cursor: newest?.text ?? cursor)
    }
}

extension FaultyRemote {
    /// Changes every page that comes.
    mutating func everyPage(_ change: @escaping @Sendable (inout PullPage) -> Void) {
        paging = { remote, request in
            var page = try await request.ask(remote)
            change(&page)
            return page
        }
    }
}

/// Positions that only the remote which gave them can read.
private final class Places: Sendable {
    private let positions = Mutex<[PullPosition]>([])

    @Sendable func page(_ remote: any SyncRemote, _ request: FaultyRemote.PageRequest) async throws -> PullPage {
        var request = request
        if case .next(let number) = request.position {
            let known = positions.withLock { $0 }
            guard let index = Int(number), index < known.count else {
                throw RemoteError(.invalidRequest, "The position is none.")
            }
            request.position = known[index]
        }
        var page = try await request.ask(remote)
        if let next = page.next {
            let number = positions.withLock { positions in
                positions.append(next)
                return positions.count - 1
            }
            page.next = .next(String(number))
        }
        return page
    }
}

/// Numbers that rise within a page, and fall from page to page.
private final class Falling: Sendable {
    private let start = Mutex<Int64>(1_000_000)

    func keys(_ count: Int) -> [Int64] {
        let start = start.withLock { start in
            start -= 1_000
            return start
        }
        return (0..<count).map { start + Int64($0) }
    }
}
