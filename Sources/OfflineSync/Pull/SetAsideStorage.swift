internal import RemoteContract
internal import SyncContract

/// The rows that pulls have set aside, in the rows of `MS_TableConfig`: the id, the reason, and the declaration of the
/// table that they did not fit. They are asked for again when that is another one. Of those that a pull with parameters has
/// met this says that as well: without them the server may show no such row.
enum SetAsideStorage {
    /// Behind the declaration of a row that a pull with parameters has met.
    private static let parametersMark = "?"

    /// Adds rows; those on which the server may have failed for a while only are due at once, unless they were asked for again.
    static func insert(
        _ rows: [SetAsideRow],
        of table: TableDefinition,
        areFirst: Bool = false,
        hasParameters: Bool = false,
        _ transaction: inout StoreTransaction
    ) throws {
        for row in rows {
            let isDue = row.mayPass && areFirst
            // A pull without parameters may have met it as well.
            let before = hasParameters ? try ConfigurationTable.row(.setAside, table.name, row.id, &transaction) : nil
            let mark = hasParameters ? before.map(mark(of:)) ?? parametersMark : ""
            try ConfigurationTable.set(
                .setAside,
                table.name,
                row.id,
                ["value": .string(row.reason), "query": .string((isDue ? "" : fingerprint(of: table)) + mark)],
                &transaction
            )
        }
    }

    /// Forgets rows that came.
    static func remove(
        _ ids: some Collection<RecordID>,
        of table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard !ids.isEmpty, try count(of: table.name, &transaction) > 0 else { return }
        for id in ids {
            guard let id = id.stringValue else { continue }
            try transaction.delete(ConfigurationTable.query(.setAside, table.name, id))
        }
    }

    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.setAside, table))
    }

    /// Forgets rows of a table that a pull of everything has not met, unless they need parameters.
    static func removeUnmet(
        _ unmet: Set<RecordID>,
        of table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let query = ConfigurationTable.query(.setAside, table.name).filtered(by: !isMarked).selecting(["key"])
        let gone = try transaction.records(query)
            .filter { unmet.contains(.string($0["key"]?.stringValue ?? "")) }
        try transaction.delete(gone.map(\.id), from: SystemTables.configuration.name)
    }

    static func ids(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [RecordID] {
        try transaction.records(ConfigurationTable.query(.setAside, table).selecting(["key"]))
            .map { .string($0["key"]?.stringValue ?? "") }
    }

    static func count(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Int {
        try transaction.count(ConfigurationTable.query(.setAside, table))
    }

    static func all(
        _ schema: StoreSchema,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [SetAsideRow] {
        var rows: [SetAsideRow] = []
        for table in schema.syncedTables {
            let query = ConfigurationTable.query(.setAside, table.name).ordered(by: "key")
            try transaction.forEach(query) { row in
                rows.append(
                    SetAsideRow(
                        id: row["key"]?.stringValue ?? "",
                        reason: row["value"]?.stringValue ?? "",
                        table: table.name
                    )
                )
            }
        }
        return rows
    }

    static func count(_ schema: StoreSchema, _ transaction: inout some StoreReading & ~Copyable) throws -> Int {
        var count = 0
        for table in schema.syncedTables { count += try self.count(of: table.name, &transaction) }
        return count
    }

    /// The ids of rows that are to be asked for again, at most as many as the limit says: all, or those that need no parameters.
    static func dueIDs(
        of table: TableDefinition,
        all: Bool,
        limit: Int? = nil,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String] {
        var query = all ? due(table) : due(table).filtered(by: !isMarked)
        if let limit { query = query.limited(to: limit) }
        return try transaction.records(query).compactMap { $0["key"]?.stringValue }
    }

    /// Forgets those of some rows that are due still, and that need no parameters.
    static func removeDue(_ ids: [String], of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        for id in ids { try transaction.delete(due(table).filtered(by: Column("key") == .string(id) && !isMarked)) }
    }

    /// Leaves some rows set aside as they are, until the declaration changes or somebody asks.
    static func settle(_ ids: [String], of table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        for id in ids {
            guard let row = try ConfigurationTable.row(.setAside, table.name, id, &transaction) else { continue }
            try transaction.upsert(
                [Record(id: row.id, ["query": .string(fingerprint(of: table) + mark(of: row))])],
                into: SystemTables.configuration.name
            )
        }
    }

    private static func due(_ table: TableDefinition) -> Query {
        ConfigurationTable.query(.setAside, table.name)
            .filtered(
                by: Column("query") != .string(fingerprint(of: table))
                    && Column("query") != .string(fingerprint(of: table) + parametersMark)
            )
    }

    private static var isMarked: QueryPredicate { Column("query").ends(with: parametersMark) }

    private static func mark(of row: Record) -> String {
        row["query"]?.stringValue?.hasSuffix(parametersMark) == true ? parametersMark : ""
    }

    /// Has every row of a table asked for again.
    static func makeDue(_ table: TableDefinition, _ transaction: inout StoreTransaction) throws {
        let rows = try transaction.records(ConfigurationTable.query(.setAside, table.name).selecting(["query"]))
        try transaction.upsert(
            rows.map { Record(id: $0.id, ["query": .string(mark(of: $0))]) },
            into: SystemTables.configuration.name
        )
    }

    /// What rows have to fit: the columns, as the server calls them, and their kinds.
    private static func fingerprint(of table: TableDefinition) -> String {
        StableHash.text(of: table.columns.map { "\($0.wireName) \($0.type)" }.joined(separator: "\n"))
    }
}
