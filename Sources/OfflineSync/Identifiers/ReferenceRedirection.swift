internal import SyncContract
internal import SyncMachines

/// Has whatever refers to a row refer to another one: the rows of a table, and what the queue keeps of them.
struct ReferenceRedirection {
    private let table: TableDefinition
    private let columns: [String]
    private let old: String
    private let new: String

    /// Nil for a table that does not refer to the other one.
    init?(of table: TableDefinition, to other: TableDefinition, from old: String, to new: String) {
        columns = table.columns.filter { $0.references == other.name }.map(\.name)
        guard !columns.isEmpty else { return nil }
        self.table = table
        self.old = old
        self.new = new
    }

    func perform(_ schema: StoreSchema, _ transaction: inout StoreTransaction) throws {
        for column in columns {
            let query = Query(table.name).filtered(by: Column(column) == .string(old)).selecting([])
            let rows = try transaction.records(query).map { Record(id: $0.id, [column: .string(new)]) }
            try transaction.upsert(rows, into: table.name)
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

    /// The row, with the new id where it refers to the old one.
    func row(_ record: Record) -> Record {
        var record = record
        for column in columns where record[column]?.stringValue == old { record[column] = .string(new) }
        return record
    }
}
