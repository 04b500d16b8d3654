internal import SyncContract

/// How many local changes wait, and why.
public struct SyncStatus: Sendable, Hashable {
    /// Changes that the next push sends for the first time or again after an edit.
    public internal(set) var pending = 0

    /// Changes that wait for a resolution.
    public internal(set) var conflicts = 0

    /// Changes that the server refused, or has failed on too often; they wait to be edited or resolved.
    public internal(set) var failed = 0

    /// How many of all these belong to tables that are not declared any more, or as local only. They are kept and not sent:
    /// declare the table again as it was, or give them up with ``SyncContext/forcePurge(_:)``.
    public internal(set) var undeclared = 0

    /// Rows of the server that do not fit their table: see ``SyncContext/setAsideRows()``.
    public internal(set) var setAside = 0

    /// The declared columns, by table, that no row of the server has shown although rows came: the app's own, or newer
    /// than the server. They keep their local values; a column that is to stay on the device is declared `isLocal`.
    public internal(set) var unshownColumns: [String: [String]] = [:]
}

extension SyncStatus {
    init(_ transaction: inout some StoreReading & ~Copyable, _ schema: StoreSchema) throws {
        pending = try OperationQueue.count(of: nil, state: .pending, &transaction)
        conflicts = try OperationQueue.count(of: nil, state: .conflicted, &transaction)
        failed = try OperationQueue.count(of: nil, state: .failed, &transaction)
        undeclared = try OperationQueue.countUndeclared(&transaction, schema)
        setAside = try SetAsideStorage.count(schema, &transaction)
        unshownColumns = try ConfigurationTable.unshownColumns(schema, &transaction)
    }
}
