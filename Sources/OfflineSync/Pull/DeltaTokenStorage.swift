internal import SyncContract

/// How far each query of each table was pulled, in the rows of `MS_TableConfig` that the original SDKs know.
enum DeltaTokenStorage {
    /// The instant up to which a query has been pulled; nil when it never was, or was pulled with another predicate.
    static func token(
        _ queryID: String,
        of table: String,
        query: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Timestamp? {
        guard let row = try ConfigurationTable.row(.deltaToken, table, queryID, &transaction),
            row["query"]?.stringValue ?? "" == query, let text = row["value"]?.stringValue
        else { return nil }
        return Timestamp(text)
    }

    static func set(
        _ token: Timestamp,
        _ queryID: String,
        of table: String,
        query: String,
        _ transaction: inout StoreTransaction
    ) throws {
        try ConfigurationTable.set(
            .deltaToken,
            table,
            queryID,
            ["value": .string(token.text), "query": .string(query)],
            &transaction
        )
    }

    /// Forgets how far every query of a table was pulled.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.deltaToken, table))
    }
}
