internal import ItemCoding
internal import SyncContract

/// Reads and writes the queue inside a transaction of the store.
///
/// There is at most one operation per item: later changes collapse into it.
enum OperationQueue {
    private static let operations = SystemTables.operations.name
    private static let errors = SystemTables.operationErrors.name

    // Every new operation asks for these: they are made once.
    private static let lastOperation = Query(operations).ordered(by: "id", .descending).selecting(["highest"])
        .limited(to: 1)
    private static let keyColumns = ["table", "itemKey"]
    private static let removedNumber = ConfigurationTable.query(.highestRemovedNumber, "", "")

    /// The operation that waits for an item, nil when there is none.
    static func operation(
        for itemID: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperation? {
        let query = Query(operations)
            .filtered(
                by: Column("table") == .string(table.name)
                    && Column("itemKey") == .string(OperationCoding.itemKey(itemID, table))
            )
        return try transaction.first(query).map { try OperationCoding.operation($0, schema) }
    }

    /// Which of some items have an operation that waits, in the form in which the table compares ids.
    static func waitingItemKeys(
        among keys: [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let query = Query(operations)
            .filtered(
                by: Column("table") == .string(table.name) && Column("itemKey").isAny(of: keys.map(FieldValue.string))
            )
            .selecting(["itemKey"])
        var waiting: Set<String> = []
        try transaction.forEach(query) { operation in
            if let key = operation["itemKey"]?.stringValue { waiting.insert(key) }
        }
        return waiting
    }

    /// The operation with a number, nil when it is no longer queued.
    static func operation(
        _ number: Int64,
        written: WrittenOperation? = nil,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperation? {
        try transaction.record(.int64(number), in: operations)
            .map { try OperationCoding.operation($0, schema, written: written) }
    }

    /// Those of some operations that are still queued and to be sent.
    static func toSend(
        _ numbers: some Sequence<Int64>,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        try numbers.compactMap { try operation($0, &transaction, schema) }.filter(\.isToSend)
    }

    /// The first operations after a number, at most another, that wait to be sent and were made in no group, as they are
    /// stored. They are found by their numbers: with the tables in the question the store would sort all that wait.
    static func singles(
        after number: Int64,
        through last: Int64,
        limit: Int,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Record] {
        let query = Query(operations)
            .filtered(
                by: Column("id") > .int64(number) && Column("id") <= .int64(last)
                    && Column("state").isAny(of: TableOperation.sentStates) && Column("groups") == .null
            )
            .ordered(by: "id")
            .limited(to: limit)
        return try transaction.records(query)
    }

    /// All operations of declared tables in order, in one state or in any.
    static func all(
        in state: TableOperation.State? = nil,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        try transaction.records(query(nil, state).filtered(by: isDeclared(schema)))
            .map { try OperationCoding.operation($0, schema) }
    }

    /// All operations of a table in order.
    static func all(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        try transaction.records(query(table.name)).map { try OperationCoding.operation($0, schema) }
    }

    /// Hands the operations of a table after a number to a closure, in order, one at a time: there may be very many.
    static func forEach(
        of table: TableDefinition,
        after number: Int64,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema,
        _ body: (TableOperation) throws -> Void
    ) throws {
        try transaction.forEach(query(table.name).filtered(by: Column("id") > .int64(number))) {
            try body(OperationCoding.operation($0, schema))
        }
    }

    /// The rows of a table whose deletion waits, as they were, with its state.
    static func deletedRows(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [Record] {
        try transaction.records(query(table.name))
            .compactMap { row in
                let operation = try OperationCoding.operation(row, schema)
                // Of a row that was not here there is nothing but its id.
                guard var deleted = operation.deletedItem, !deleted.fields.isEmpty else { return nil }
                deleted.syncState = SyncState(ofOperation: row)
                return deleted
            }
    }

    /// The operations of a table that have never been sent and beside which a pull has brought a row of the server.
    static func unsentBesideServerRow(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        let query = query(table.name).filtered(by: Column("serverItem") != .null && Column("attempted") != true)
        return try transaction.records(query).map { try OperationCoding.operation($0, schema) }
    }

    /// The operations of a table that may have reached the server.
    static func attempted(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        try transaction.records(query(table.name).filtered(by: Column("attempted") == true))
            .map { try OperationCoding.operation($0, schema) }
    }

    /// The state of every item of a table that has an operation, by the id that the operation has.
    static func states(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: SyncState] {
        let query = query(table).selecting(["itemId"] + SyncState.operationColumns)
        var states: [String: SyncState] = [:]
        try transaction.forEach(query) { operation in
            if let id = operation["itemId"]?.stringValue { states[id] = SyncState(ofOperation: operation) }
        }
        return states
    }

    /// How many operations there are, of one table or of all, in one state or in any.
    static func count(
        of table: String?,
        state: TableOperation.State? = nil,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Int {
        try transaction.count(query(table, state))
    }

    /// How many operations of a table the next push sends.
    static func countToSend(of table: String, _ transaction: inout some StoreReading & ~Copyable) throws -> Int {
        try transaction.count(query(table).filtered(by: Column("state").isAny(of: TableOperation.sentStates)))
    }

    /// How many operations belong to tables that are not declared any more.
    static func countUndeclared(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> Int {
        try transaction.count(Query(operations).filtered(by: !isDeclared(schema)))
    }

    /// The numbers of all operations of a table, in order.
    static func numbers(of table: String, _ transaction: inout some StoreReading & ~Copyable) throws -> [Int64] {
        try transaction.records(query(table).selecting([])).compactMap(\.id.int64Value)
    }

    /// The ids of the items for which operations of a table wait, readable or not.
    static func itemIDs(of table: String, _ transaction: inout some StoreReading & ~Copyable) throws -> [String] {
        try transaction.records(query(table).selecting(["itemId"])).compactMap { $0["itemId"]?.stringValue }
    }

    /// The highest number in use, 0 when the queue is empty.
    static func highestNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        try transaction.first(lastOperation)?.id.int64Value ?? 0
    }

    /// The highest number of an operation that was removed, 0 when none was.
    private static func highestRemovedNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        try transaction.first(removedNumber)?["value"]?.stringValue.flatMap { Int64($0) } ?? 0
    }

    /// A number that no operation ever had.
    ///
    /// The last operation mostly knows that it has the highest number that was ever given. It does not when one that stood
    /// above it was removed, when its own number was given back to it, and when an older version of this library wrote it:
    /// then the highest number that was removed counts as well.
    static func newNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        let last = try transaction.first(lastOperation)
        let number = last?.id.int64Value ?? 0
        if last?["highest"] == true { return number + 1 }
        return max(number, try highestRemovedNumber(&transaction)) + 1
    }

    /// A number that no operation ever had, or will have.
    static func reserveNumber(_ transaction: inout StoreTransaction) throws -> Int64 {
        let number = try newNumber(&transaction)
        try keepNumberUnique(number, &transaction)
        return number
    }

    /// Writes an operation that has just got its number, the highest ever.
    static func add(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try transaction.insert(OperationCoding.newRecord(operation, table), into: operations) else {
            throw SyncError(
                .damagedQueue,
                "The queue has an operation \(operation.id) already, which was to be the next number; verify the store."
            )
        }
    }

    /// Writes an operation in the same way unless one waits for its item, and returns whether it did. It is found out in the
    /// index into which the operation is written.
    static func addIfFirst(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ backend: any ItemWriteBackend
    ) throws -> Bool {
        try backend.insert(OperationCoding.newRecord(operation, table), into: operations, uniqueIn: keyColumns)
    }

    /// Writes an operation that waits, or that is brought back with the number it had. The mark is that of the push that has
    /// it under way; nil leaves it as it is.
    @discardableResult static func save(
        _ operation: TableOperation,
        _ table: TableDefinition,
        mark: FieldValue? = nil,
        _ transaction: inout StoreTransaction
    ) throws -> WrittenOperation {
        var record = try OperationCoding.record(operation, table)
        if let mark { record["push"] = mark }
        try transaction.upsert([record], into: operations)
        return WrittenOperation(operation: operation, properties: record["properties"]?.bytesValue ?? [])
    }

    /// Writes an operation that is about to be sent, as it was read in this transaction but for what sending it changes.
    static func saveSent(
        _ operation: TableOperation,
        from before: TableOperation,
        _ table: TableDefinition,
        mark: FieldValue,
        _ transaction: inout StoreTransaction
    ) throws -> WrittenOperation {
        guard let record = try OperationCoding.sentRecord(operation, from: before, mark: mark) else {
            return try save(operation, table, mark: mark, &transaction)
        }
        try transaction.upsert([record], into: operations)
        return WrittenOperation(operation: operation, properties: record["properties"]?.bytesValue ?? [])
    }

    /// Removes an operation and what the server said about it.
    static func remove(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        var lookups = SharedLookups()
        try remove(operation, sharing: &lookups, &transaction)
    }

    /// The same where others that are removed share what was looked up.
    static func remove(
        _ operation: TableOperation,
        sharing lookups: inout SharedLookups,
        _ transaction: inout StoreTransaction
    ) throws {
        if try lookups.hasAnyErrors(&transaction) { try removeErrors(of: operation, &transaction) }
        let last = try lookups.highestNumber(&transaction)
        try transaction.delete([.int64(operation.id)], from: operations)
        guard operation.id == last else { return }
        lookups.removeHighestNumber()
        try keepNumberUnique(last, &transaction)
    }

    /// Removes every operation of a table, declared or not, readable or not, and what the server said about them.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws -> Int {
        let last = try highestNumber(&transaction)
        for row in try transaction.records(query(table).selecting([])) {
            try transaction.delete(Query(errors).filtered(by: Column("operationId") == row.id.fieldValue))
        }
        let count = try transaction.delete(query(table))
        if try highestNumber(&transaction) < last { try keepNumberUnique(last, &transaction) }
        return count
    }

    /// Whether the server has said something about an operation, of whichever.
    static func hasErrors(_ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        try transaction.first(Query(errors).ordered(by: "id").selecting([])) != nil
    }

    /// Removes what the server said about an operation.
    static func removeErrors(of operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(Query(errors).filtered(by: Column("operationId") == .int64(operation.id)))
    }

    /// Remembers the number of the last operation when it was removed. An answer that is still under way refers to a
    /// number: it must not meet another operation.
    private static func keepNumberUnique(_ number: Int64, _ transaction: inout StoreTransaction) throws {
        if let last = try transaction.first(lastOperation), last["highest"] == true {
            try transaction.upsert([Record(id: last.id, ["highest": .null])], into: operations)
        }
        guard try number > highestRemovedNumber(&transaction) else { return }
        try ConfigurationTable.set(.highestRemovedNumber, "", "", ["value": .string(String(number))], &transaction)
    }

    private static func isDeclared(_ schema: StoreSchema) -> QueryPredicate {
        Column("table").isAny(of: schema.syncedTables.map { .string($0.name) })
    }

    static func query(_ table: String?, _ state: TableOperation.State? = nil) -> Query {
        var query = Query(operations).ordered(by: "id")
        if let table { query = query.filtered(by: Column("table") == .string(table)) }
        if let state {
            let stored = state == .failed ? [state.rawValue, TableOperation.parkedState] : [state.rawValue]
            query = query.filtered(by: Column("state").isAny(of: stored.map(FieldValue.int64)))
        }
        return query
    }
}
