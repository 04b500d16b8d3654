internal import SyncContract
internal import SyncMachines

/// Checks the queue of local changes.
struct OperationVerification {
    let schema: StoreSchema
    let schemaIsComplete: Bool
    private(set) var findings: [StoreFinding] = []

    /// The operations that can be read, by their numbers.
    private(set) var sound: [Int64: TableOperation] = [:]

    init(schema: StoreSchema, schemaIsComplete: Bool) {
        self.schema = schema
        self.schemaIsComplete = schemaIsComplete
    }

    mutating func check(_ reader: inout some StoreReading & ~Copyable) throws {
        let rows = try reader.records(Query(SystemTables.operations.name).ordered(by: "id"))
        var numbers: [String: Int64] = [:]
        for row in rows {
            let number = row.id.int64Value ?? 0
            if number < 1 { report(number, "its number is not positive") }
            guard let table = row["table"]?.stringValue.flatMap(schema.table) else {
                if schemaIsComplete { report(number, "its table is not in the store") }
                continue
            }
            guard let operation = operation(row, number) else { continue }
            sound[number] = operation
            let key = OperationCoding.itemKey(operation.itemID, table)
            if row["itemKey"]?.stringValue != key { report(number, "it cannot be found by its item") }
            if let first = numbers.updateValue(number, forKey: "\(table.name)\u{0}\(key)") {
                report(number, "operation \(first) is one of the same item")
            }
            try checkItem(of: operation, table, &reader)
        }
    }

    private mutating func operation(_ row: Record, _ number: Int64) -> TableOperation? {
        var probe = TableOperation(id: number, table: "", itemID: "", change: QueuedChange(.insert))
        if !probe.restoreState(row["state"]?.int64Value) {
            report(number, "its state is none that there is")
        }
        if let groups = row["groups"]?.stringValue, GroupCoding.memberships(groups) == nil {
            report(number, "it does not say which groups of changes it is part of")
        }
        if row["editCounter"]?.int64Value ?? -1 < 0 { report(number, "it does not say how often it was edited") }
        do {
            return try OperationCoding.operation(row, schema)
        } catch {
            // Why it cannot be read would quote what it holds.
            report(number, "what it is to do cannot be read")
            return nil
        }
    }

    private mutating func checkItem(
        of operation: TableOperation,
        _ table: TableDefinition,
        _ reader: inout some StoreReading & ~Copyable
    ) throws {
        // What takes back a change of a row that is not known here has nothing to send yet.
        guard !operation.isUndo else { return }
        switch operation.kind {
        case .insert, .update:
            guard try reader.record(.string(operation.itemID), in: table.name) == nil else { return }
            report(operation.id, "the row it is to send is not in table '\(table.name)'")
        case .delete:
            if operation.deletedItem == nil { report(operation.id, "it has lost the row that was deleted") }
        }
    }

    private mutating func report(_ number: Int64, _ what: String) {
        findings.append(.queue("operation \(number): \(what)", table: SystemTables.operations, number: number))
    }
}
