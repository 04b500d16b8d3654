import QueryEvaluation
package import SyncContract

/// All tables, as one transaction reads and writes them.
package final class MemoryTransaction: StoreWriteBackend {
    package private(set) var tables: [String: MemoryTable]
    package private(set) var touched: Set<String> = []
    private let capabilities: StoreCapabilities

    /// The rows that were replaced, in the order of the changes; nil where there was none.
    private var replaced: [(table: String, key: RecordID, row: Record?)] = []

    package init(_ tables: [String: MemoryTable], _ capabilities: StoreCapabilities) {
        self.tables = tables
        self.capabilities = capabilities
    }

    /// Brings back every row that was replaced.
    package func rollBack() {
        for change in replaced.reversed() { tables[change.table]?[change.key] = change.row }
    }

    private func replace(_ key: RecordID, in table: String, with row: Record?) {
        replaced.append((table, key, tables[table]?.rows[key]))
        tables[table]?[key] = row
        touched.insert(table)
    }

    package var answersSyncStates: Bool { capabilities.contains(.syncStates) }

    package func definition(of table: String) throws -> TableDefinition { try find(table).definition }

    package func record(_ id: RecordID, in table: String) throws -> Record? {
        let table = try find(table)
        return table.rows[try table.definition.key(id)]
    }

    package func forEach(_ query: Query, _ body: (Record) throws -> Void) throws {
        for record in try evaluate(query) { try body(record) }
    }

    package func count(_ query: Query) throws -> Int {
        try query.validate(for: find(query.table).definition, answersSyncStates: answersSyncStates)
        var all = Query(query.table)
        all.predicate = query.predicate
        return try evaluate(all).count
    }

    package func upsert(_ records: [Record], into name: String) throws {
        let table = try definition(of: name)
        // All that can throw comes before the first change.
        let changes = try records.map { (key: try table.key($0.id), values: try accepted($0, table)) }
        for change in changes {
            var row = tables[name]?.rows[change.key] ?? table.emptyRow(change.values.id)
            row.id = change.values.id
            row.merge(change.values)
            replace(change.key, in: name, with: row)
        }
    }

    package func delete(_ ids: [RecordID], from name: String) throws -> Int {
        let table = try definition(of: name)
        var deleted = 0
        for key in try ids.map(table.key) where tables[name]?.rows[key] != nil {
            replace(key, in: name, with: nil)
            deleted += 1
        }
        return deleted
    }

    package func delete(_ query: Query) throws -> Int {
        try delete(evaluate(query).map(\.id), from: query.table)
    }

    private func evaluate(_ query: Query) throws -> [Record] {
        let table = try find(query.table)
        let evaluator = QueryEvaluator(table.definition)
        guard query.asksForSyncStates, answersSyncStates else {
            return try evaluator.evaluate(query, over: table.candidates(for: query))
        }
        let states = try syncStates(of: table.definition)
        let rows = table.rows.map { key, row in
            var row = row
            row.syncState = states[key] ?? .synced
            return row
        }
        return try evaluator.evaluate(query, over: rows, answersSyncStates: true)
    }

    private func accepted(_ record: Record, _ table: TableDefinition) throws -> Record {
        var result = Record(id: record.id)
        for (name, value) in record.fields {
            guard let type = table.type(of: name) else {
                guard value.doubleValue?.isNaN != true else {
                    throw StoreError(
                        .invalidRecord,
                        "A value of the record is not a number (NaN), which no store takes."
                    )
                }
                if capabilities.contains(.unknownColumns) { result[name] = value }
                continue
            }
            guard let accepted = type.accepting(value) else {
                throw StoreError(
                    .invalidRecord,
                    "Column '\(name)' of table '\(table.name)' is declared as \(type.rawValue); give a value of that type."
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

extension TableDefinition {
    /// The form of an id under which the table finds its row.
    fileprivate func key(_ id: RecordID) throws -> RecordID {
        switch (idKind, id) {
        case (.string, .string), (.int64, .int64): return id.folded(for: idComparison)
        default: throw StoreError(.invalidRecord, "Table '\(name)' has ids of another kind; use that kind.")
        }
    }

    /// A row with a null for every declared column, as a table has them.
    fileprivate func emptyRow(_ id: RecordID) -> Record {
        Record(id: id, Dictionary(uniqueKeysWithValues: allColumns.map { ($0.name, FieldValue.null) }))
    }
}
