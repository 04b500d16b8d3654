internal import SyncContract

/// How far each query of each table was pulled: the remote's cursors, where the original SDKs have their delta tokens, in
/// the rows of `MS_TableConfig`. What a cursor says is the remote's business.
enum PullCursorStorage {
    /// The cursor of a query; nil when it was never pulled, or with another predicate.
    static func cursor(
        _ queryID: String,
        of table: String,
        query: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> String? {
        guard let row = try ConfigurationTable.row(.deltaToken, table, queryID, &transaction),
            row["query"]?.stringValue ?? "" == query
        else { return nil }
        return row["value"]?.stringValue
    }

    static func set(
        _ cursor: String,
        _ queryID: String,
        of table: String,
        query: String,
        _ transaction: inout StoreTransaction
    ) throws {
        try ConfigurationTable.set(
            .deltaToken,
            table,
            queryID,
            ["value": .string(cursor), "query": .string(query)],
            &transaction
        )
    }

    /// The cursors of all queries of a table, by query id.
    static func all(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: String] {
        var cursors: [String: String] = [:]
        try transaction.forEach(ConfigurationTable.query(.deltaToken, table)) { row in
            guard let queryID = row["key"]?.stringValue else { return }
            cursors[queryID] = row["value"]?.stringValue
        }
        return cursors
    }

    /// Remembers that everything is pulled with some parameters, by their text: no cursor says so.
    static func setReconciled(
        _ parameters: String,
        of table: String,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try ConfigurationTable.row(.reconciledParameters, table, parameters, &transaction) == nil else { return }
        try ConfigurationTable.set(.reconciledParameters, table, parameters, [:], &transaction)
    }

    /// Whether pulls go on from somewhere, or bring everything, with parameters other than some, by their texts: the service may
    /// show rows to them that it shows to no other.
    static func hasOtherParameters(
        than asked: Set<String>,
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        let reconciled = try transaction.records(ConfigurationTable.query(.reconciledParameters, table))
        if reconciled.contains(where: { !asked.contains($0["key"]?.stringValue ?? "") }) { return true }
        return try transaction.records(ConfigurationTable.query(.deltaToken, table).selecting(["query"]))
            .contains { row in
                let query = row["query"]?.stringValue ?? ""
                return PullRunner.hasParameters(query)
                    && !asked.contains { PullRunner.hasParameters(query, $0) }
            }
    }

    /// Forgets how far a query was pulled.
    static func remove(_ queryID: String, of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.deltaToken, table, queryID))
        try transaction.delete(ConfigurationTable.query(.completePull, table, queryID))
    }

    /// Forgets how far every query of a table was pulled.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.deltaToken, table))
        try transaction.delete(ConfigurationTable.query(.completePull, table))
        try transaction.delete(ConfigurationTable.query(.reconciledParameters, table))
    }
}
