internal import RecordJSON
internal import SyncContract
internal import SyncMachines

/// What is remembered of migrated tables and their rows, in the rows of `MS_TableConfig`.
///
/// The columns that the server's rows have shown are known by the server's names. One that is renamed here alone has been
/// shown; one that the server has renamed as well counts as shown when it comes under its new name, and until then its absence
/// does not clear it.
struct SettingRows: TranslatedRows {
    let tables: [String: TableMigration]
    let systemTable = SystemTables.configuration

    /// In front of the ids of rows that have their table's new name in them already: no other id begins so, and all come
    /// before.
    private static let moved = "~"

    func translate(_ transaction: inout StoreTransaction) throws {
        try systemTable.forEachPage(&transaction) { rows, transaction in
            var changed: [Record] = []
            var removed: [RecordID] = []
            for row in rows where !Self.isMoved(row) {
                switch try translated(row) {
                case .changed(let new)?:
                    changed.append(new)
                    if new.id != row.id { removed.append(row.id) }
                case .removed?: removed.append(row.id)
                case nil: break
                }
            }
            try transaction.delete(removed, from: systemTable.name)
            try transaction.upsert(changed, into: systemTable.name)
        }
        try endMoving(&transaction)
    }

    func translated(_ row: Record) throws -> RowTranslation? {
        let kind = row["keyType"]?.int64Value.flatMap(ConfigurationTable.KeyType.init)
        if kind == .journalEntry { return try journalEntry(row).map(RowTranslation.changed) }
        guard let table = row["table"]?.stringValue.flatMap({ tables[$0] }) else { return nil }
        guard let new = table.new else { return .removed }
        switch kind {
        // In the old shape, and under ids that have the old name in them: they come anew.
        case .freshRow, .freshCursor: return .removed
        case .cancelledInsert, .discardedChange:
            guard let value = row["value"]?.stringValue,
                case .object(let members, _) = try JSONNode(parsing: Array(value.utf8))
            else { return .changed(named(row, new)) }
            var json = JSONWriter()
            // The item is a row of this device, and completes what it is based on.
            let whole = members.last { $0.name == "item" }.flatMap { table.readable($0.value) }
            let local = whole.map(table.localValues)
            for member in members {
                var item: String?
                if ["item", "base"].contains(member.name) {
                    item = try table.translated(member.value, local, hasLocalColumns: member.name == "item")
                }
                json.add(member.name, json: item ?? member.value.text)
            }
            var changed = named(row, new)
            changed["value"] = .string(json.object)
            return .changed(changed)
        case .itemMemory:
            var changed = named(row, new)
            if let value = row["value"]?.stringValue, let memory = Self.readable(value, table.old), !memory.sent.isEmpty
            {
                var translated = memory
                let local = row["key"]?.stringValue.flatMap { table.rememberedValues[$0] }
                translated.sent = try memory.sent.flatMap { request in
                    // What was kept over is a row of the server's, and one.
                    guard request.kind == .none else { return try OperationRows.sent(request, table, local) }
                    let row = try request.content.map { try table.translated($0, local) }
                    return [SentRequest(.none, content: row, version: request.version)]
                }
                changed["value"] = .string(try ItemMemoryStorage.text(of: translated))
            }
            return .changed(changed)
        case .serverID, .localID, .foldedID, .formerID:
            guard table.old.name != new.name, let key = row["key"]?.stringValue, let kind else { return nil }
            // The row's id has the table in it, and two tables may change their names with each other.
            let id = IdentifierMapping.rowID(kind, key: key, table: new.name)
            var moved = Record(id: .string(Self.moved + id), row.fields)
            moved["table"] = .string(new.name)
            return .changed(moved)
        default: return table.old.name == new.name ? nil : .changed(named(row, new))
        }
    }

    /// What is remembered of a row; nil when it cannot be read.
    private static func readable(_ value: String, _ table: TableDefinition) -> ItemMemory<Record>? {
        do {
            return try ItemMemoryStorage.memory(in: value, table)
        } catch {
            return nil
        }
    }

    private func named(_ row: Record, _ table: TableDefinition) -> Record {
        Record(id: row.id, ["table": .string(table.name)])
    }

    /// An entry names its table in its value; one of an earlier version of this library in its row.
    private func journalEntry(_ row: Record) throws -> Record? {
        guard let value = row["value"]?.stringValue,
            case .object(let members, _) = try JSONNode(parsing: Array(value.utf8))
        else { return nil }
        let inValue = members.last { $0.name == "table" }?.value.stringValue
        guard let table = (inValue ?? row["table"]?.stringValue).flatMap({ tables[$0] }), let new = table.new else {
            return nil
        }
        var json = JSONWriter()
        for member in members {
            switch member.name {
            case "table": json.add("table", new.name)
            case "givenUp", "givenUpChange":
                let item = try table.translated(member.value, hasLocalColumns: true)
                if let item { json.add(member.name, json: item) }
            default: json.add(member.name, json: member.value.text)
            }
        }
        var changed = Record(id: row.id, ["value": .string(json.object)])
        if inValue == nil { changed["table"] = .string(new.name) }
        return changed
    }

    private static func isMoved(_ row: Record) -> Bool { row.id.stringValue?.hasPrefix(moved) ?? false }

    private func endMoving(_ transaction: inout StoreTransaction) throws {
        let moved = Query(systemTable.name).filtered(by: Column("id") >= .string(Self.moved)).ordered(by: "id")
            .limited(to: 500)
        while true {
            let rows = try transaction.records(moved).filter(Self.isMoved)
            guard !rows.isEmpty else { return }
            let named = rows.map { row in
                Record(id: .string(String((row.id.stringValue ?? "").dropFirst(Self.moved.count))), row.fields)
            }
            try transaction.delete(rows.map(\.id), from: systemTable.name)
            try transaction.upsert(named, into: systemTable.name)
        }
    }
}
