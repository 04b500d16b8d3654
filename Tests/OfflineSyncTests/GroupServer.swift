import RemoteContract
import Synchronization
import SyncContract

/// A server in memory that answers when a script says so, and remembers in which order it was asked and wrote. Of tables whose
/// ids the server chooses it makes these: `s1`, `s2` and so on, counted over all writes.
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
        var references: [String] = []
    }

    private let state = Mutex(State())

    /// - Parameters:
    ///   - references: The columns with ids of rows that have to be there as long as this one is.
    ///   - script: What runs before a row is written.
    init(references: [String] = [], _ script: @escaping Script = { _ in }) {
        state.withLock { state in
            state.script = script
            state.references = references
        }
    }

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
    func change(_ id: String, _ text: String, _ further: [String: FieldValue] = [:]) {
        let row = Record(id: .string(id), further.merging(["text": .string(text)]) { $1 })
        _ = state.withLock { $0.set(row) }
    }

    func insert(_ record: Record, into table: TableDefinition) async throws -> Record {
        var record = record
        if table.assignsIDs { record.id = .string("s\(state.withLock { $0.version + 1 })") }
        return try await write(record, version: nil, mustExist: false)
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
            guard state.keepsReferences(record) else { throw RemoteError(.refused, "a foreign key", status: 422) }
            return state.set(record)
        }
    }
}

extension GroupServer.State {
    /// Whether all rows are there that rows refer to, when this one was written.
    fileprivate func keepsReferences(_ record: Record) -> Bool {
        func isThere(_ id: String) -> Bool { rows[id]?.isDeleted == false }
        guard !record.isDeleted else {
            let others = rows.values.filter { !$0.isDeleted && $0.id != record.id }
            return !others.contains { row in references.contains { row[$0] == record.id.fieldValue } }
        }
        return references.compactMap { record[$0]?.stringValue }.allSatisfy(isThere)
    }

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
