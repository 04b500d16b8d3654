internal import RecordJSON
internal import SyncContract

/// The journal of automatic decisions, in rows of `MS_TableConfig`. The oldest leave when there are too many.
enum JournalStorage {
    /// How many entries are kept.
    static let mostEntries = 1_000

    /// Writes down what was decided about an error.
    @discardableResult
    static func add(
        _ resolution: ConflictResolution<Record>,
        of error: TableOperationError<Record>,
        in table: TableDefinition,
        at date: Timestamp,
        _ transaction: inout StoreTransaction
    ) throws -> JournalEntry {
        let decision = JournalEntry.Decision(resolution)
        let givenUp = decision.givesUpLocalChange ? error.item : error.serverItem
        let number = try transaction.first(newest).flatMap { $0["key"]?.stringValue.flatMap { Int64($0) } } ?? 0
        let entry = JournalEntry(
            id: number + 1,
            date: date,
            table: table.name,
            itemID: error.itemID,
            decision: decision,
            givenUp: givenUp
        )
        var json = JSONWriter()
        json.add("date", date.milliseconds)
        json.add("itemId", error.itemID)
        json.add("decision", decision.rawValue)
        if let givenUp { json.add("givenUp", json: try RecordCoding.object(givenUp)) }
        try ConfigurationTable.set(
            .journalEntry,
            table.name,
            key(entry.id),
            ["value": .string(json.object)],
            &transaction
        )
        let oldest = key(entry.id - Int64(mostEntries))
        try transaction.delete(ConfigurationTable.query(.journalEntry).filtered(by: Column("key") <= .string(oldest)))
        return entry
    }

    /// The entries, the newest first.
    static func all(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [JournalEntry] {
        try transaction.records(ConfigurationTable.query(.journalEntry).ordered(by: "key", .descending))
            .compactMap { row -> JournalEntry? in
                guard let id = row["key"]?.stringValue.flatMap({ Int64($0) }), let name = row["table"]?.stringValue,
                    let node = try row["value"]?.stringValue.map({ try JSONNode(parsing: Array($0.utf8)) }),
                    let decision = node["decision"]?.stringValue.flatMap(JournalEntry.Decision.init)
                else { return nil }
                return JournalEntry(
                    id: id,
                    date: Timestamp(milliseconds: node["date"]?.int64Value ?? 0),
                    table: name,
                    itemID: node["itemId"]?.stringValue ?? "",
                    decision: decision,
                    givenUp: schema.table(name).flatMap { table in node["givenUp"].flatMap { record($0, table) } }
                )
            }
    }

    /// Forgets all entries.
    static func removeAll(_ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.journalEntry))
    }

    private static let newest = ConfigurationTable.query(.journalEntry).ordered(by: "key", .descending)

    private static func record(_ node: JSONNode, _ table: TableDefinition) -> Record? {
        do throws(RecordCodingError) {
            return try RecordCoding(table).record(node)
        } catch {
            // It does not fit the table any more, and nobody waits for it.
            return nil
        }
    }

    /// Numbers as texts of one length, so that they are ordered as numbers.
    private static func key(_ number: Int64) -> String {
        let digits = String(max(0, number))
        return String(repeating: "0", count: 19 - digits.count) + digits
    }
}
