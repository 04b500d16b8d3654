import RemoteContract
import Synchronization
import SyncContract

/// A server in memory that answers when a script says so, and remembers in which order it was asked and wrote.
final class GroupServer: SyncRemote {
    /// Runs before a row is written. What it throws is the answer.
    typealias Script = @Sendable (String) async throws -> Void

    fileprivate struct State {
        var rows: [String: Record] = [:]
        var version = 0
        var begun: [String] = []
        var written: [String] = []
        var underWay = 0
        var mostUnderWay = 0
        var script: Script = { _ in }
    }

    private let state = Mutex(State())

    init(_ script: @escaping Script = { _ in }) { state.withLock { $0.script = script } }

    var script: Script {
        get { state.withLock { $0.script } }
        set { state.withLock { $0.script = newValue } }
    }

    /// The ids of the rows that it was asked to write, in order.
    var begun: [String] { state.withLock { $0.begun } }

    /// The ids of the rows that it wrote, in order.
    var written: [String] { state.withLock { $0.written } }

    var mostUnderWay: Int { state.withLock { $0.mostUnderWay } }

    /// Text by id of the rows that are not deleted.
    var texts: [String: String] {
        state.withLock { $0.rows.filter { !$0.value.isDeleted }.mapValues { $0["text"]?.stringValue ?? "" } }
    }

    /// Somebody else writes a row.
    func change(_ id: String, _ text: String) {
        _ = state.withLock { $0.set(Record(id: .string(id), ["text": .string(text)])) }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        try await write(record, version: nil, mustExist: false)
    }

    func update(
        _ record: Record,
        in table: TableDefinition,
        version: String?,
        restoring: Bool
    ) async throws -> Record { try await write(record, version: version, mustExist: true) }

    func delete(_ id: String, from table: TableDefinition, version: String?) async throws -> RemoteDeletion {
        _ = try await write(Record(id: .string(id), ["deleted": true]), version: version, mustExist: true)
        return .confirmed
    }

    func record(_ id: String, in table: TableDefinition) async throws -> Record? {
        RequestCounter.countRequest()
        return state.withLock { $0.rows[id] }
    }

    func confirm(_ table: TableDefinition) async throws {}

    func page(
        _ query: Query,
        of table: TableDefinition,
        at position: PullPosition,
        pageSize: Int?
    ) async throws -> PullPage { throw RemoteError(.unreachable, "nothing is pulled here") }

    private func write(_ record: Record, version: String?, mustExist: Bool) async throws -> Record {
        let id = record.id.stringValue ?? ""
        RequestCounter.countRequest()
        let script = state.withLock { state in
            state.begun.append(id)
            state.underWay += 1
            state.mostUnderWay = max(state.mostUnderWay, state.underWay)
            return state.script
        }
        defer { state.withLock { $0.underWay -= 1 } }
        try await script(id)
        return try state.withLock { state in
            let stored = state.rows[id]
            guard mustExist ? stored?.version == version : stored == nil else {
                throw RemoteError(.conflict, "another version", status: 412, serverRecord: stored)
            }
            return state.set(record)
        }
    }
}

extension GroupServer.State {
    @discardableResult
    fileprivate mutating func set(_ record: Record) -> Record {
        version += 1
        var row = record
        row["version"] = .string("\(version)")
        if row["deleted"] == nil { row["deleted"] = false }
        let id = record.id.stringValue ?? ""
        rows[id] = row
        written.append(id)
        return row
    }
}
