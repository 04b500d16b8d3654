internal import RemoteContract
internal import SeededNumbers
internal import SyncContract
internal import Synchronization

/// A server that chooses the ids of rows, on a way that loses requests and answers.
///
/// What is carried out is so before the answer is known: nothing arrives late. A late insert without an id makes a second
/// row, and nothing can keep it away.
final class ChoosingServer: Sendable {
    /// One change of a row.
    struct Write: Sendable {
        let device: Int
        let table: String
        /// The row before; nil when there was none.
        let old: Record?
        let new: Record
        /// Whether the device has named the version that it changes.
        let namesVersion: Bool
        /// Whether nothing stays of a row that is deleted.
        let isForGood: Bool
        /// Whether the row names a list by an id that the server has not given.
        let namesUnknownList: Bool

        var description: String {
            "\(Device.name(device)): \(table) \(old.map(Self.story) ?? "nothing") -> \(Self.story(new))"
        }

        /// A row without the ids that are new each time.
        static func story(_ row: Record) -> String {
            let names = [row.id.stringValue, row["list"]?.stringValue]
                .map { $0.map { $0.count > 20 ? "*" : $0 } ?? "-" }
            let values = ["origin", "text"].compactMap { row[$0]?.stringValue }.joined(separator: " ")
            return "\(names[0])(\(values) in \(names[1])\(row.isDeleted ? ", deleted" : ""))"
        }
    }

    fileprivate struct State: Sendable {
        var rows: [String: [String: Record]] = [:]
        var count = 0
        let deletesForGood: Bool
        /// The origins of the lists that there ever were, by their ids.
        var lists: [String: String] = [:]
        var random: SeededGenerator
        var isCalm = false
        var meanwhile: (@Sendable () async throws -> Void)?
        var willWrite: @Sendable (Write) -> Void = { _ in }
    }

    let settings: ChosenSettings
    private let state: Mutex<State>
    private let told = Mutex<@Sendable (String) -> Void>({ _ in })

    init(_ settings: ChosenSettings) {
        self.settings = settings
        state = Mutex(State(deletesForGood: settings.deletesForGood, random: SeededGenerator(seed: settings.seed &+ 2)))
    }

    /// Called before each change.
    var willWrite: @Sendable (Write) -> Void {
        get { state.withLock(\.willWrite) }
        set { state.withLock { $0.willWrite = newValue } }
    }

    /// Hears what is asked, and what becomes of it.
    func tell(_ note: @escaping @Sendable (String) -> Void) { told.withLock { $0 = note } }

    private func note(_ text: String) { told.withLock(\.self)(text) }

    /// All rows of a table that there ever were.
    func rows(_ table: String) -> [Record] { state.withLock { Array(($0.rows[table] ?? [:]).values) } }

    /// Which list an id has ever named.
    func list(_ id: String) -> String? { state.withLock { $0.lists[id] } }

    /// Loses nothing from here on.
    func calm() { state.withLock { $0.isCalm = true } }

    /// What happens once, while the next request is under way.
    func whileNextIsUnderWay(_ body: (@Sendable () async throws -> Void)?) {
        state.withLock { $0.meanwhile = body }
    }

    fileprivate func exchange<Value: Sendable>(
        _ request: @autoclosure () -> String,
        _ body: @Sendable (inout State) -> Result<Value, RemoteError>
    ) async throws -> Value {
        RequestCounter.countRequest()
        let (meanwhile, pauses) = state.withLock { state in
            defer { state.meanwhile = nil }
            return (state.meanwhile, state.random.below(6))
        }
        try await meanwhile?()
        note(request())
        for _ in 0..<pauses { await Task.yield() }
        return try state.withLock { state throws(RemoteError) in
            switch state.isCalm ? -1 : state.random.below(16) {
            case 0:
                note("    It is lost.")
                throw Self.unreachable
            case 1: throw RemoteError(.throttled, "later", status: 503)
            case 2:
                _ = body(&state)
                note("    The answer is lost.")
                throw Self.unreachable
            case 3:
                _ = body(&state)
                throw RemoteError(.serverFailure, "failed", status: 500)
            case 4:
                note("    It fails.")
                throw RemoteError(.serverFailure, "failed", status: 500)
            case 5: throw RemoteError(.refused, "no", status: 422)
            default: return try body(&state).get()
            }
        }
    }

    private static var unreachable: RemoteError { RemoteError(.unreachable, "nothing answers") }
}

/// A device's way to the server.
struct ChoosingRemote: SyncRemote {
    let server: ChoosingServer
    let device: Int

    private var who: String { Device.name(device) }

    var maximumBatchSize: Int { server.settings.batchSize }
    var replacesWholeRows: Bool { server.settings.replacesWholeRows }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await server.exchange("  \(who)'s insert of \(ChoosingServer.Write.story(record))") { state in
            state.count += 1
            return .success(state.write(record, as: "s\(state.count)", table, device))
        }
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record {
        let request = "  \(who)'s update of \(ChoosingServer.Write.story(record)) @\(version ?? "-")"
        return try await server.exchange(request) { [replacesWholeRows, device] state in
            state.existing(record.id.stringValue ?? "", table, version, includingDeleted: restoring)
                .map { old in
                    var row = replacesWholeRows ? Record(id: old.id) : old
                    for (name, value) in record.fields { row[name] = value }
                    return state.write(row, as: old.id.stringValue ?? "", table, device, namesVersion: version != nil)
                }
        }
    }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        try await server.exchange("  \(who)'s deletion of \(id) @\(version ?? "-")") { state in
            guard let row = state.rows[table.name]?[id] else { return .success(.unconfirmed(status: 404)) }
            guard !row.isDeleted else { return .success(.unconfirmed(status: 410)) }
            return state.existing(id, table, version, includingDeleted: false)
                .map { old in
                    _ = state.write(old, as: id, table, device, isDeleted: true, namesVersion: version != nil)
                    return .confirmed
                }
        }
    }

    func writeTombstone(_ record: Record, in table: TableDefinition, version: String?) async throws -> Record? {
        let request = "  \(who)'s tombstone of \(ChoosingServer.Write.story(record)) @\(version ?? "-")"
        return try await server.exchange(request) { [device] state in
            let id = record.id.stringValue ?? ""
            return state.existing(id, table, version, includingDeleted: true)
                .map { state.write($0, as: id, table, device, isDeleted: true, namesVersion: version != nil) }
        }
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        try await server.exchange("  \(who)'s question for \(id)") { .success($0.rows[table.name]?[id]) }
    }

    func confirm(_ table: TableDefinition) async throws {
        try await server.exchange("  \(who)'s question for the table") { _ in .success(()) }
    }

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage {
        try await server.exchange("  \(who)'s question for \(table.name) \(position)") { state in
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
}

extension ChoosingServer.State {
    fileprivate mutating func write(
        _ record: Record,
        as id: String,
        _ table: TableDefinition,
        _ device: Int,
        isDeleted: Bool = false,
        namesVersion: Bool = true
    ) -> Record {
        count += 1
        var row = record
        row.id = .string(id)
        row["version"] = .string("\(count)")
        row["updatedAt"] = .date(Timestamp(milliseconds: 1_700_000_000_000 + Int64(count)))
        row["createdAt"] = .date(Timestamp(milliseconds: 1_700_000_000_000))
        row["deleted"] = .bool(isDeleted)
        let list = row["list"]?.stringValue
        let write = ChoosingServer.Write(
            device: device,
            table: table.name,
            old: rows[table.name]?[id],
            new: row,
            namesVersion: namesVersion,
            isForGood: deletesForGood,
            namesUnknownList: list.map { rows["lists"]?[$0] == nil } ?? false
        )
        willWrite(write)
        if let list = row["origin"]?.stringValue, table.name == "lists" { lists[id] = list }
        rows[table.name, default: [:]][id] = isDeleted && deletesForGood ? nil : row
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
