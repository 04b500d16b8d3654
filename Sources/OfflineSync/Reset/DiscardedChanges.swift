internal import RecordJSON
internal import SyncContract

/// Changes that were given up, in rows of `MS_TableConfig`: as safe from other eyes as the rows themselves.
enum DiscardedChanges {
    static func keep(
        _ operation: TableOperation,
        _ row: Record?,
        at date: Timestamp,
        _ transaction: inout StoreTransaction
    ) throws {
        var json = JSONWriter()
        json.add("itemId", operation.itemID)
        json.add("operation", operation.kind.rawValue)
        json.add("date", date.milliseconds)
        if let item = row ?? operation.deletedItem { json.add("item", json: try RecordCoding.object(item)) }
        if let base = operation.baseItem { json.add("base", json: try RecordCoding.object(base)) }
        var number = operation.id
        if try ConfigurationTable.row(.discardedChange, operation.table, String(number), &transaction) != nil {
            // What took back the one of before has become a change again.
            number = try OperationQueue.reserveNumber(&transaction)
        }
        try ConfigurationTable.set(
            .discardedChange,
            operation.table,
            String(number),
            ["value": .string(json.object)],
            &transaction
        )
    }

    static func all(
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [DiscardedChange] {
        var changes: [DiscardedChange] = []
        for table in schema.tables {
            for row in try transaction.records(ConfigurationTable.query(.discardedChange, table.name)) {
                guard let id = row["key"]?.stringValue.flatMap({ Int64($0) }), let value = row["value"]?.stringValue
                else { continue }
                let node = try JSONNode(parsing: Array(value.utf8))
                changes.append(
                    DiscardedChange(
                        id: id,
                        date: Timestamp(milliseconds: node["date"]?.int64Value ?? 0),
                        table: table.name,
                        itemID: node["itemId"]?.stringValue ?? "",
                        kind: node["operation"]?.int64Value.flatMap(TableOperation.Kind.init) ?? .update,
                        item: node["item"].flatMap { record($0, table) },
                        baseItem: node["base"].flatMap { record($0, table) }
                    )
                )
            }
        }
        return changes.sorted { $0.id < $1.id }
    }

    static func removeAll(_ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.discardedChange))
    }

    private static func record(_ node: JSONNode, _ table: TableDefinition) -> Record? {
        do throws(RecordCodingError) {
            return try RecordCoding(table).record(node)
        } catch {
            // It does not fit the table any more.
            return nil
        }
    }
}
