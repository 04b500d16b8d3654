internal import SyncContract
internal import SyncMachines

/// Has whatever refers to some rows refer to others: the rows of a table, and what the queue keeps of them.
struct ReferenceRedirection {
    private let table: TableDefinition
    private let columns: [String]
    private let ids: [String: String]

    /// With the new ids by those that they stand for.
    init(of table: TableDefinition, in columns: [String], _ ids: [String: String]) {
        self.table = table
        self.columns = columns
        self.ids = ids
    }

    /// Nil for a table that does not refer to the other one.
    init?(of table: TableDefinition, to other: TableDefinition, from old: String, to new: String) {
        let columns = table.columns.filter { $0.references == other.name }.map(\.name)
        guard !columns.isEmpty else { return nil }
        self.init(of: table, in: columns, [old: new])
    }

    /// The ids in a column, in all places where they can be redirected.
    static func ids(
        in column: String,
        of table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout StoreTransaction
    ) throws -> Set<String> {
        var ids: Set<String> = []
        func add(_ row: Record?) {
            if let id = row?[column]?.stringValue, !id.isEmpty { ids.insert(id) }
        }
        try transaction.forEach(Query(table.name).selecting([column])) { add($0) }
        for operation in try OperationQueue.all(of: table, &transaction, schema) {
            let change = operation.change
            for row in [change.base, change.shown, change.deletedRow] + change.sent.map(\.content) { add(row) }
        }
        for error in try OperationErrorCoding.all(&transaction, schema) where error.table == table.name {
            for row in [error.item, error.serverItem] { add(row) }
        }
        for row in try CancelledInserts.rows(of: table, &transaction) { add(row) }
        try ItemMemoryStorage.changeSent(in: table, &transaction) { sent in
            for request in sent { add(request.content) }
            return sent
        }
        return ids
    }

    func perform(_ schema: StoreSchema, _ transaction: inout StoreTransaction) throws {
        for column in columns {
            let old = Array(ids.keys)
            for start in stride(from: 0, to: old.count, by: 500) {
                let some = old[start..<min(start + 500, old.count)]
                let query = Query(table.name).filtered(by: Column(column).isAny(of: some.map(FieldValue.string)))
                let rows = try transaction.records(query.selecting([column]))
                try transaction.upsert(rows.map(row), into: table.name)
            }
        }
        guard !table.isLocalOnly else { return }
        for operation in try OperationQueue.all(of: table, &transaction, schema) {
            let change = redirected(operation.change)
            guard change != operation.change else { continue }
            var redirected = operation
            redirected.change = change
            try OperationQueue.save(redirected, table, &transaction)
        }
        for error in try OperationErrorCoding.all(&transaction, schema) where error.table == table.name {
            guard [error.item, error.serverItem].contains(where: { $0.map { row($0) != $0 } ?? false }) else {
                continue
            }
            let record = try OperationErrorCoding.record(error.mapped { record, _ in row(record) })
            try transaction.upsert([record], into: SystemTables.operationErrors.name)
        }
        try CancelledInserts.change(in: table, &transaction, row)
        try ItemMemoryStorage.changeSent(in: table, &transaction) { $0.map(request) }
    }

    private func redirected(_ change: QueuedChange<Record>) -> QueuedChange<Record> {
        var change = change
        change.base = change.base.map(row)
        change.shown = change.shown.map(row)
        change.deletedRow = change.deletedRow.map(row)
        change.sent = change.sent.map(request)
        return change
    }

    private func request(_ request: SentRequest<Record>) -> SentRequest<Record> {
        SentRequest(request.kind, content: request.content.map(row), version: request.version)
    }

    /// The row, with the new ids where it refers to the old ones.
    func row(_ record: Record) -> Record {
        var record = record
        for column in columns {
            guard let new = record[column]?.stringValue.flatMap({ ids[$0] }) else { continue }
            record[column] = .string(new)
        }
        return record
    }
}
