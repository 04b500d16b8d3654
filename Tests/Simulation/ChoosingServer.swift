internal import RemoteContract
internal import SeededNumbers
internal import SyncContract
internal import Synchronization

/// A server that chooses the ids of rows, on a way that loses requests and answers.
///
/// What is carried out is so before the answer is known: nothing arrives late. A late insert without an id makes a second
/// row, and nothing can keep it away.
final class ChoosingServer: SyncRemote {
    fileprivate struct State {
        var rows: [String: [String: Record]] = [:]
        var count = 0
        var random: SeededGenerator
        var isCalm = false
        var meanwhile: (@Sendable () async throws -> Void)?
    }

    let maximumBatchSize: Int
    let replacesWholeRows: Bool
    private let state: Mutex<State>

    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        maximumBatchSize = random.pick([1, 1, 2, 5])
        replacesWholeRows = random.chance(1, of: 2)
        state = Mutex(State(random: random))
    }

    /// All rows of a table that there ever were.
    func rows(_ table: String) -> [Record] { state.withLock { Array(($0.rows[table] ?? [:]).values) } }

    /// Loses nothing from here on.
    func calm() { state.withLock { $0.isCalm = true } }

    /// What happens once, while the next request is under way.
    func whileNextIsUnderWay(_ body: @escaping @Sendable () async throws -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await exchange { state in
            state.count += 1
            return .success(state.write(record, as: "s\(state.count)", table))
        }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        try await exchange { [replacesWholeRows] state in
            state.existing(record.id.stringValue ?? "", table, version, includingDeleted: restoring)
                .map { old in
                    var row = replacesWholeRows ? Record(id: old.id) : old
                    for (name, value) in record.fields { row[name] = value }
                    return state.write(row, as: old.id.stringValue ?? "", table)
                }
        }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await exchange { state in
            guard let row = state.rows[table.name]?[id] else { return .success(.unconfirmed(status: 404)) }
            guard !row.isDeleted else { return .success(.unconfirmed(status: 410)) }
            return state.existing(id, table, version, includingDeleted: false)
                .map { old in
                    _ = state.write(old, as: id, table, isDeleted: true)
                    return .confirmed
                }
        }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await exchange { .success($0.rows[table.name]?[id]) }
    }

    func confirm(_ table: TableDefinition) async throws { try await exchange { _ in .success(()) } }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await exchange { state in
            var after = 0
            if case .changes(let cursor) = position { after = cursor.flatMap { Int($0) } ?? 0 }
            let rows = (state.rows[table.name] ?? [:]).values.map { (number: Self.number($0), row: $0) }
                .filter { $0.number > after }.sorted { $0.number < $1.number }
            var page = PullPage(records: rows.map(\.row))
            if case .changes = position { page.cursor = "\(rows.last?.number ?? after)" }
            return .success(page)
        }
    }

    private static func number(_ row: Record) -> Int { row.version.flatMap { Int($0) } ?? 0 }

    private func exchange<Value: Sendable>(
        _ body: @Sendable (inout State) -> Result<Value, RemoteError>
    ) async throws -> Value {
        RequestCounter.countRequest()
        let meanwhile = state.withLock { state in
            defer { state.meanwhile = nil }
            return state.meanwhile
        }
        try await meanwhile?()
        return try state.withLock { state throws(RemoteError) in
            let fate = state.isCalm ? 9 : state.random.below(12)
            if fate == 0 { throw Self.unreachable }
            if fate == 1 { throw RemoteError(.throttled, "later", status: 503) }
            let answer = body(&state)
            if fate == 2 { throw Self.unreachable }
            if fate == 3 { throw RemoteError(.serverFailure, "failed", status: 500) }
            return try answer.get()
        }
    }

    private static var unreachable: RemoteError { RemoteError(.unreachable, "nothing answers") }
}

extension ChoosingServer.State {
    fileprivate mutating func write(
        _ record: Record,
        as id: String,
        _ table: TableDefinition,
        isDeleted: Bool = false
    ) -> Record {
        count += 1
        var row = record
        row.id = .string(id)
        row["version"] = .string("\(count)")
        row["updatedAt"] = .date(Timestamp(milliseconds: 1_700_000_000_000 + Int64(count)))
        row["createdAt"] = .date(Timestamp(milliseconds: 1_700_000_000_000))
        row["deleted"] = .bool(isDeleted)
        rows[table.name, default: [:]][id] = row
        return row
    }

    fileprivate func existing(
        _ id: String,
        _ table: TableDefinition,
        _ version: String?,
        includingDeleted: Bool
    ) -> Result<Record, RemoteError> {
        guard let row = rows[table.name]?[id] else {
            return .failure(RemoteError(.notFound, "there is no such row", status: 404))
        }
        guard version == nil || version == row.version, includingDeleted || !row.isDeleted else {
            let status = row.isDeleted ? 410 : 412
            return .failure(RemoteError(.conflict, "there is another version", status: status, serverRecord: row))
        }
        return .success(row)
    }
}
