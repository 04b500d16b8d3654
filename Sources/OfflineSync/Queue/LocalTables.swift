internal import SyncContract
internal import SyncMachines
internal import Synchronization

/// The tables that stay on the device, remembered beyond the version of the app that declares them so: nothing of their rows
/// was queued, and once such a table is to be synced, the server has none of them.
struct LocalTables {
    let context: SyncContext

    private var tables: [TableDefinition] { context.store.schema.tables }

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

    /// Those that the server has not had, as far as can be known: it has named no version of them, and nothing else is
    /// remembered.
    private func queueRows(of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        let changes = SyncTable<Record>(context: context, definition: table).changes
        var group = ChangeGroup(isGroup: false)
        var last: RecordID?
        while true {
            var query = Query(table.name).ordered(by: "id").limited(to: 500).selecting(["id"])
            if table.systemProperties.contains(.version) { query = query.filtered(by: Column("version") == .null) }
            if let last { query = query.filtered(by: Column("id") > last.fieldValue) }
            let rows = try transaction.records(query)
            guard let end = rows.last?.id else { return }
            let keys = rows.compactMap { $0.id.stringValue.map { OperationCoding.itemKey($0, table) } }
            let known = try OperationQueue.waitingItemKeys(among: keys, in: table, &transaction)
                .union(ItemMemoryStorage.remembered(among: { keys }, in: table, &transaction))
            for row in rows {
                guard let id = row.id.stringValue, !known.contains(OperationCoding.itemKey(id, table)) else { continue }
                try changes.queueInsert(of: id, &group, &transaction)
            }
            last = end
        }
    }
}

extension SyncContext {
    /// Follows what is declared now of tables that stay here; before anything else is changed or exchanged.
    func followLocalTables() async throws {
        guard !coordination.areLocalTablesFollowed.load(ordering: .relaxed) else { return }
        let tables = LocalTables(context: self)
        if try await store.read({ try tables.haveChanged(&$0) }) {
            try await store.write { try tables.follow(&$0) }
        }
        coordination.areLocalTablesFollowed.store(true, ordering: .relaxed)
    }
}
