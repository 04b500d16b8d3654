import Foundation
import QueryEvaluation
import SyncContract

/// A copy of all rows that one transaction works on.
final class FileTransaction: StoreWriteBackend {
    var tables: FileTables
    var touched: Set<String> = []
    var hasDeleted = false
    var hasInserted = false
    var overlooksUndeclaredValues = false
    var wrote: ((FileTables) throws -> Void)?
    /// Keeps the rows of a query that is ordered, as long as what it gives back lives.
    var sorts: (([Record]) throws -> FileHandle?)?
    private let schema: StoreSchema

    init(_ tables: FileTables, _ schema: StoreSchema) {
        self.tables = tables
        self.schema = schema
    }

    func definition(of table: String) throws -> TableDefinition { try definition(table) }

    private func definition(_ name: String) throws -> TableDefinition {
        guard let table = schema.table(name) else { throw StoreError.tableNotFound(name) }
        return table
    }

    private func key(_ id: RecordID, _ table: TableDefinition) throws -> RecordID {
        guard (id.int64Value != nil) == (table.idKind == .int64) else {
            throw StoreError(.invalidRecord, "table '\(table.name)' has ids of another kind")
        }
        return id.folded(for: table.idComparison)
    }

    func record(_ id: RecordID, in table: String) throws -> Record? {
        let table = try definition(table)
        return tables.tables[table.name]?[try key(id, table)]
    }

    func stored(_ record: Record, ignoring columns: [String], in table: String) throws -> StoredRow {
        let declared = try definition(table).allColumns.map(\.name)
        let row = try self.record(record.id, in: table)
        return StoredRow(
            overlooksUndeclaredValues ? row?.selecting(declared) : row,
            expecting: record,
            ignoring: columns
        )
    }

    func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        let table = try definition(query.table)
        let rows = tables.tables[table.name].map { Array($0.values) } ?? []
        let file = query.order.isEmpty ? nil : try sorts?(rows)
        try withExtendedLifetime(file) {
            for row in try QueryEvaluator(table).evaluate(query, over: rows) { try body(row) }
        }
    }

    func count(_ query: Query) throws -> Int {
        let table = try definition(query.table)
        try query.validate(for: table)
        let evaluator = QueryEvaluator(table)
        return try (tables.tables[query.table] ?? [:]).values.count { try evaluator.matches($0, query.predicate) }
    }

    func upsert(_ records: [Record], into name: String) throws {
        let table = try definition(name)
        var rows = tables.tables[name] ?? [:]
        for record in records {
            let key = try key(record.id, table)
            var row = rows[key] ?? Record(id: record.id)
            row.id = record.id
            for column in table.allColumns where row[column.name] == nil { row[column.name] = .null }
            for (column, value) in record.fields {
                guard let type = table.type(of: column) else {
                    if value.doubleValue?.isNaN == true { throw StoreError(.invalidRecord, "a value is not a number") }
                    row[column] = value
                    continue
                }
                guard let fitting = type.accepting(value) else {
                    throw StoreError(.invalidRecord, "a value does not fit column '\(column)' of '\(name)'")
                }
                row[column] = fitting
            }
            rows[key] = row
        }
        tables.tables[name] = rows
        if !records.isEmpty { touched.insert(name) }
        try wrote?(tables)
    }

    func insert(_ record: Record, into table: String) throws -> Bool {
        guard try self.record(record.id, in: table) == nil else { return false }
        hasInserted = true
        try upsert([record], into: table)
        return true
    }

    func delete(_ ids: [RecordID], from name: String) throws -> Int {
        let table = try definition(name)
        let keys = try ids.map { try key($0, table) }
        let count = keys.count { tables.tables[name]?.removeValue(forKey: $0) != nil }
        if count > 0 { touched.insert(name) }
        hasDeleted = hasDeleted || count > 0
        try wrote?(tables)
        return count
    }

    func delete(_ query: Query) throws -> Int {
        var ids: [RecordID] = []
        try forEach(query) { ids.append($0.id) }
        return try delete(ids, from: query.table)
    }
}
