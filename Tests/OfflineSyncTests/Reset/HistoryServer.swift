import OfflineSync
import QueryEvaluation
import RemoteContract
import Synchronization
import SyncContract

/// A server that keeps its changes in a row: cursors are places in it, and say so when it was set up anew since. It counts the
/// versions of each row from 1, so that they are used again.
final class HistoryServer: SyncRemote {
    /// What becomes of the next change that is sent.
    enum Fate: Sendable {
        case answered, answerLost, requestLost
        /// It arrives when ``HistoryServer/deliver()`` lets it, and nobody hears the answer.
        case late
    }

    private struct State {
        var history = 1
        var time = 0
        var rows: [String: (row: Record, time: Int)] = [:]
        var fate = Fate.answered
        var pages = 0
        var writes = 0
        var late: [@Sendable (inout State) throws -> (String, Record)?] = []
        var unfit: Set<String> = []
        var ids = 0
    }

    private let state = Mutex(State())
    private let duringPages = Mutex<(@Sendable (Int) async throws -> Void)?>(nil)
    private let choosesIDs: Bool
    let replacesWholeRows = true

    init(choosesIDs: Bool = false) { self.choosesIDs = choosesIDs }

    /// The rows that are not deleted: text by id.
    var texts: [String: String] {
        state.withLock { $0.rows.filter { !$0.value.row.isDeleted }.mapValues { $0.row["text"]?.stringValue ?? "" } }
    }
    var pages: Int { state.withLock { $0.pages } }
    var writes: Int { state.withLock { $0.writes } }

    /// Parameters choose nothing here.
    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage { try await page(query, of: table, at: position, pageSize: pageSize) }

    func setFate(_ fate: Fate) { state.withLock { $0.fate = fate } }

    /// Called with the number of the page before one is answered, from 1.
    func onPages(_ body: (@Sendable (Int) async throws -> Void)?) {
        duringPages.withLock { $0 = body }
        state.withLock { $0.pages = 0 }
    }

    /// A change by somebody else.
    func write(_ id: String, _ text: String?) {
        state.withLock { state in
            let version = (state.rows[id]?.row.version.flatMap { Int($0) } ?? 0) + 1
            state.time += 1
            var row = Record(id: .string(id), ["text": .string(text ?? ""), "version": .string("\(version)")])
            if text == nil { row["deleted"] = true }
            state.rows[id] = (row, state.time)
        }
    }

    /// Sets the server up anew with rows, whose versions start from the one that is given.
    func reset(to texts: [String: String], versions: Int = 1, parents: [String: String] = [:]) {
        state.withLock { state in
            state.history += 1
            state.time = 0
            state.rows = [:]
            for (id, text) in texts.sorted(by: { $0.key < $1.key }) {
                state.time += 1
                var row = Record(id: .string(id), ["text": .string(text), "version": .string("\(versions)")])
                if let parent = parents[id] { row["parent"] = .string(parent) }
                state.rows[id] = (row, state.time)
            }
        }
    }

    /// Marks a row as deleted, as part of being set up anew.
    func bury(_ id: String) { write(id, nil) }

    /// Removes a row and leaves nothing of it.
    func remove(_ id: String) { state.withLock { $0.rows[id] = nil } }

    /// Has these rows, and no others, not fit their table from here on.
    func unfit(_ ids: String...) { state.withLock { $0.unfit = Set(ids) } }

    /// The value of a column of all rows that are not deleted, by id.
    func values(_ column: String) -> [String: String] {
        state.withLock { $0.rows.filter { !$0.value.row.isDeleted }.compactMapValues { $0.row[column]?.stringValue } }
    }

    /// Lets the requests arrive that are late, in their order.
    func deliver() {
        state.withLock { state in
            let late = state.late
            state.late = []
            for request in late {
                do {
                    if let (id, record) = try request(&state) { Self.apply(record, id, &state) }
                } catch {
                    // It was refused, which nobody hears.
                }
            }
        }
    }

    // MARK: Changes

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try change { [choosesIDs] state in
            guard !choosesIDs else {
                state.ids += 1
                return ("chosen \(state.ids)", record)
            }
            let id = record.id.stringValue ?? ""
            if let known = state.rows[id]?.row {
                throw RemoteError(.conflict, "it is there", status: 409, serverRecord: known)
            }
            return (id, record)
        }
    }

    func update(_ record: Record, in table: TableDefinition, version: String?, restoring: Bool) async throws -> Record {
        try change { state in
            let id = record.id.stringValue ?? ""
            guard let known = state.rows[id]?.row else { throw RemoteError(.notFound, "no such row", status: 404) }
            guard version == nil || known.version == version, restoring || !known.isDeleted else {
                throw RemoteError(.conflict, "another version", status: 412, serverRecord: known)
            }
            return (id, record)
        }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        let answer = try change { state in
            guard let known = state.rows[id]?.row, !known.isDeleted else { return nil }
            guard version == nil || known.version == version else {
                throw RemoteError(.conflict, "another version", status: 412, serverRecord: known)
            }
            var tombstone = known
            tombstone["deleted"] = true
            return (id, tombstone)
        }
        return answer.names.isEmpty ? .unconfirmed(status: 404) : .confirmed
    }

    private func change(_ body: @escaping @Sendable (inout State) throws -> (String, Record)?) throws -> Record {
        try state.withLock { state in
            let fate = state.fate
            state.fate = .answered
            if fate == .late { state.late.append(body) }
            if fate == .requestLost || fate == .late { throw RemoteError(.unreachable, "on purpose") }
            guard let (id, record) = try body(&state) else { return Record(id: "", [:]) }
            state.writes += 1
            let row = Self.apply(record, id, &state)
            if fate == .answerLost { throw RemoteError(.unreachable, "on purpose") }
            return row
        }
    }

    @discardableResult
    private static func apply(_ record: Record, _ id: String, _ state: inout State) -> Record {
        state.time += 1
        var row = record
        row.id = .string(id)
        row["version"] = .string("\((state.rows[id]?.row.version.flatMap { Int($0) } ?? 0) + 1)")
        if record.isDeleted { row["deleted"] = true }
        state.rows[id] = (row, state.time)
        return row
    }

    // MARK: Reads

    func record(_ id: String, in table: TableDefinition) async throws -> Record? { state.withLock { $0.rows[id]?.row } }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        let number = state.withLock { state in
            state.pages += 1
            return state.pages
        }
        try await duringPages.withLock { $0 }?(number)
        let evaluator = QueryEvaluator(table)
        return try state.withLock { state in
            var start = 0
            switch position {
            case .everything, .changes(nil): break
            case .changes(let text?), .next(let text):
                let parts = text.split(separator: ":").compactMap { Int($0) }
                guard parts[0] == state.history else {
                    throw RemoteError(.historyLost, "the server was set up anew")
                }
                start = parts[1]
            }
            let all = state.rows.values.filter { $0.time > start }.sorted { $0.time < $1.time }
            let rows = all.prefix(pageSize ?? 3)
            let end = rows.last?.time ?? max(start, state.time)
            let records = try rows.map(\.row).filter { try evaluator.matches($0, query.predicate) }
            let unfit = records.filter { state.unfit.contains($0.id.stringValue ?? "") }
            let cursor = "\(state.history):\(end)"
            return PullPage(
                records: records.filter { !unfit.contains($0) },
                setAside: unfit.map { SetAsideRow(id: $0.id.stringValue ?? "", reason: "text does not fit") },
                next: all.count > rows.count ? .next(cursor) : nil,
                cursor: cursor,
                totalCount: all.count
            )
        }
    }
}
