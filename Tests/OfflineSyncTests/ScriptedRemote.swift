import OfflineSync
import RemoteContract
import Synchronization
import SyncContract

/// A remote whose pages a test writes, with rows that pushes change.
final class ScriptedRemote: SyncRemote {
    /// What the engine asks for.
    struct Request: Sendable, Hashable {
        var table: String
        var predicate: QueryPredicate?
        var position: PullPosition
        var pageSize: Int?
        var parameters: [String: String]
    }

    private struct State {
        var requests: [Request] = []
        var rows: [String: Record] = [:]
        var writes = 0
        var askedByID: [String] = []
        var beforeLookUp: (@Sendable () async throws -> Void)?
    }

    private let state = Mutex(State())
    private let answer: @Sendable (Request, Int) async throws -> PullPage
    private let passes: @Sendable (Record, String) -> Bool
    private let shown: @Sendable (Record) -> Record

    /// Answers requests for pages; they are numbered from 1. Changes are answered with what is `shown` of the row.
    init(
        passes: @escaping @Sendable (Record, String) -> Bool = { _, _ in false },
        shown: @escaping @Sendable (Record) -> Record = { $0 },
        _ answer: @escaping @Sendable (Request, Int) async throws -> PullPage
    ) {
        self.passes = passes
        self.shown = shown
        self.answer = answer
    }

    /// Answers with pages in their order, each leading to the next one.
    convenience init(pages: [PullPage]) {
        self.init { request, _ in
            let index = if case .next(let text) = request.position { Int(text) ?? 0 } else { 0 }
            var page = pages[index]
            if page.next == nil, index + 1 < pages.count { page.next = .next("\(index + 1)") }
            return page
        }
    }

    /// The requests for pages so far.
    var requests: [Request] { state.withLock { $0.requests } }
    /// The ids that were asked for one by one.
    var askedByID: [String] { state.withLock { $0.askedByID } }
    /// What the server has of a row.
    func row(_ id: String) -> Record? { state.withLock { $0.rows[id] } }
    /// Puts a row where it is found by id.
    func put(_ row: Record) { state.withLock { $0.rows[row.id.stringValue ?? ""] = row } }
    /// Runs once, before a row is looked up that is asked for by id.
    func beforeNextLookUp(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.beforeLookUp = body }
    }

    let replacesWholeRows = true

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record { write(record) }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        let known = row(record.id.stringValue ?? "")
        guard version == nil || known == nil || known?.version == version else {
            throw RemoteError(.conflict, "another version, on purpose", status: 412, serverRecord: known)
        }
        return write(record)
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        state.withLock { $0.rows[id] = nil }
        return .confirmed
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        let before = state.withLock { state in
            state.askedByID.append(id)
            defer { state.beforeLookUp = nil }
            return state.beforeLookUp
        }
        try await before?()
        return row(id)
    }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await page(query, of: table, at: position, pageSize: pageSize, parameters: [:])
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?,
        parameters: [String: String]
    ) async throws -> PullPage {
        let request = Request(
            table: table.name,
            predicate: query.predicate,
            position: position,
            pageSize: pageSize,
            parameters: parameters
        )
        let number = state.withLock { state in
            state.requests.append(request)
            return state.requests.count
        }
        return try await answer(request, number)
    }

    func mayRepeat(_ row: Record, of table: TableDefinition, after cursor: String) -> Bool { !passes(row, cursor) }

    private func write(_ record: Record) -> Record {
        state.withLock { state in
            state.writes += 1
            var row = record
            row["version"] = .string("w\(state.writes)")
            state.rows[record.id.stringValue ?? ""] = row
            return shown(row)
        }
    }
}

/// A row of the server.
func serverRow(_ id: String, _ text: String = "milk", version: String = "v1", stamp: Int64? = nil) -> Record {
    var row = Record(id: .string(id), ["text": .string(text), "version": .string(version)])
    if let stamp { row["updatedAt"] = .date(Timestamp(milliseconds: stamp)) }
    return row
}

/// A tombstone of the server.
func tombstone(_ id: String, version: String = "v2") -> Record {
    Record(id: .string(id), ["deleted": true, "version": .string(version)])
}

/// What a device holds, text by id.
func texts(_ context: SyncContext, _ table: String = "TodoItem") async throws -> [String: String] {
    let rows = try await context.store.read(Query(table)).records
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.id.stringValue ?? "", $0["text"]?.stringValue ?? "") })
}
