internal import RecordJSON
public import SyncContract

/// Brings what the engine keeps of migrated tables from their old shape to the new one: the changes that wait, what they
/// are based on, what the server said about them, deletions that can be taken back, the journal, and under the name of
/// their table how far it was pulled, which rows are set aside or purged, and which ids of the server belong to which rows;
/// also the changes that were given up when the server had lost its history. Fresh rows that are still coming because of
/// that come from the beginning.
///
/// What was sent and may still arrive stays as it left. It is held against the server's rows under the names that the
/// columns have now, with the values that were sent and with those that the steps make of them: an answer that was lost
/// before the migration is recognised after it, whether or not the server was migrated as well.
///
/// A base, a row that was sent or one that the server has shown lacks the columns that are local. What a step fills is made
/// from such a row together with those of the stored one. Nothing is filled in tombstones.
///
/// A step that would orphan a change that waits is refused: dropping a table of which changes wait, or a column in which a
/// change that waits has set a value. Push first, with the tables of the version before. A value is waiting when the server's
/// row, on which the change is based, has another one; of an insert every value is, one in a column that is declared local
/// too, because the store does not remember which columns are.
///
/// A file that only dropped columns or tables name is still sent when the server has taken its row.
public struct OperationTranslation: QueueTranslation {
    /// A translation. It keeps nothing.
    public init() {}

    /// Refuses what would orphan changes that wait, and remembers what steps need of rows to translate the others.
    public func check(_ migration: SchemaMigration, _ reader: inout StoreReader) throws {
        var orphans = OrphanedChanges(migration)
        try orphans.find(&reader)
        try orphans.refuse()
        try StoredLocalValues.remember(migration, &reader)
        try DroppedFiles.remember(migration, &reader)
    }

    /// Translates everything, each row once.
    public func translate(_ migration: SchemaMigration, _ transaction: inout StoreTransaction) throws {
        let tables = Dictionary(migration.tables.map { ($0.old.name, $0) }) { first, _ in first }
        guard !tables.isEmpty else { return }
        try OperationRows(tables: tables).translate(&transaction)
        try ErrorRows(tables: tables).translate(&transaction)
        try SettingRows(tables: tables).translate(&transaction)
        for table in migration.tables {
            try UnnamedRows(table: table).remember(&transaction)
            try FilledColumns.remember(table, &transaction)
            try LocalColumns.translate(table, &transaction)
        }
        try DroppedFiles.markDue(migration, &transaction)
    }
}

extension QueueTranslation where Self == OperationTranslation {
    /// The one that stores of a sync engine are opened with.
    public static var operations: OperationTranslation { OperationTranslation() }
}

/// Rows of a system table that are translated, a bounded number at a time.
protocol TranslatedRows {
    /// The system table.
    var systemTable: TableDefinition { get }

    /// What of a row changes; nil when nothing does.
    func translated(_ row: Record) throws -> RowTranslation?
}

/// What becomes of a row of a system table.
enum RowTranslation {
    case changed(Record)
    case removed
}

extension TranslatedRows {
    func translate(_ transaction: inout StoreTransaction) throws {
        try systemTable.forEachPage(&transaction) { rows, transaction in
            var changed: [Record] = []
            var removed: [RecordID] = []
            for row in rows {
                switch try translated(row) {
                case .changed(let row)?: changed.append(row)
                case .removed?: removed.append(row.id)
                case nil: break
                }
            }
            try transaction.upsert(changed, into: systemTable.name)
            try transaction.delete(removed, from: systemTable.name)
        }
    }
}

extension TableDefinition {
    /// Lends all rows, some at a time, by their ids alone: with a condition a store might sort all that remain for each page.
    func forEachPage<Transaction: StoreReading & ~Copyable>(
        _ transaction: inout Transaction,
        _ body: ([Record], inout Transaction) throws -> Void
    ) throws {
        var last: RecordID?
        while true {
            var query = Query(name).ordered(by: "id").limited(to: 500)
            if let last { query = query.filtered(by: Column("id") > last.fieldValue) }
            let rows = try transaction.records(query)
            guard let end = rows.last?.id else { return }
            try body(rows, &transaction)
            last = end
        }
    }
}

extension TableMigration {
    /// A row that an operation knows; nothing is made of one without values, which only names what was deleted. What the stored
    /// row has in local columns completes it for the steps.
    func translated(_ row: Record, _ local: Record?, hasLocalColumns: Bool = false) throws -> Record {
        guard !row.names.isEmpty else { return row }
        return try self.row(row, completedBy: local, hasLocalColumns: hasLocalColumns)
    }

    /// A row in JSON, completed by what is remembered of its stored row if nothing else is given; nil when it did not fit the
    /// table before.
    func translated(_ node: JSONNode, _ local: Record? = nil, hasLocalColumns: Bool) throws -> String? {
        guard let row = readable(node) else { return nil }
        let local = local ?? row.id.stringValue.flatMap { remembered(of: $0) }
        return try RecordCoding.object(translated(row, local, hasLocalColumns: hasLocalColumns))
    }

    /// A row in JSON, as it was before; nil when it did not fit the table.
    func readable(_ node: JSONNode) -> Record? {
        do throws(RecordCodingError) {
            return try RecordCoding(old).record(node)
        } catch {
            return nil
        }
    }

    /// What is remembered of the local columns of an item's stored row; nil when nothing is.
    func remembered(of itemID: String) -> Record? { rememberedValues[OperationCoding.itemKey(itemID, old)] }
}
