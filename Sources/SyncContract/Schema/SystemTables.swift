/// The three tables in which the sync engine keeps its state, beside the app's tables and under the same transactions.
///
/// Names and documented columns are those of the original SDKs. The columns after the first line of each list were
/// added here; none was renamed.
public enum SystemTables {
    /// The queue of local changes, in the order of their numbers.
    public static let operations = TableDefinition(
        "MS_TableOperations",
        idKind: .int64,
        [
            .init("table", .string), .init("tableKind", .int64), .init("itemId", .string), .init("properties", .bytes),
            // The item id in the form the table compares ids by, so that one lookup by index finds the operation.
            .init("itemKey", .string),
            // The server version the first change was based on; null when the server never gave one.
            .init("baseVersion", .string),
            // Rises with every change, so that an answer to an older state is recognised.
            .init("editCounter", .int64),
            // 0 pending, 1 conflicted, 2 failed and to be sent again, 3 failed and laid aside.
            .init("state", .int64),
            // Whether the operation may have reached the server.
            .init("attempted", .bool),
            // The server's row that a pull brought while the change was waiting.
            .init("serverItem", .bytes),
            // The number of the push that has a request for it under way: see RunningPushes.
            .init("push", .int64),
            // The groups of changes that the operation is part of, as a text of the engine; null when there is none.
            .init("groups", .string),
            // Whether no higher number was ever given, as long as no operation stands above it: see OperationQueue.
            .init("highest", .bool),
        ],
        [],
        // With the state behind the key the states of rows are read from the index alone, but while a push runs. Its number
        // is not in it: the index lies in the order of ids, so that each operation that is sent would cost a page of it.
        [["table", "itemKey", "state"]]
    )

    /// What the server refused, until it is resolved.
    public static let operationErrors = TableDefinition(
        "MS_TableOperationErrors",
        idKind: .string(.exact),
        [
            .init("operationId", .int64), .init("tableKind", .int64), .init("properties", .bytes),
            // The operation's edit counter when it was sent: a resolution of an older state is refused.
            .init("editCounter", .int64),
        ],
        [],
        [["operationId"]]
    )

    /// Settings of the engine: delta tokens and what has to be fetched again.
    public static let configuration = TableDefinition(
        "MS_TableConfig",
        idKind: .string(.exact),
        [
            .init("table", .string), .init("keyType", .int64), .init("key", .string), .init("value", .string),
            // The query a delta token belongs to.
            .init("query", .string),
        ],
        [],
        [["table", "keyType", "key"]]
    )

    /// What `keyType` is in the rows of ``configuration`` that hold delta tokens.
    package static let deltaTokenKeyType: Int64 = 0

    /// The three tables.
    public static let all = [operations, operationErrors, configuration]
}
