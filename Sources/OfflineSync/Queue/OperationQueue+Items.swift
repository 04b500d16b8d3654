internal import SyncContract

/// Operations of many items at once.
extension OperationQueue {
    /// The operations that wait for items, by the form in which the table compares their ids: as bytes, which is why they are no
    /// strings. However many the items are, and however many operations wait for others, these are two questions to the
    /// store; one, and the keys of the items are not made, while nothing waits in the table.
    static func operations(
        for itemKeys: () -> [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [RecordID: TableOperation] {
        guard try hasAny(of: table.name, &transaction) else { return [:] }
        let query = Query(SystemTables.operations.name)
            .filtered(by: Column("table") == .string(table.name))
            .filtered(by: Column("itemKey").isAny(of: itemKeys().map(FieldValue.string)))
        var operations: [RecordID: TableOperation] = [:]
        for row in try transaction.records(query) {
            let operation = try OperationCoding.operation(row, schema)
            operations[RecordID.string(operation.itemID).folded(for: table.idComparison)] = operation
        }
        return operations
    }

    /// Whether an operation waits in a table. Unlike a count it takes no longer the more there are.
    static func hasAny(of table: String, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        // The order is that of the index: the first row of the table is the answer.
        let query = Query(SystemTables.operations.name).filtered(by: Column("table") == .string(table))
            .ordered(by: "itemKey").selecting([])
        return try transaction.first(query) != nil
    }
}
