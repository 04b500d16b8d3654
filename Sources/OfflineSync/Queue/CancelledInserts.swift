internal import RecordJSON
internal import SyncContract
internal import SyncMachines

/// Inserts that were never sent and whose items were deleted: kept until the next push starts, so that the deletion can be
/// taken back.
enum CancelledInserts {
    static func keep(
        _ operation: TableOperation,
        _ row: Record,
        _ table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        var json = JSONWriter()
        json.add("number", operation.id)
        if let groups = GroupCoding.text(operation.memberships).stringValue { json.add("groups", groups) }
        json.add("item", json: try RecordCoding.object(row))
        try ConfigurationTable.set(
            .cancelledInsert,
            table.name,
            OperationCoding.itemKey(operation.itemID, table),
            ["value": .string(json.object)],
            &transaction
        )
    }

    /// The insert of an item and its row; nil when there is none. It is not kept any longer.
    static func take(
        _ itemID: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> (TableOperation, Record)? {
        let key = OperationCoding.itemKey(itemID, table)
        guard
            let value = try ConfigurationTable.row(.cancelledInsert, table.name, key, &transaction)?["value"]?
                .stringValue
        else { return nil }
        try transaction.delete(ConfigurationTable.query(.cancelledInsert, table.name, key))
        let node = try JSONNode(parsing: Array(value.utf8))
        guard let number = node["number"]?.int64Value, let item = node["item"] else { return nil }
        let row = try RecordCoding(table).record(item)
        let id = row.id.stringValue ?? itemID
        var operation = TableOperation(id: number, table: table.name, itemID: id, change: QueuedChange(.insert))
        operation.memberships = node["groups"]?.stringValue.flatMap(GroupCoding.memberships) ?? []
        // Otherwise its groups would hold changes that seem to be made after all of its edits.
        operation.change.editCounter = operation.memberships.map(\.editCounter).max() ?? 0
        return (operation, row)
    }

    /// Changes the rows of those of a table.
    static func change(
        in table: TableDefinition,
        _ transaction: inout StoreTransaction,
        _ change: (Record) -> Record
    ) throws {
        for row in try transaction.records(ConfigurationTable.query(.cancelledInsert, table.name)) {
            guard let value = row["value"]?.stringValue,
                case .object(let members, _) = try JSONNode(parsing: Array(value.utf8)),
                let before = members.last(where: { $0.name == "item" })?.value
            else { continue }
            let (record, isWhole) = try RecordCoding(table).fittingRecord(before)
            let item = change(record)
            guard isWhole, item != record else { continue }
            var json = JSONWriter()
            for member in members where member.name != "item" { json.add(member.name, json: member.value.text) }
            json.add("item", json: try RecordCoding.object(item))
            let changed = Record(id: row.id, ["value": .string(json.object)])
            try transaction.upsert([changed], into: SystemTables.configuration.name)
        }
    }

    /// The rows of a table that are kept so.
    static func rows(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Record] {
        try transaction.records(ConfigurationTable.query(.cancelledInsert, table.name))
            .compactMap { row in
                guard let value = row["value"]?.stringValue else { return nil }
                return try JSONNode(parsing: Array(value.utf8))["item"].map { try RecordCoding(table).record($0) }
            }
    }

    /// Whether there are any.
    static func isNotEmpty(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> Bool {
        try transaction.first(query(schema)) != nil
    }

    /// Forgets all of them.
    static func removeAll(_ transaction: inout StoreTransaction, _ schema: StoreSchema) throws {
        try transaction.delete(query(schema))
    }

    private static func query(_ schema: StoreSchema) -> Query {
        ConfigurationTable.query(.cancelledInsert, anyOf: schema.tables.map(\.name)).selecting([])
    }
}
