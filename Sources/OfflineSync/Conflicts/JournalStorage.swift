internal import RecordJSON
internal import SyncContract

/// The journal of automatic decisions, in rows of `MS_TableConfig` whose key is the number of the entry. The oldest leave
/// when there are too many.
///
/// They belong to no table, so that the index finds the newest of all; the value names the table of the item.
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
        let givenUpChange = decision.changesContent && error.kind != .delete ? error.item : nil
        let entry = JournalEntry(
            id: try newestNumber(&transaction) + 1,
            date: date,
            table: table.name,
            itemID: error.itemID,
            decision: decision,
            givenUp: givenUp,
            givenUpChange: givenUpChange
        )
        var json = JSONWriter()
        json.add("table", table.name)
        json.add("date", date.milliseconds)
        json.add("itemId", error.itemID)
        json.add("decision", decision.rawValue)
        if let givenUp { json.add("givenUp", json: try RecordCoding.object(givenUp)) }
        if let givenUpChange { json.add("givenUpChange", json: try RecordCoding.object(givenUpChange)) }
        try ConfigurationTable.set(
            .journalEntry,
            "",
            key(entry.id),
            ["value": .string(json.object)],
            &transaction
        )
        let oldest = key(entry.id - Int64(mostEntries))
        try transaction.delete(entries.filtered(by: Column("key") <= .string(oldest)))
        return entry
    }

    /// The entries, the newest first.
    static func all(
        _ transaction: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [JournalEntry] {
        try transaction.records(entriesOfAllVersions.ordered(by: "key", .descending))
            .compactMap { row -> JournalEntry? in
                guard let id = row["key"]?.stringValue.flatMap({ Int64($0) }),
                    let node = try row["value"]?.stringValue.map({ try JSONNode(parsing: Array($0.utf8)) }),
                    let name = node["table"]?.stringValue ?? row["table"]?.stringValue,
                    let decision = node["decision"]?.stringValue.flatMap(JournalEntry.Decision.init)
                else { return nil }
                let table = schema.table(name)
                return JournalEntry(
                    id: id,
                    date: Timestamp(milliseconds: node["date"]?.int64Value ?? 0),
                    table: name,
                    itemID: node["itemId"]?.stringValue ?? "",
                    decision: decision,
                    givenUp: record(node["givenUp"], table),
                    givenUpChange: record(node["givenUpChange"], table)
                )
            }
    }

    /// Forgets all entries.
    static func removeAll(_ transaction: inout StoreTransaction) throws {
        let number = try newestNumber(&transaction)
        try transaction.delete(entriesOfAllVersions)
        // Later ones go on behind it: somebody may still show those that were read.
        guard number > 0 else { return }
        try ConfigurationTable.set(.journalEntry, "", key(number), ["value": "{}"], &transaction)
    }

    private static let entries = ConfigurationTable.query(.journalEntry, "")
    private static let newest = entries.ordered(by: "key", .descending)

    /// With those of earlier versions, which were kept under the table of the item: every setting is looked at.
    private static let entriesOfAllVersions = Query(SystemTables.configuration.name)
        .filtered(by: Column("keyType") == .int64(ConfigurationTable.KeyType.journalEntry.rawValue))

    /// The number of the newest entry, 0 when there is none.
    private static func newestNumber(_ transaction: inout StoreTransaction) throws -> Int64 {
        if try transaction.first(newest) == nil { try adoptEntriesOfEarlierVersions(&transaction) }
        return try transaction.first(newest)?["key"]?.stringValue.flatMap { Int64($0) } ?? 0
    }

    /// Keeps the entries of earlier versions as this one does.
    private static func adoptEntriesOfEarlierVersions(_ transaction: inout StoreTransaction) throws {
        for row in try transaction.records(entriesOfAllVersions) {
            guard let table = row["table"]?.stringValue, let value = row["value"]?.stringValue,
                case .object(let members, _) = try JSONNode(parsing: Array(value.utf8))
            else { continue }
            var json = JSONWriter()
            json.add("table", table)
            for member in members { json.add(member.name, json: member.value.text) }
            var adopted = row
            adopted["table"] = ""
            adopted["value"] = .string(json.object)
            try transaction.upsert([adopted], into: SystemTables.configuration.name)
        }
    }

    private static func record(_ node: JSONNode?, _ table: TableDefinition?) -> Record? {
        guard let node, let table else { return nil }
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
