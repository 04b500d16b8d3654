internal import SyncContract

/// Reads and writes the queue inside a transaction of the store.
///
/// There is at most one operation per item: later changes collapse into it.
enum OperationQueue {
    private static let operations = SystemTables.operations.name
    private static let errors = SystemTables.operationErrors.name

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

    /// The operation with a number, nil when it is no longer queued.
    static func operation(
        _ number: Int64,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperation? {
        try transaction.record(.int64(number), in: operations).map { try OperationCoding.operation($0, schema) }
    }

    /// The first operation after a number, at most another, that is not waiting for a resolution.
    static func next(
        after number: Int64,
        through last: Int64,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> TableOperation? {
        let query = Query(operations)
            .filtered(
                by: Column("id") > .int64(number) && Column("id") <= .int64(last)
                    && Column("state") != .int64(TableOperation.State.conflicted.rawValue)
            )
            .ordered(by: "id")
        return try transaction.first(query).map { try OperationCoding.operation($0, schema) }
    }

    /// All operations in order, of one table or of all.
    static func all(
        of table: String?,
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        try transaction.records(query(table)).map { try OperationCoding.operation($0, schema) }
    }

    /// How many operations there are, of one table or of all, in one state or in any.
    static func count(
        of table: String?,
        state: TableOperation.State? = nil,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Int {
        var query = query(table)
        if let state { query = query.filtered(by: Column("state") == .int64(state.rawValue)) }
        return try transaction.count(query)
    }

    /// The highest number in use, 0 when the queue is empty.
    static func highestNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        try transaction.first(Query(operations).ordered(by: "id", .descending))?.id.int64Value ?? 0
    }

    /// Writes an operation, new or changed.
    static func save(
        _ operation: TableOperation,
        _ table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        try transaction.upsert([OperationCoding.record(operation, table)], into: operations)
    }

    /// Removes an operation and what the server said about it.
    static func remove(_ operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try removeErrors(of: operation, &transaction)
        try transaction.delete([.int64(operation.id)], from: operations)
    }

    /// Removes what the server said about an operation.
    static func removeErrors(of operation: TableOperation, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(Query(errors).filtered(by: Column("operationId") == .int64(operation.id)))
    }

    private static func query(_ table: String?) -> Query {
        let query = Query(operations).ordered(by: "id")
        return table.map { query.filtered(by: Column("table") == .string($0)) } ?? query
    }
}
