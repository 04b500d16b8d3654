import Dispatch
import QueryEvaluation
package import StoreConformance
package import SyncContract
import Synchronization

/// A correct store of another make: rows in place, on a serial queue, with a list of what to undo.
package final class QueueStore: SyncContextDataSource {
    package let schema: StoreSchema
    package let capabilities: StoreCapabilities = []
    private let queue = DispatchQueue(label: "QueueStore")
    private let broadcaster = ChangeBroadcaster()
    private nonisolated(unsafe) let rows: QueueRows

    package init(_ schema: StoreSchema) {
        self.schema = schema
        // Used on the queue only.
        unsafe rows = QueueRows(schema)
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await queued { [self] in
            var reader = StoreReader(unsafe rows)
            return try body(&reader)
        }
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await queued { [self] in
            var transaction = StoreTransaction(unsafe rows)
            unsafe rows.begin()
            do {
                let value = try body(&transaction)
                broadcaster.send(StoreChange(tables: unsafe rows.commit()))
                return value
            } catch {
                unsafe rows.rollBack()
                throw error
            }
        }
    }

    /// Does work on the queue, unless the task is cancelled before its turn has come.
    private func queued<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        let isCancelled = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(
                        with: Result {
                            if isCancelled.isSet { throw CancellationError() }
                            return try work()
                        }
                    )
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    package func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }
}

private final class Flag: Sendable {
    private let state = Mutex(false)

    var isSet: Bool { state.withLock { $0 } }

    func set() { state.withLock { $0 = true } }
}

/// Rows by their ids in the form that the table compares.
private final class QueueRows: StoreWriteBackend {
    private var tables: [String: (definition: TableDefinition, rows: [RecordID: Record])]
    private var undo: [(table: String, id: RecordID, row: Record?)] = []

    init(_ schema: StoreSchema) {
        tables = Dictionary(uniqueKeysWithValues: schema.allTables.map { ($0.name, ($0, [:])) })
    }

    func begin() { undo = [] }

    func commit() -> Set<String> { Set(undo.map(\.table)) }

    func rollBack() {
        for (name, id, row) in undo.reversed() {
            guard let definition = tables[name]?.definition else { continue }
            tables[name]?.rows[id.folded(for: definition.idComparison)] = row
        }
    }

    func definition(of table: String) throws -> TableDefinition { try definition(table) }

    private func definition(_ table: String) throws -> TableDefinition {
        guard let definition = tables[table]?.definition else { throw StoreError.tableNotFound(table) }
        return definition
    }

    private func check(_ id: RecordID, _ table: TableDefinition) throws {
        if (id.int64Value != nil) != (table.idKind == .int64) {
            throw StoreError(.invalidRecord, "table '\(table.name)' has ids of another kind")
        }
    }

    func record(_ id: RecordID, in table: String) throws -> Record? {
        let table = try definition(table)
        try check(id, table)
        return tables[table.name]?.rows[id.folded(for: table.idComparison)]
    }

    private func rows(of table: String) -> [Record] { tables[table].map { Array($0.rows.values) } ?? [] }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        let table = try definition(query.table)
        for row in try QueryEvaluator(table).evaluate(query, over: rows(of: table.name)) { try body(row) }
    }

    func count(_ query: Query) throws -> Int {
        let table = try definition(query.table)
        try query.validate(for: table)
        let evaluator = QueryEvaluator(table)
        return try rows(of: query.table).count { try evaluator.matches($0, query.predicate) }
    }

    func upsert(_ records: [Record], into name: String) throws {
        let table = try definition(name)
        // Everything is looked at before anything is written.
        let accepted = try records.map { record in
            try check(record.id, table)
            var accepted = Record(id: record.id)
            for (column, value) in record.fields {
                guard let type = table.type(of: column) else {
                    if value.doubleValue?.isNaN == true { throw StoreError(.invalidRecord, "a value is not a number") }
                    continue
                }
                guard let fitting = type.accepting(value) else {
                    throw StoreError(.invalidRecord, "a value does not fit column '\(column)' of '\(name)'")
                }
                accepted[column] = fitting
            }
            return accepted
        }
        for record in accepted {
            let key = record.id.folded(for: table.idComparison)
            let old = tables[name]?.rows[key]
            undo.append((name, record.id, old))
            var row = old ?? Record(id: record.id)
            if old == nil { for column in table.allColumns { row[column.name] = .null } }
            row.id = record.id
            row.merge(record)
            tables[name]?.rows[key] = row
        }
    }

    func delete(_ ids: [RecordID], from name: String) throws -> Int {
        let table = try definition(name)
        for id in ids { try check(id, table) }
        var count = 0
        for id in ids {
            guard let row = tables[name]?.rows.removeValue(forKey: id.folded(for: table.idComparison)) else { continue }
            undo.append((name, id, row))
            count += 1
        }
        return count
    }

    func delete(_ query: Query) throws -> Int {
        var ids: [RecordID] = []
        try forEach(query) { ids.append($0.id) }
        return try delete(ids, from: query.table)
    }
}

/// How the kit gets at ``QueueStore``.
package struct QueueStoreHarness: StoreHarness {
    package let name = "QueueStore"

    package init() {}

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> QueueStore {
        try schema.check()
        return QueueStore(schema)
    }
}
