import OfflineSync
import RemoteContract
import Synchronization
import SyncContract

/// A server that keeps its changes in a row: cursors are places in it, and say so when it was set up anew since. It counts the
/// versions of each row from 1, so that they are used again.
final class HistoryServer: SyncRemote {
    /// What becomes of the next change that is sent.
    enum Fate: Sendable { case answered, answerLost, requestLost }

    private struct State {
        var history = 1
        var time = 0
        var rows: [String: (row: Record, time: Int)] = [:]
        var fate = Fate.answered
        var pages = 0
        var writes = 0
    }

    private let state = Mutex(State())
    private let duringPages = Mutex<(@Sendable (Int) async throws -> Void)?>(nil)
    let replacesWholeRows = true

    /// The rows that are not deleted: text by id.
    var texts: [String: String] {
        state.withLock { $0.rows.filter { !$0.value.row.isDeleted }.mapValues { $0.row["text"]?.stringValue ?? "" } }
    }
    var pages: Int { state.withLock { $0.pages } }
    var writes: Int { state.withLock { $0.writes } }

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
    func reset(to texts: [String: String], versions: Int = 1) {
        state.withLock { state in
            state.history += 1
            state.time = 0
            state.rows = [:]
            for (id, text) in texts.sorted(by: { $0.key < $1.key }) {
                state.time += 1
                let row = Record(id: .string(id), ["text": .string(text), "version": .string("\(versions)")])
                state.rows[id] = (row, state.time)
            }
        }
    }

    /// Marks a row as deleted, as part of being set up anew.
    func bury(_ id: String) { write(id, nil) }

    // MARK: Changes

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try change { state in
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
        var isThere = true
        _ = try change { state in
            guard let known = state.rows[id]?.row, !known.isDeleted else {
                isThere = false
                return nil
            }
            guard version == nil || known.version == version else {
                throw RemoteError(.conflict, "another version", status: 412, serverRecord: known)
            }
            var tombstone = known
            tombstone["deleted"] = true
            return (id, tombstone)
        }
        return isThere ? .confirmed : .unconfirmed(status: 404)
    }

    private func change(_ body: (inout State) throws -> (String, Record)?) throws -> Record {
        try state.withLock { state in
            let fate = state.fate
            state.fate = .answered
            if fate == .requestLost { throw RemoteError(.unreachable, "on purpose") }
            guard let (id, record) = try body(&state) else { return Record(id: "", [:]) }
            state.time += 1
            state.writes += 1
            var row = record
            row["version"] = .string("\((state.rows[id]?.row.version.flatMap { Int($0) } ?? 0) + 1)")
            if record.isDeleted { row["deleted"] = true }
            state.rows[id] = (row, state.time)
            if fate == .answerLost { throw RemoteError(.unreachable, "on purpose") }
            return row
        }
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
        let isLate = query.predicate != nil
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
            // A query with a predicate brings the rows whose text is one letter, whatever it says.
            let records = rows.map(\.row).filter { !isLate || ($0["text"]?.stringValue?.count ?? 0) == 1 }
            let cursor = "\(state.history):\(end)"
            return PullPage(
                records: records,
                next: all.count > rows.count ? .next(cursor) : nil,
                cursor: cursor,
                totalCount: all.count
            )
        }
    }
}
