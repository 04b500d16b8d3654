package import RemoteContract
package import SyncContract

/// What the engine learns of files, written into the table of whoever carries them, in the transaction in which it learns it.
package enum AttachmentMarks {
    package static let table = "AttachmentFiles"
    package static let isHere = "isHere"
    /// Whether the server has the file, as far as is known.
    package static let isOnServer = "isOnServer"
    /// Whether the server has taken a row that named the file, and that has left this device before the file was sent, or does
    /// not name it here any more.
    package static let isDue = "isDue"

    /// Doubts that the server has the files of a row that others have deleted, and that is to be there again: their files went
    /// with it.
    static func doubt(
        filesOf row: Record?,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let ids = files(of: row, in: naming(table)).map { FieldValue.string($0.text) }
        guard !ids.isEmpty else { return }
        try doubt(Column("id").isAny(of: ids), &transaction)
    }

    /// Doubts that the server has the files that a row owns which others have deleted or given other ones: theirs went with it, and
    /// another row may name them.
    static func doubt(
        filesOf row: Record,
        ownedIn table: TableDefinition,
        but written: Record?,
        _ transaction: inout StoreTransaction
    ) throws {
        let owning = naming(table).filter { $0.attachment == .owns }
        let ids = files(of: row, in: owning).subtracting(files(of: written, in: owning))
        guard !ids.isEmpty else { return }
        try doubt(Column("id").isAny(of: ids.map { .string($0.text) }), &transaction)
    }

    /// Doubts that the server has any file: it was set up anew.
    static func doubtAll(_ transaction: inout StoreTransaction) throws { try doubt(nil, &transaction) }

    private static func doubt(_ condition: QueryPredicate?, _ transaction: inout StoreTransaction) throws {
        guard try transaction.declares(table) else { return }
        var files = Query(table).filtered(by: Column(isHere) == true && Column(isOnServer) == true)
        if let condition { files = files.filtered(by: condition) }
        try mark(try transaction.records(files.selecting([])).map(\.id), isOnServer, false, &transaction)
    }

    /// Marks the files that are still to be sent although their rows leave this device: those of which the server has a row.
    ///
    /// - Parameters:
    ///   - table: The table of the rows, before they leave.
    ///   - givingUp: Whether changes that wait are given up: then what the server has of their rows counts.
    ///   - schema: The schema of the store.
    ///   - transaction: The one in which the rows leave.
    /// - Throws: What the store throws.
    static func keepDue(
        in table: TableDefinition,
        givingUp: Bool = false,
        _ schema: StoreSchema,
        _ transaction: inout StoreTransaction
    ) throws {
        guard !naming(table).isEmpty, !table.isLocalOnly, try transaction.declares(Self.table) else { return }
        let unsent = Query(Self.table)
            .filtered(by: Column(isHere) == true && Column(isOnServer) == false && Column(isDue) != true)
        let ids = Set(
            try transaction.records(unsent.selecting([])).compactMap { AttachmentID($0.id.stringValue ?? "") }
        )
        guard !ids.isEmpty else { return }
        var due: Set<AttachmentID> = []
        for column in naming(table) {
            let rows = Query(table.name).filtered(by: Column(column.name).isAny(of: ids.flatMap(\.spellings)))
            var files: [String: AttachmentID] = [:]
            try transaction.forEach(rows.selecting([column.name])) { row in
                let key = OperationCoding.itemKey(row.id.stringValue ?? "", table)
                files[key] = row[column.name].flatMap(AttachmentID.init(fieldValue:))
            }
            let waiting = try OperationQueue.waitingItemKeys(among: Array(files.keys), in: table, &transaction)
            due.formUnion(files.filter { !waiting.contains($0.key) }.values)
        }
        if givingUp {
            for operation in try OperationQueue.all(of: table, &transaction, schema) {
                guard let base = operation.baseItem, !base.isDeleted else { continue }
                due.formUnion(files(of: base, in: naming(table)).intersection(ids))
            }
        }
        try mark(due.map { .string($0.text) }, isDue, true, &transaction)
    }

    /// The files that are here and not on the server, as far as is known; none where the store has none.
    static func unsent(_ transaction: inout some StoreReading & ~Copyable) throws -> Set<AttachmentID> {
        guard try transaction.declares(table) else { return [] }
        let unsent = Query(table).filtered(by: Column(isHere) == true && Column(isOnServer) == false)
        return Set(
            try transaction.records(unsent.selecting([])).compactMap { AttachmentID($0.id.stringValue ?? "") }
        )
    }

    /// Marks files that are still to be sent although no row here names them any more.
    static func markDue(_ ids: Set<AttachmentID>, _ transaction: inout StoreTransaction) throws {
        guard !ids.isEmpty, try transaction.declares(table) else { return }
        try mark(ids.map { .string($0.text) }, isDue, true, &transaction)
    }

    /// The files that rows name which are kept beside changes: rows that were deleted, the server's rows of those that were
    /// changed, and items that were never sent. Until the change ends they may come back, with what they have in local columns.
    package static func filesBesideChanges(
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<AttachmentID> {
        var kept: Set<AttachmentID> = []
        for table in schema.syncedTables {
            let columns = table.columns.filter { $0.attachment != nil }
            guard !columns.isEmpty else { continue }
            var rows = try CancelledInserts.rows(of: table, &transaction)
            for operation in try OperationQueue.all(of: table, &transaction, schema) {
                rows += [operation.deletedItem, operation.baseItem, operation.serverItem].compactMap { $0 }
            }
            for row in rows { kept.formUnion(files(of: row, in: columns)) }
        }
        for change in try DiscardedChanges.all(schema, &transaction) {
            guard let table = schema.table(change.table) else { continue }
            kept.formUnion(files(of: change.item, in: table.columns.filter { $0.attachment != nil }))
        }
        return kept
    }

    /// The columns that name files to the server as well.
    private static func naming(_ table: TableDefinition) -> [ColumnDefinition] {
        table.columns.filter { $0.attachment != nil && !$0.isLocal }
    }

    private static func files(of row: Record?, in columns: [ColumnDefinition]) -> Set<AttachmentID> {
        Set(columns.compactMap { row?[$0.name].flatMap(AttachmentID.init(fieldValue:)) })
    }

    private static func mark(
        _ ids: [RecordID],
        _ column: String,
        _ value: Bool,
        _ transaction: inout StoreTransaction
    ) throws {
        guard !ids.isEmpty else { return }
        try transaction.upsert(ids.map { Record(id: $0, [column: .bool(value)]) }, into: table)
    }
}
