internal import SyncContract

/// The rows of `MS_TableConfig`: the cursors of pulls, which are ``PullCursorStorage``'s, the highest number of an
/// operation that was removed, which is ``OperationQueue``'s, the rows set aside, which are ``SetAsideStorage``'s, those
/// that a purge keeps away, which are ``PurgedRowStorage``'s, the items that have to be fetched, and the columns that the
/// server's rows have shown. The version of the tables is there as well, and is the store's.
enum ConfigurationTable {
    /// What a row of the table means. 0 is the only value the original SDKs use.
    enum KeyType: Int64 {
        case deltaToken = 0
        /// The item named by the key has to be fetched from the server by id.
        case refetch = 1_000
        /// The highest number of an operation that was removed.
        case highestRemovedNumber = 1_001
        /// The declared columns that rows of the server have shown, by the server's names, separated by spaces.
        case shownColumns = 1_002
        /// Whether the row named by the key was deleted, and the versions that only this device's own writes have left
        /// behind in it, separated by tabs.
        case itemMemory = 1_003
        /// An insert that was never sent and the deletion of whose item has cancelled it, until the next push starts, or
        /// for a week: see ``CancelledInserts``.
        case cancelledInsert = 1_004
        /// A decision that a policy made without asking: see ``JournalStorage``.
        case journalEntry = 1_005
        /// An insert that was dropped and may arrive, where the server chooses ids; the key is that of the item's memory, the
        /// value its id.
        case droppedInsert = 1_006
        /// The columns that migrations have filled, by the server's names, separated by spaces: see ``FilledColumns``.
        case filledColumns = 1_007
        /// What of a session is suspended: see ``SyncContext/storedSuspension()``.
        case sessionSuspension = 1_010
        /// Which pull of a session the next sync within a time begins with.
        case firstPull = 1_012
        /// When everything of the pull named by the key was last here, in milliseconds.
        case completePull = 1_011
        /// The key is the text of parameters with which everything was pulled without a cursor.
        case reconciledParameters = 1_013
        /// The row named by the key did not fit; the value says why.
        case setAside = 1_020
        /// The row named by the key was purged; the value is its stamp and version.
        case purgedRow = 1_021
        /// The highest number of a group of changes.
        case highestGroup = 1_030
        /// The server's id of the row whose local id is the key: see ``IdentifierMapping``.
        case serverID = 1_040
        /// The local id of the row whose id on the server is the key.
        case localID = 1_041
        /// The local id of the row whose id on the server was the key, before the row was made anew.
        case formerID = 1_042
        /// The local id of the row whose id on the server is the key but for the case of letters, where that makes no difference.
        case foldedID = 1_046
        /// The changes at which the last pushes have ended: see ``StumblingBlock``.
        case stumblingBlocks = 1_032
        /// The column that the key names, or the table's own id, holds local ids of the table that the value names, by names of the server:
        /// see ``DeclaredReferences``.
        case reference = 1_043
        /// The table stays on the device: see ``LocalTables``.
        case localTable = 1_044
        /// The columns of a synced table that name files, separated by spaces: see ``FileColumns``.
        case fileColumns = 1_045
        /// The columns of a synced table that stay on the device, separated by spaces: see ``LocalColumns``.
        case localColumns = 1_047
        /// Where the bringing of everything anew is: see ``ResetStage``.
        case reset = 1_050
        /// A row of a server that was set up anew: see ``FreshRows``.
        case freshRow = 1_051
        /// The cursor of the pull that brings them.
        case freshCursor = 1_052
        /// A change that was given up because the server has lost its history: see ``DiscardedChanges``.
        case discardedChange = 1_053
    }

    private static let name = SystemTables.configuration.name

    /// The ids of the items of a table that have to be fetched.
    static func refetches(in table: String, _ transaction: inout some StoreReading & ~Copyable) throws -> [String] {
        try transaction.records(query(.refetch, table).ordered(by: "key")).compactMap { $0["key"]?.stringValue }
    }

    static func requestRefetch(of itemID: String, in table: String, _ transaction: inout StoreTransaction) throws {
        try set(.refetch, table, itemID, ["query": .null], &transaction)
    }

    /// With which parameters an item that has to be fetched was asked for in vain.
    static func refetchesInVain(
        of itemID: String,
        in table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let asked = try row(.refetch, table, itemID, &transaction)?["query"]?.stringValue
        return Set(asked?.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) ?? [])
    }

    static func setRefetchesInVain(
        _ asked: Set<String>,
        of itemID: String,
        in table: String,
        _ transaction: inout StoreTransaction
    ) throws {
        try set(.refetch, table, itemID, ["query": .string(asked.sorted().joined(separator: "\n"))], &transaction)
    }

    static func removeRefetch(of itemID: String, in table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(query(.refetch, table, itemID))
    }

    /// Forgets every item of a table that was to be fetched.
    static func removeRefetches(in table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(query(.refetch, table))
    }

    static func shownColumns(
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let shown = try row(.shownColumns, table.name, "", &transaction).map(names) ?? []
        return Set(table.columns.lazy.filter { !$0.isLocal && shown.contains($0.wireName) }.map(\.name))
    }

    /// The declared columns, by table, that no row of the server has shown although rows came.
    static func unshownColumns(
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: [String]] {
        var unshown: [String: [String]] = [:]
        for table in schema.syncedTables {
            let shown = try shownColumns(of: table, &transaction)
            let names = table.columns.filter { !$0.isLocal && !shown.contains($0.name) }.map(\.name)
            if !shown.isEmpty, !names.isEmpty { unshown[table.name] = names }
        }
        return unshown
    }

    static func setShownColumns(
        _ names: Set<String>,
        of table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let shown = table.columns.filter { names.contains($0.name) }.map(\.wireName).sorted().joined(separator: " ")
        try set(.shownColumns, table.name, "", ["value": .string(shown)], &transaction)
    }

    /// Forgets what rows of a table have shown.
    static func removeShownColumns(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(query(.shownColumns, table))
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

    /// The names in a row's value, which are separated by spaces.
    static func names(in row: Record) -> Set<String> {
        Set((row["value"]?.stringValue ?? "").split(separator: " ").map(String.init))
    }

    static func row(
        _ keyType: KeyType,
        _ table: String,
        _ key: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Record? {
        try transaction.first(query(keyType, table, key))
    }

    /// The value of a kind that is there once; nil when it is not.
    static func value(
        _ keyType: KeyType,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> String? {
        try row(keyType, "", "", &transaction)?["value"]?.stringValue
    }

    /// Keeps the value of a kind that is there once; nil removes it.
    static func setValue(_ value: String?, _ keyType: KeyType, _ transaction: inout StoreTransaction) throws {
        guard let value else {
            try transaction.delete(query(keyType, "", ""))
            return
        }
        try set(keyType, "", "", ["value": .string(value)], &transaction)
    }

    static func query(_ keyType: KeyType, _ table: String, _ key: String) -> Query {
        query(keyType, table).filtered(by: Column("key") == .string(key))
    }

    /// Of some tables: the index begins with the table, so that without one every setting is looked at.
    static func query(_ keyType: KeyType, anyOf tables: [String]) -> Query {
        Query(name)
            .filtered(
                by: Column("table").isAny(of: tables.map(FieldValue.string))
                    && Column("keyType") == .int64(keyType.rawValue)
            )
    }

    /// Of all tables, declared or not: every setting is looked at.
    static func query(_ keyType: KeyType) -> Query {
        Query(name).filtered(by: Column("keyType") == .int64(keyType.rawValue))
    }

    static func query(_ keyType: KeyType, _ table: String) -> Query {
        Query(name)
            .filtered(
                by: Column("table") == .string(table) && Column("keyType") == .int64(keyType.rawValue)
            )
    }
}
