internal import SyncContract

/// The rows of `MS_TableConfig`: the cursors of pulls, which are ``PullCursorStorage``'s, and two notes of
/// the engine.
enum ConfigurationTable {
    /// What a row of the table means. 0 is the only value the original SDKs use.
    enum KeyType: Int64 {
        case deltaToken = 0
        /// The item named by the key has to be fetched from the server by id.
        case refetch = 1_000
        /// The highest number of an operation that was removed.
        case highestRemovedNumber = 1_001
    }

    private static let name = SystemTables.configuration.name

    /// The ids of the items of a table that have to be fetched.
    static func refetches(in table: String, _ transaction: inout some StoreReading & ~Copyable) throws -> [String] {
        try transaction.records(query(.refetch, table)).compactMap { $0["key"]?.stringValue }
    }

    static func requestRefetch(of itemID: String, in table: String, _ transaction: inout StoreTransaction) throws {
        try set(.refetch, table, itemID, [:], &transaction)
    }

    /// Has rows asked for by id that a pull set aside: as many as are no burden to every later pull.
    static func requestRefetches(of itemIDs: [String], in table: String, _ transaction: inout StoreTransaction) throws {
        var room = try 100 - transaction.count(query(.refetch, table))
        for itemID in itemIDs where !itemID.isEmpty && room > 0 {
            try requestRefetch(of: itemID, in: table, &transaction)
            room -= 1
        }
    }

    static func removeRefetch(of itemID: String, in table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(query(.refetch, table).filtered(by: Column("key") == .string(itemID)))
    }

    /// Forgets every item of a table that was to be fetched.
    static func removeRefetches(in table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(query(.refetch, table))
    }

    static func highestRemovedNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        try row(.highestRemovedNumber, "", "", &transaction)?["value"]?.stringValue.flatMap { Int64($0) } ?? 0
    }

    static func setHighestRemovedNumber(_ number: Int64, _ transaction: inout StoreTransaction) throws {
        guard try number > highestRemovedNumber(&transaction) else { return }
        try set(.highestRemovedNumber, "", "", ["value": .string(String(number))], &transaction)
    }

    static func set(
        _ keyType: KeyType,
        _ table: String,
        _ key: String,
        _ values: [String: FieldValue],
        _ transaction: inout StoreTransaction
    ) throws {
        let existing = try row(keyType, table, key, &transaction)
        var row = Record(id: existing?.id ?? .string(ItemID.make()), values)
        row["table"] = .string(table)
        row["keyType"] = .int64(keyType.rawValue)
        row["key"] = .string(key)
        try transaction.upsert([row], into: name)
    }

    static func row(
        _ keyType: KeyType,
        _ table: String,
        _ key: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Record? {
        try transaction.first(query(keyType, table).filtered(by: Column("key") == .string(key)))
    }

    static func query(_ keyType: KeyType, _ table: String) -> Query {
        Query(name)
            .filtered(
                by: Column("table") == .string(table) && Column("keyType") == .int64(keyType.rawValue)
            )
    }
}
