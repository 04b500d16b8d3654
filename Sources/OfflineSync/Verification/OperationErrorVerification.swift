internal import SyncContract

/// Checks what the server did not take.
struct OperationErrorVerification {
    let schema: StoreSchema
    let operations: [Int64: TableOperation]
    private(set) var findings: [StoreFinding] = []

    init(schema: StoreSchema, operations: [Int64: TableOperation]) {
        self.schema = schema
        self.operations = operations
    }

    mutating func check(_ reader: inout some StoreReading & ~Copyable) throws {
        var answered: Set<Int64> = []
        let errors = Query(SystemTables.operationErrors.name).ordered(by: "operationId")
        for row in try reader.records(errors) {
            guard let number = row["operationId"]?.int64Value else {
                report("an error does not say which operation it is about")
                continue
            }
            answered.insert(number)
            guard try reader.record(.int64(number), in: SystemTables.operations.name) != nil else {
                report("an error is about operation \(number), which is not in the queue")
                continue
            }
            // An operation that cannot be read was reported.
            guard let operation = operations[number] else { continue }
            check(row, operation)
        }
        for operation in operations.values.sorted(by: { $0.id < $1.id })
        where operation.state == .conflicted && !answered.contains(operation.id) {
            findings.append(
                .queue(
                    "operation \(operation.id): it is in conflict, and what the server said about it is not there",
                    table: SystemTables.operations,
                    number: operation.id
                )
            )
        }
    }

    private mutating func check(_ row: Record, _ operation: TableOperation) {
        let number = operation.id
        do {
            let error = try OperationErrorCoding.error(row, schema)
            guard let table = schema.table(operation.table), error.table == operation.table,
                OperationCoding.itemKey(error.itemID, table) == OperationCoding.itemKey(operation.itemID, table)
            else { return report("an error of operation \(number) is about another item") }
            if error.editCounter > operation.editCounter {
                report("an error of operation \(number) is about a change that it does not have yet")
            }
        } catch {
            // Why it cannot be read would quote what it holds.
            report("an error of operation \(number) cannot be read")
        }
    }

    private mutating func report(_ message: String) {
        findings.append(.queue(message, table: SystemTables.operationErrors))
    }
}
