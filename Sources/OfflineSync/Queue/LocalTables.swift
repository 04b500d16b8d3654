internal import SyncContract
internal import SyncMachines

/// The tables that stay on the device, remembered beyond the version of the app that declares them so: nothing of their rows
/// was queued, and once such a table is to be synced, the server has none of them.
struct LocalTables {
    let context: SyncContext

    private var tables: [TableDefinition] { context.store.schema.tables }

    /// Whether a table is remembered to stay here.
    static func contain(_ table: String, _ reader: inout some StoreReading & ~Copyable) throws -> Bool {
        try ConfigurationTable.row(.localTable, table, "", &reader) != nil
    }

    /// Whether other tables stay here than at the last look.
    func haveChanged(_ reader: inout some StoreReading & ~Copyable) throws -> Bool {
        try !changed(&reader).isEmpty
    }

    /// Remembers which tables stay here now. Of one that does not any more, the rows wait as inserts from here on.
    func follow(_ transaction: inout StoreTransaction) throws {
        for table in try changed(&transaction) {
            if table.isLocalOnly {
                try ConfigurationTable.set(.localTable, table.name, "", [:], &transaction)
            } else {
                // What came while the table stayed here is asked for.
                try PullCursorStorage.removeAll(of: table.name, &transaction)
                try queueRows(of: table, &transaction)
                try transaction.delete(ConfigurationTable.query(.localTable, table.name, ""))
            }
        }
    }

    private func changed(_ reader: inout some StoreReading & ~Copyable) throws -> [TableDefinition] {
        let rows = try reader.records(ConfigurationTable.query(.localTable, anyOf: tables.map(\.name)))
        let remembered = Set(rows.compactMap { $0["table"]?.stringValue })
        return tables.filter { $0.isLocalOnly != remembered.contains($0.name) }
    }

    /// Those that the server has not had, as far as can be known: it has given them neither version nor stamp, and nothing else
    /// is remembered. What waited before is put right: an item that is here again is not deleted, and one that is not any more
    /// is.
    private func queueRows(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        let changes = SyncTable<Record>(context: context, definition: table).changes
        var group = ChangeGroup(isGroup: false)
        var last: RecordID?
        while true {
            var query = Query(table.name).ordered(by: "id").limited(to: 500).selecting(["id"])
            for name in table.serverNames { query = query.filtered(by: Column(name) == .null) }
            if let last { query = query.filtered(by: Column("id") > last.fieldValue) }
            let rows = try transaction.records(query)
            guard let end = rows.last?.id else { break }
            let keys = rows.compactMap { $0.id.stringValue.map { OperationCoding.itemKey($0, table) } }
            let waiting = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
            let remembered = try ItemMemoryStorage.remembered(among: { keys }, in: table, &transaction)
            for row in rows {
                guard let id = row.id.stringValue else { continue }
                let key = OperationCoding.itemKey(id, table)
                guard !waiting.contains(key) else {
                    try changes.queueInsertOverDeletion(of: id, &group, &transaction)
                    continue
                }
                // What was sent and given up may be there, or kept here on purpose.
                let memory =
                    try remembered.contains(key) ? ItemMemoryStorage.memory(of: id, in: table, &transaction) : nil
                guard memory?.sent.isEmpty ?? true else { continue }
                try changes.queueInsert(of: id, &group, &transaction)
            }
            last = end
        }
        try changes.queueDeletionsOfMissing(&group, &transaction)
    }
}

extension TableDefinition {
    /// The columns of this table that only a server fills.
    fileprivate var serverNames: [String] {
        [("version", SystemProperties.version), ("updatedAt", .updatedAt), ("createdAt", .createdAt)]
            .filter { systemProperties.contains($0.1) }.map(\.0)
    }
}
