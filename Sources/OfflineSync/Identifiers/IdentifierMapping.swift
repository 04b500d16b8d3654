internal import SyncContract

/// Which id of the server belongs to which local id, for tables whose server chooses ids: in the rows of `MS_TableConfig`,
/// at least one for each direction, so that both are found by the index, many at a time.
///
/// An entry is written in the transaction that first needs it and stays when its row is removed: the row may come back, and
/// others may refer to it. It goes when the row is made anew, because the server gives it another id then; what names the row
/// by the one that it had still means it.
enum IdentifierMapping {
    /// The server's ids of some rows, by local id in the form the table compares ids by. Rows that have none are left out.
    static func serverIDs(
        of ids: some Sequence<String>,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: String] {
        try values(.serverID, ids, table, &transaction)
    }

    /// The local ids of some rows, by the server's id in its spelling, which is the only one: it has chosen it.
    static func localIDs(
        ofServerIDs ids: some Sequence<String>,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: String] {
        try values(.localID, ids, table, &transaction)
    }

    /// The same, and of which of the server's ids it is not known that a row with theirs was here: they may have been given them in
    /// advance, because another row has named them, if in other letters where a table compares ids without regard to case.
    static func localIDsAndMarks(
        ofServerIDs ids: some Sequence<String>,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> (localIDs: [String: String], inAdvance: Set<String>) {
        var inAdvance: Set<String> = []
        var localIDs = try values(.localID, ids, table, &transaction) { key, row in
            if row["query"]?.stringValue != hereMark { inAdvance.insert(key) }
        }
        var foldedInAdvance: Set<String> = []
        let unknown = ids.filter { localIDs[$0] == nil }
        let folded = try values(.foldedID, unknown, table, &transaction) { key, row in
            if row["query"]?.stringValue != hereMark { foldedInAdvance.insert(key) }
        }
        for id in unknown {
            let key = key(.foldedID, id, table)
            guard foldedInAdvance.contains(key) else { continue }
            localIDs[id] = folded[key]
            inAdvance.insert(id)
        }
        return (localIDs, inAdvance)
    }

    /// Whether the local id of a row may have been made in advance. Older versions have not marked those of rows that came.
    static func isMadeInAdvance(
        _ serverID: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        try ConfigurationTable.row(.localID, table.name, serverID, &transaction)?["query"]?.stringValue != hereMark
    }

    private static let hereMark = "="

    /// The same of ids by which rows name others: in any letters where the table compares ids without regard to case, and one
    /// that a row had before it was made anew stands for it, too.
    static func localIDs(
        namedBy ids: some Sequence<String>,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: String] {
        var known = try localIDs(ofServerIDs: ids, in: table, &transaction)
        known.merge(try values(.formerID, ids.filter { known[$0] == nil }, table, &transaction)) { $1 }
        let unknown = ids.filter { known[$0] == nil }
        let folded = try values(.foldedID, unknown, table, &transaction)
        for id in unknown { known[id] = folded[key(.foldedID, id, table)] }
        return known
    }

    /// The local ids of rows that were made anew, by the ids that they had on the server before, but for those that are somebody's now.
    static func localIDs(
        ofFormerIDs ids: [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [String: String] {
        let former = try values(.formerID, ids, table, &transaction)
        guard !former.isEmpty else { return [:] }
        let known = try localIDs(ofServerIDs: former.keys, in: table, &transaction)
        return former.filter { known[$0.key] == nil }
    }

    /// Whether rows of the server may name a row by an id that it had before it was made anew.
    static func hasFormerID(
        _ id: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        try !formerIDs(of: id, in: table, &transaction).isEmpty
    }

    /// The ids that a row had on the server before it was made anew, in their order.
    static func formerIDs(
        of id: String,
        in table: TableDefinition,
        _ reader: inout some StoreReading & ~Copyable
    ) throws -> [String] {
        let query = ConfigurationTable.query(.formerID, table.name).filtered(by: Column("value") == .string(id))
        return try reader.records(query.selecting(["key"])).compactMap { $0["key"]?.stringValue }.sorted()
    }

    /// Remembers that a row is made anew which was here before its table was declared to assign ids: it has had the same id on
    /// both sides, of which nothing is written.
    static func rememberFormerID(
        _ id: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard try serverIDs(of: [id], in: table, &transaction).isEmpty else { return }
        try transaction.upsert([row(.formerID, id, value: id, table)], into: SystemTables.configuration.name)
    }

    /// Remembers which ids belong together. What a local id stood for before is forgotten in the other direction.
    static func set(
        _ pairs: [(local: String, server: String)],
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard !pairs.isEmpty else { return }
        let before = try serverIDs(of: pairs.map(\.local), in: table, &transaction)
        for pair in pairs {
            guard let old = before[OperationCoding.itemKey(pair.local, table)],
                old != pair.server
            else { continue }
            try transaction.delete(rowIDs(ofServerID: old, table), from: SystemTables.configuration.name)
        }
        try add(pairs, in: table, &transaction)
    }

    /// Remembers which ids belong together, of local ids that are new.
    static func add(
        _ pairs: [(local: String, server: String)],
        in table: TableDefinition,
        isHere: Bool = true,
        _ transaction: inout StoreTransaction
    ) throws {
        let mark: FieldValue = isHere ? .string(hereMark) : .null
        let rows = pairs.flatMap { pair -> [Record] in
            let localIDs = directions(table)
                .map { keyType in
                    var row = row(keyType, pair.server, value: pair.local, table)
                    row["query"] = mark
                    return row
                }
            return [row(.serverID, pair.local, value: pair.server, table)] + localIDs
        }
        try transaction.upsert(rows, into: SystemTables.configuration.name)
    }

    /// Forgets the server's id of a row: the server has no row with it any more. Those that name it still do.
    static func remove(
        _ id: String,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        let known = try serverIDs(of: [id], in: table, &transaction)
        try transaction.delete(
            known.flatMap { [rowID(.serverID, id, table)] + rowIDs(ofServerID: $0.value, table) },
            from: SystemTables.configuration.name
        )
        try transaction.upsert(
            known.values.map { row(.formerID, $0, value: id, table) },
            into: SystemTables.configuration.name
        )
    }

    /// Forgets the ids of a table's rows, unless rows of declared tables may refer to them.
    ///
    /// Those of some rows stay all the same.
    static func removeUnreferenced(
        of table: String,
        but kept: [String] = [],
        _ schema: StoreSchema,
        _ transaction: inout StoreTransaction
    ) throws {
        let isReferenced = schema.tables.contains { $0.columns.contains { $0.references == table } }
        guard !isReferenced else { return }
        var staying: [(local: String, server: String)] = []
        if let definition = schema.table(table), !kept.isEmpty {
            let known = try serverIDs(of: kept, in: definition, &transaction)
            staying = kept.compactMap { id in known[OperationCoding.itemKey(id, definition)].map { (id, $0) } }
        }
        for keyType in [ConfigurationTable.KeyType.serverID, .localID, .foldedID, .formerID] {
            try transaction.delete(ConfigurationTable.query(keyType, table))
        }
        if let definition = schema.table(table) { try add(staying, in: definition, &transaction) }
    }

    private static func values(
        _ keyType: ConfigurationTable.KeyType,
        _ ids: some Sequence<String>,
        _ table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable,
        _ look: (String, Record) -> Void = { _, _ in }
    ) throws -> [String: String] {
        let keys = Set(ids.map { key(keyType, $0, table) })
        guard !keys.isEmpty, keyType != .foldedID || table.idComparison == .asciiCaseInsensitive else { return [:] }
        var values: [String: String] = [:]
        let query = ConfigurationTable.query(keyType, table.name)
            .filtered(by: Column("key").isAny(of: keys.map(FieldValue.string)))
        try transaction.forEach(query) { row in
            guard let key = row["key"]?.stringValue else { return }
            values[key] = row["value"]?.stringValue
            look(key, row)
        }
        return values
    }

    private static func key(_ keyType: ConfigurationTable.KeyType, _ id: String, _ table: TableDefinition) -> String {
        [.serverID, .foldedID].contains(keyType) ? OperationCoding.itemKey(id, table) : id
    }

    /// An id that says what the row is about: writing it again needs no look-up.
    private static func rowID(
        _ keyType: ConfigurationTable.KeyType,
        _ id: String,
        _ table: TableDefinition
    ) -> RecordID {
        .string(rowID(keyType, key: key(keyType, id, table), table: table.name))
    }

    static func rowID(_ keyType: ConfigurationTable.KeyType, key: String, table: String) -> String {
        "\(keyType.rawValue) \(table) \(key)"
    }

    private static func rowIDs(ofServerID id: String, _ table: TableDefinition) -> [RecordID] {
        directions(table).map { rowID($0, id, table) }
    }

    /// How a local id is found: by the server's id as it is, and where a table compares ids without regard to case also in the
    /// form in which they are compared.
    private static func directions(_ table: TableDefinition) -> [ConfigurationTable.KeyType] {
        table.idComparison == .asciiCaseInsensitive ? [.localID, .foldedID] : [.localID]
    }

    private static func row(
        _ keyType: ConfigurationTable.KeyType,
        _ id: String,
        value: String,
        _ table: TableDefinition
    ) -> Record {
        Record(
            id: rowID(keyType, id, table),
            [
                "table": .string(table.name), "keyType": .int64(keyType.rawValue),
                "key": .string(key(keyType, id, table)), "value": .string(value),
            ]
        )
    }
}
