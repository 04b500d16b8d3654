import ReferenceStore
package import StoreConformance
package import SyncContract
import Synchronization

/// A store whose transactions disturb each other in one way that databases know by name.
///
/// It shows others what they must not see by serving single calls of a transaction from another state than the rest: so a
/// fault does not wait for two threads to meet.
package final class AnomalousStore: SyncContextDataSource {
    /// What goes wrong.
    package enum Anomaly: String, Sendable, CaseIterable {
        case lostUpdate = "overwrites what was committed since a transaction began"
        case writeSkew = "looks at what a transaction writes and not at what it has read"
        case lostOwnWrite = "reads the rows as they were before the transaction"
        case dirtyRead = "shows what was rolled back"
        case intermediateRead = "shows the first of two writes of one transaction"
        case nonRepeatableRead = "reads each row anew"
        case halfCommit = "shows some rows of a transaction later than others"
        case staleRead = "reads from a copy that is behind"

        /// The rule that must name it.
        package var rule: String {
            switch self {
            case .lostUpdate, .writeSkew, .lostOwnWrite: "concurrency.history-of-writers"
            case .dirtyRead, .intermediateRead, .nonRepeatableRead, .halfCommit: "concurrency.history-of-reads"
            case .staleRead: "concurrency.history-in-time"
            }
        }
    }

    private typealias Tables = [String: MemoryTable]

    private struct State {
        var tables: Tables
        /// The state before the last commit.
        var before: Tables
        /// What a transaction has made that threw, until the next commit.
        var rolledBack: Tables?
        /// What stood in rows for a moment, in the middle of the last transaction.
        var middle: Tables?
        var reads = 0
    }

    package let schema: StoreSchema
    package let capabilities: StoreCapabilities = []
    private let anomaly: Anomaly
    private let broadcaster = ChangeBroadcaster()
    private let state: Mutex<State>
    private let writing = Mutex(())

    package init(_ schema: StoreSchema, _ anomaly: Anomaly) {
        self.schema = schema
        self.anomaly = anomaly
        let tables = Dictionary(uniqueKeysWithValues: schema.allTables.map { ($0.name, MemoryTable($0)) })
        state = Mutex(State(tables: tables, before: tables))
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let (now, other) = state.withLock { state in
            state.reads += 1
            let turn = state.reads % 3 == 0
            let other: Tables? =
                switch anomaly {
                case .dirtyRead: state.rolledBack
                case .intermediateRead: state.middle
                case .nonRepeatableRead, .halfCommit, .staleRead: turn ? state.before : nil
                case .lostUpdate, .writeSkew, .lostOwnWrite: nil
                }
            return (state.tables, other)
        }
        let backend = AnomalousBackend(now)
        if let other {
            let lookingBack = AnomalousBackend(other)
            switch anomaly {
            case .nonRepeatableRead: backend.others = { $0 > 1 ? lookingBack : nil }
            case .halfCommit: backend.rowsOfOthers = lookingBack
            default: backend.others = { _ in lookingBack }
            }
        }
        var reader = StoreReader(backend)
        return try body(&reader)
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        guard anomaly == .lostUpdate || anomaly == .writeSkew else {
            // One after the other: what is shown falsely is to be all that is wrong.
            let (value, backend) = try writing.withLock { _ in
                let before = state.withLock { $0.tables }
                let made = try run(body, on: before)
                _ = commit(made.1, since: before)
                return made
            }
            broadcaster.send(StoreChange(tables: backend.inner.touched))
            return value
        }
        while true {
            let before = state.withLock { $0.tables }
            let (value, backend) = try run(body, on: before)
            // Others get their turn between the closure and the commit.
            for _ in 0..<10 { await Task.yield() }
            guard commit(backend, since: before) else { continue }
            broadcaster.send(StoreChange(tables: backend.inner.touched))
            return value
        }
    }

    private func run<Value: Sendable>(
        _ body: @Sendable (inout StoreTransaction) throws -> Value,
        on before: Tables
    ) throws -> (Value, AnomalousBackend) {
        let backend = AnomalousBackend(before)
        if anomaly == .lostOwnWrite {
            let old = AnomalousBackend(before)
            backend.others = { _ in old }
        }
        var transaction = StoreTransaction(backend)
        do {
            return (try body(&transaction), backend)
        } catch {
            if anomaly == .dirtyRead { state.withLock { $0.rolledBack = backend.inner.tables } }
            throw error
        }
    }

    /// Keeps what was written. A transaction whose rows somebody else has written meanwhile is to begin anew.
    private func commit(_ backend: AnomalousBackend, since before: Tables) -> Bool {
        state.withLock { state in
            let written = backend.written
            if anomaly == .writeSkew {
                let isAlone = written.allSatisfy { table, id in
                    state.tables[table]?.rows[id] == before[table]?.rows[id]
                }
                guard isAlone else { return false }
            }
            (state.before, state.rolledBack, state.middle) = (state.tables, nil, backend.middle)
            for (table, id) in written { state.tables[table]?[id] = backend.inner.tables[table]?.rows[id] }
            return true
        }
    }

    package func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }
}

/// A transaction that may answer from other states than its own.
private final class AnomalousBackend: StoreWriteBackend {
    let inner: MemoryTransaction
    /// Who answers the call with this number instead; nil for nobody.
    var others: (Int) -> AnomalousBackend? = { _ in nil }
    /// Who has the rows with odd numbers in their names.
    var rowsOfOthers: AnomalousBackend?
    private(set) var written: [(table: String, id: RecordID)] = []
    /// The rows before a row was written for the second time.
    private(set) var middle: [String: MemoryTable]?
    private var calls = 0

    init(_ tables: [String: MemoryTable]) { inner = MemoryTransaction(tables, []) }

    private func next() -> AnomalousBackend {
        calls += 1
        return others(calls) ?? self
    }

    private func isOthers(_ id: RecordID) -> Bool { "13579".contains(id.stringValue?.last ?? "-") }

    func definition(of table: String) throws -> TableDefinition { try inner.definition(of: table) }

    func record(_ id: RecordID, in table: String) throws -> Record? {
        if let rowsOfOthers, isOthers(id) { return try rowsOfOthers.inner.record(id, in: table) }
        return try next().inner.record(id, in: table)
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        guard let rowsOfOthers else { return try next().inner.forEach(query, body) }
        var rows: [Record] = []
        try inner.forEach(query) { if !isOthers($0.id) { rows.append($0) } }
        try rowsOfOthers.inner.forEach(query) { if isOthers($0.id) { rows.append($0) } }
        for row in rows { try body(row) }
    }

    func count(_ query: Query) throws -> Int { try next().inner.count(query) }

    func upsert(_ records: [Record], into table: String) throws {
        if middle == nil, records.contains(where: { record in written.contains { $0 == (table, record.id) } }) {
            middle = inner.tables
        }
        try inner.upsert(records, into: table)
        written += records.map { (table, $0.id) }
    }

    func delete(_ ids: [RecordID], from table: String) throws -> Int {
        written += ids.map { (table, $0) }
        return try inner.delete(ids, from: table)
    }

    func delete(_ query: Query) throws -> Int {
        var ids: [RecordID] = []
        try inner.forEach(query) { ids.append($0.id) }
        return try delete(ids, from: query.table)
    }
}

/// How the kit gets at an ``AnomalousStore``.
package struct AnomalousHarness: StoreHarness {
    package var name: String { anomaly.rawValue }
    package let anomaly: AnomalousStore.Anomaly

    package init(_ anomaly: AnomalousStore.Anomaly) { self.anomaly = anomaly }

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> AnomalousStore {
        AnomalousStore(schema, anomaly)
    }
}
