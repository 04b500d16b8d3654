internal import Foundation
internal import HTTPTransport
public import RemoteContract
public import SyncContract
internal import Synchronization

extension DatasyncRemote {
    /// One page of a pull; see ``/RemoteContract/SyncRemote/page(_:of:at:pageSize:)``.
    public func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        do {
            switch position {
            case .everything:
                let paging = FullPaging(limit: query.limit)
                // What this does not find is removed. A server that was set up anew has the columns of before no longer.
                if !query.asksByID { knowledge.withLock { $0[table].columns = [] } }
                try check(FullPaging.widestRequest(query, pageSize: pageSize), of: table)
                return try await page(query, of: table, paging, pageSize)
            case .changes(let cursor):
                try check(ChangePaging.widestRequest(query, pageSize: pageSize), of: table)
                return try await firstPage(query, of: table, since: cursor, pageSize)
            case .next(let text):
                switch try PagingState(text) {
                case .everything(let paging): return try await page(query, of: table, paging, pageSize)
                case .changes(let paging):
                    guard !paging.passesRowsOver else { throw RowsLeft.error(column: "updatedAt") }
                    let request = paging.request(query, pageSize: pageSize)
                    let answer = try await read(request, behind: paging.lastID, of: table)
                    return try page(answer.page, of: table, paging)
                }
            }
        } catch let error as TransportError {
            throw RemoteError(error)
        }
    }

    /// Refuses a pull that the server would refuse, perhaps in its middle.
    private func check(_ query: Query, of table: TableDefinition) throws {
        _ = try httpRequest(try wire.page(query, of: table))
    }

    /// A page that goes on behind an id; nil where it does not. That there is room behind one as long as most are was looked at
    /// before the first page.
    private func read(_ request: Query, behind id: RowKey?, of table: TableDefinition) async throws -> Answer {
        do {
            return try await readWithoutSpoiledRows(request, of: table)
        } catch let error as RemoteError where error.code == .invalidRequest && error.status == nil {
            guard let id else { throw error }
            throw RemoteError(
                .invalidRequest,
                "The pull of table '\(table.name)' cannot go on behind the last row, whose id has \(id.text.count) characters:"
                    + " with it the condition is too long for a request. Pull with a shorter one, or raise maximumRequestLine"
                    + " where the server allows more.",
                cause: error
            )
        }
    }

    private func page(
        _ query: Query,
        of table: TableDefinition,
        _ paging: FullPaging,
        _ pageSize: Int?
    ) async throws -> PullPage {
        var paging = paging
        guard !paging.passesRowsOver else { throw RowsLeft.error(column: "id") }
        guard !paging.isFinished else { return PullPage(records: []) }
        var page = try await read(paging.request(query, pageSize: pageSize), behind: paging.lastID, of: table).page
        // In one go, because whoever pulls takes pages without anything new for a circle.
        var rowsBefore: [ServerPage.Row] = []
        while true {
            let step = paging.step(with: page)
            if step == .takeIn { break }
            if step == .askForGap {
                guard let passedOver = try await rowsPassedOver(paging, query, of: table, pageSize) else {
                    paging.hasSeenGap()
                    break
                }
                rowsBefore += passedOver
            }
            guard paging.goesBack() else { break }
            let before = try await read(paging.request(query, pageSize: pageSize), behind: paging.lastID, of: table)
                .page
            rowsBefore += before.rows
            try paging.receive(before)
            guard !paging.isFinished else {
                page = ServerPage(rows: [], isKnownToBeLast: true)
                break
            }
            page = try await read(paging.request(query, pageSize: pageSize), behind: paging.lastID, of: table).page
        }
        let wanted = paging.wanted
        if !paging.isFinished { try paging.receive(page) }
        page.rows = rowsBefore + page.rows
        let told = IDCaseCollisions.separate(page.records, of: table)
        return PullPage(
            records: told.records,
            setAside: page.setAside + told.setAside,
            // What was passed over comes first, and then the error.
            next: paging.isFinished && !paging.passesRowsOver ? nil : try PagingState.everything(paging).position,
            totalCount: page.totalCount.map { min($0, wanted ?? $0) }
        )
    }

    /// Asks for what lies behind the beginning of the page before and before the next one.
    ///
    /// - Returns: What had not come, as far as a page shows it; nil when all had.
    private func rowsPassedOver(
        _ paging: FullPaging,
        _ query: Query,
        of table: TableDefinition,
        _ pageSize: Int?
    ) async throws -> [ServerPage.Row]? {
        var come = paging.gapStart
        while true {
            let request = paging.gapRequest(behind: come, query, pageSize: pageSize)
            do {
                try check(request, of: table)
            } catch is RemoteError {
                // A condition that leaves no room for the question.
                throw RowsLeft.error(column: "id")
            }
            let page = try await readWithoutSpoiledRows(request, of: table).page
            if let passedOver = paging.rowsPassedOver(in: page) { return passedOver }
            let isLast = page.rows.isEmpty || page.isKnownToBeLast
            try come.receive(page, isLast: isLast)
            if isLast { return nil }
        }
    }

    private func page(_ page: ServerPage, of table: TableDefinition, _ paging: ChangePaging) throws -> PullPage {
        var paging = paging
        // A page that is looked at again may lie before the one that came last.
        let isInOrder = paging.asksInOrder && !paging.isLookingAgain
        var given = page
        given.rows = paging.news(in: page)
        try paging.receive(page)
        let told = IDCaseCollisions.separate(given.records, of: table)
        return PullPage(
            records: told.records,
            setAside: given.setAside + told.setAside,
            next: paging.isFinished ? nil : try PagingState.changes(paging).position,
            cursor: paging.cursor?.text,
            totalCount: isInOrder ? page.totalCount : nil,
            // Whole seconds: servers that order stamps as text misplace those within one.
            orderKeys: isInOrder ? page.rows.compactMap(\.stamp).map { $0 / 1_000 } : []
        )
    }

    /// The first page of a pull of changes, whose answer also says up to when everything is settled.
    private func firstPage(
        _ query: Query,
        of table: TableDefinition,
        since cursor: String?,
        _ pageSize: Int?
    ) async throws -> PullPage {
        let earlier = cursor.flatMap { PullCursor($0, settlingTime: settlingTime) }
        let lag = knowledge.withLock { $0.lag(of: table, earlier: earlier?.lag ?? 0) }
        var paging = ChangePaging(from: earlier?.reckoning(with: lag))
        paging.lag = lag
        let request = paging.request(query, pageSize: pageSize)
        if knowledge.withLock(\.tellsNoTime) { paging.settled = try await newestStamp(query, of: table) }
        var answer = try await readWithoutSpoiledRows(request, of: table)
        if let date = answer.response.date {
            let latest = date - paging.lag
            // The date is later than the read, by the whole request at most.
            paging.settled = latest - answer.response.duration.wholeMilliseconds
            // What was settled before stays so, unless the clock was set back since or stamps lag behind more than was known.
            if let earlier, paging.lag <= earlier.lag {
                let before = earlier.milliseconds + settlingTime.wholeMilliseconds
                if before <= latest { paging.settled = max(paging.settled ?? before, before) }
            }
            knowledge.withLock { $0.tellsNoTime = false }
        } else if !knowledge.withLock(\.tellsNoTime) {
            knowledge.withLock { $0.tellsNoTime = true }
            // Asked for after the page, it could be the stamp of a row behind which others were not visible yet.
            paging.settled = try await newestStamp(query, of: table)
            answer = try await readWithoutSpoiledRows(request, of: table)
        }
        paging.settled? -= settlingTime.wholeMilliseconds
        return try page(answer.page, of: table, paging)
    }

    /// The newest stamp of a table; nil when it has none.
    private func newestStamp(_ query: Query, of table: TableDefinition) async throws -> Int64? {
        // Where rows without a stamp come last, they come first in this order.
        let newest = Query(query.table)
            .filtered(by: Column("updatedAt") >= .date(Timestamp(milliseconds: ChangePaging.earliest)))
            .ordered(by: "updatedAt", .descending).limited(to: 1)
        return try await read(newest.selecting(["updatedAt"]), of: table).page.rows.first?.stamp
    }
}

/// What is kept between the pages of a pull, and its text.
private enum PagingState: Codable {
    case changes(ChangePaging)
    case everything(FullPaging)

    init(_ text: String) throws(RemoteError) {
        do {
            self = try JSONDecoder().decode(PagingState.self, from: Data(text.utf8))
        } catch {
            throw RemoteError(
                .invalidRequest,
                "The position in a pull is not one that this remote gave; start the pull again.",
                cause: error
            )
        }
    }

    var position: PullPosition {
        get throws(RemoteError) {
            do {
                return .next(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
            } catch {
                throw RemoteError(.invalidRequest, "The position in a pull has no text; report this.", cause: error)
            }
        }
    }
}
