internal import SyncContract
internal import SyncMachines

/// The rows without a waiting change whose versions the server has not named. They are known again by their content, and a
/// migration that fills a column changes that: the server may fill its rows as well, or not.
struct UnnamedRows {
    let table: TableMigration

    /// Remembers both contents, as of an own write that was carried out.
    func remember(_ transaction: inout StoreTransaction) throws {
        guard let new = table.new, !new.isLocalOnly, new.systemProperties.contains(.version) else { return }
        let columns = table.filledColumns.filter { name in new.columns.contains { $0.name == name && !$0.isLocal } }
        guard !columns.isEmpty else { return }
        // The server has none of their rows; they are sent when the migration is over.
        guard try !LocalTables.contain(new.name, &transaction) else { return }
        var last: RecordID?
        while true {
            var query = Query(new.name).filtered(by: Column("version") == .null).ordered(by: "id").limited(to: 500)
            if let last { query = query.filtered(by: Column("id") > last.fieldValue) }
            let rows = try transaction.records(query)
            guard let end = rows.last?.id else { return }
            try remember(rows, columns, new, &transaction)
            last = end
        }
    }

    private func remember(
        _ rows: [Record],
        _ columns: [String],
        _ new: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let keys = rows.compactMap { $0.id.stringValue.map { OperationCoding.itemKey($0, new) } }
        let known = try OperationQueue.waitingItemKeys(among: keys, in: new, &transaction)
            .union(ItemMemoryStorage.remembered(among: { keys }, in: new, &transaction))
        for row in rows {
            guard let id = row.id.stringValue, !known.contains(OperationCoding.itemKey(id, new)) else { continue }
            let filled = new.withoutLocalColumns(row)
            var asBefore = filled
            for name in columns { asBefore[name] = nil }
            var memory = ItemMemory<Record>()
            memory.sent = [asBefore, filled].map { SentRequest(.update, content: $0) }
            try ItemMemoryStorage.set(memory, of: id, in: new, &transaction)
        }
    }
}
