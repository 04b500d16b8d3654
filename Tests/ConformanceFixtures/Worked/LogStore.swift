import Foundation
import QueryEvaluation
package import SyncContract

// The store that the article "A store on plain files" builds step by step, word for word.

/// A store in one file that only grows: what is in memory is where in the file each row lies.
package actor LogStore: SyncContextDataSource {
    package nonisolated let schema: StoreSchema
    package nonisolated let capabilities: StoreCapabilities = [.durable]
    private nonisolated let broadcaster = ChangeBroadcaster()
    private var log: RowLog?

    /// Makes a store, or opens the one that is there.
    package init(_ schema: StoreSchema, at path: String, creating: Bool) throws {
        try schema.check()
        self.schema = schema
        let log = try RowLog(path, creating: creating)
        try log.declare(schema)
        self.log = log
    }

    package func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        var reader = StoreReader(LogTransaction(try openLog(), schema))
        return try body(&reader)
    }

    package func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let log = try openLog()
        let backend = LogTransaction(log, schema)
        var transaction = StoreTransaction(backend)
        let value = try body(&transaction)
        try log.commit(backend.changes)
        broadcaster.send(StoreChange(tables: Set(backend.changes.keys)))
        return value
    }

    package nonisolated func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }

    package func close() {
        log = nil
        broadcaster.finish()
    }

    private func openLog() throws -> RowLog {
        guard let log else { throw StoreError(.closed, "The store was closed; open it again.") }
        return log
    }
}

/// What one transaction sees: the file, and over it what the transaction has written.
final class LogTransaction: StoreWriteBackend {
    /// Rows by the form of their ids in which the table finds them; nil for a row that was deleted.
    private(set) var changes: [String: [RecordID: Record?]] = [:]
    private let log: RowLog
    private let schema: StoreSchema

    init(_ log: RowLog, _ schema: StoreSchema) {
        self.log = log
        self.schema = schema
    }

    func definition(of table: String) throws -> TableDefinition {
        guard let table = schema.table(table) else { throw StoreError.tableNotFound(table) }
        return table
    }

    func record(_ id: RecordID, in table: String) throws -> Record? {
        let table = try definition(of: table)
        return try self.row(table.key(id), of: table)
    }

    private func row(_ key: RecordID, of table: TableDefinition) throws -> Record? {
        if let changed = changes[table.name]?[key] { return changed }
        return try log.row(key, of: table.name).map(table.filling)
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        let table = try definition(of: query.table)
        try query.validate(for: table)
        // One row at a time is in memory, and those that satisfy the predicate, which are to be ordered.
        var found: [Record] = []
        try forEachRow(of: table, query.predicate) { found.append($0) }
        var rest = query
        rest.predicate = nil
        for row in try QueryEvaluator(table).evaluate(rest, over: found) { try body(row) }
    }

    func count(_ query: Query) throws -> Int {
        let table = try definition(of: query.table)
        try query.validate(for: table)
        var count = 0
        try forEachRow(of: table, query.predicate) { _ in count += 1 }
        return count
    }

    private func forEachRow(
        of table: TableDefinition,
        _ predicate: QueryPredicate?,
        _ body: (Record) -> Void
    ) throws {
        let evaluator = QueryEvaluator(table)
        let changed = changes[table.name] ?? [:]
        for key in log.keys(of: table.name).union(changed.keys) {
            guard let row = try self.row(key, of: table), try evaluator.matches(row, predicate) else { continue }
            body(row)
        }
    }

    func upsert(_ records: [Record], into name: String) throws {
        let table = try definition(of: name)
        // All that can throw comes before the first change.
        let accepted = try records.map { (key: try table.key($0.id), record: try table.accepting($0)) }
        var merged: [RecordID: Record] = [:]
        for (key, record) in accepted {
            var row = try merged[key] ?? self.row(key, of: table) ?? table.filling(record)
            row.id = record.id
            row.merge(record)
            merged[key] = row
        }
        for (key, row) in merged { changes[name, default: [:]][key] = .some(row) }
    }

    func delete(_ ids: [RecordID], from name: String) throws -> Int {
        let table = try definition(of: name)
        let keys = try Set(ids.map(table.key)).filter { try row($0, of: table) != nil }
        for key in keys { changes[name, default: [:]].updateValue(nil, forKey: key) }
        return keys.count
    }

    func delete(_ query: Query) throws -> Int {
        var ids: [RecordID] = []
        try forEach(query) { ids.append($0.id) }
        return try delete(ids, from: query.table)
    }
}

extension TableDefinition {
    /// The form of an id under which the table finds its row.
    fileprivate func key(_ id: RecordID) throws -> RecordID {
        guard (id.int64Value != nil) == (idKind == .int64) else {
            throw StoreError(.invalidRecord, "Table '\(name)' has ids of another kind; use that kind.")
        }
        return id.folded(for: idComparison)
    }

    /// A record with its values as the columns keep them, without undeclared keys.
    fileprivate func accepting(_ record: Record) throws -> Record {
        var accepted = Record(id: record.id)
        for (column, value) in record.fields {
            let fitting = type(of: column).map { $0.accepting(value) } ?? value
            guard let fitting, fitting.doubleValue?.isNaN != true else {
                throw StoreError(.invalidRecord, "A value does not fit column '\(column)' of table '\(name)'.")
            }
            if type(of: column) != nil { accepted[column] = fitting }
        }
        return accepted
    }

    /// A row with every declared column, and nothing else.
    fileprivate func filling(_ row: Record) -> Record {
        var filled = Record(id: row.id)
        for column in allColumns { filled[column.name] = row[column.name] ?? .null }
        return filled
    }
}
