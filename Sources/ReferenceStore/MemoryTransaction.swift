import QueryEvaluation
package import SyncContract

/// One table in memory: rows by the form of their id under which the table finds them.
package struct MemoryTable: Sendable {
    package let definition: TableDefinition
    package var rows: [RecordID: Record] = [:]

    package init(_ definition: TableDefinition) { self.definition = definition }

    package func key(_ id: RecordID) throws -> RecordID {
        switch (definition.idKind, id) {
        case (.string, .string), (.int64, .int64): return id.folded(for: definition.idComparison)
        default:
            throw StoreError(.invalidRecord, "table '\(definition.name)' has ids of another kind; use that kind")
        }
    }

    /// The record with a null for every declared column that it lacks, as a table has them.
    package func filled(_ record: Record) -> Record {
        var record = record
        for column in definition.allColumns where record[column.name] == nil { record[column.name] = .null }
        return record
    }
}

/// The copy of all tables that one transaction reads and writes.
package final class MemoryTransaction: StoreWriteBackend {
    package private(set) var tables: [String: MemoryTable]
    package private(set) var touched: Set<String> = []
    private let keepsUnknownColumns: Bool

    package init(_ tables: [String: MemoryTable], keepsUnknownColumns: Bool) {
        self.tables = tables
        self.keepsUnknownColumns = keepsUnknownColumns
    }

    package func definition(of table: String) throws -> TableDefinition { try find(table).definition }

    package func record(_ id: RecordID, in table: String) throws -> Record? {
        let table = try find(table)
        return table.rows[try table.key(id)]
    }

    package func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        for record in try evaluate(query) { try body(record) }
    }

    package func count(_ query: Query) throws -> Int {
        try query.validate(for: find(query.table).definition)
        var all = Query(query.table)
        all.predicate = query.predicate
        return try evaluate(all).count
    }

    package func upsert(_ records: [Record], into name: String) throws {
        var table = try find(name)
        for record in records {
            let key = try table.key(record.id)
            var row = table.rows[key] ?? table.filled(Record(id: record.id))
            row.id = record.id
            row.merge(try accepted(record, table.definition))
            table.rows[key] = row
            touched.insert(name)
        }
        tables[name] = table
    }

    package func delete(_ ids: [RecordID], from name: String) throws -> Int {
        var table = try find(name)
        var deleted = 0
        for id in ids where table.rows.removeValue(forKey: try table.key(id)) != nil { deleted += 1 }
        tables[name] = table
        if deleted > 0 { touched.insert(name) }
        return deleted
    }

    package func delete(_ query: Query) throws -> Int {
        try delete(evaluate(query).map(\.id), from: query.table)
    }

    private func evaluate(_ query: Query) throws -> [Record] {
        let table = try find(query.table)
        return try QueryEvaluator(table.definition).evaluate(query, over: table.rows.values)
    }

    private func accepted(_ record: Record, _ table: TableDefinition) throws -> Record {
        var result = Record(id: record.id)
        for (name, value) in record.fields {
            guard let type = table.type(of: name) else {
                guard value.doubleValue?.isNaN != true else {
                    throw StoreError(
                        .invalidRecord,
                        "a value of the record is not a number (NaN), which no store takes"
                    )
                }
                if keepsUnknownColumns { result[name] = value }
                continue
            }
            guard let accepted = type.accepting(value) else {
                throw StoreError(
                    .invalidRecord,
                    "column '\(name)' of table '\(table.name)' is declared as \(type.rawValue); give a value of that type"
                )
            }
            result[name] = accepted
        }
        return result
    }

    private func find(_ name: String) throws -> MemoryTable {
        guard let table = tables[name] else { throw StoreError.tableNotFound(name) }
        return table
    }
}
