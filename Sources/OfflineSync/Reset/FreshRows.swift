internal import RecordJSON
internal import RemoteContract
internal import SyncContract

/// The rows of a server that was set up anew, as long as not all of them are here: beside those of before, in rows of
/// `MS_TableConfig`, with the cursors of the pulls that bring them. They are in the server's ids.
enum FreshRows {
    /// Adds a page. Of two rows of one id the later one counts.
    /// Whether a pull with parameters has brought it is remembered of rows set aside: without them the server may show none.
    static func insert(
        _ page: PullPage,
        of table: TableDefinition,
        hasParameters: Bool = false,
        _ transaction: inout StoreTransaction
    ) throws {
        var before = try entries(of: page, in: table, &transaction)
        var rows: [Record] = []
        // Those that a pull without parameters has met as well need none.
        var plain: Set<String> = []
        if hasParameters, !page.setAside.isEmpty {
            let ids = page.setAside.map { FieldValue.string(key($0.id, table)) }
            let query = ConfigurationTable.query(.freshRow, table.name).filtered(by: Column("key").isAny(of: ids))
            let entries = try transaction.records(query).map { try Entry($0, table) }
            plain = Set(entries.filter { $0.setAside != nil && !$0.hasParameters }.map(\.key))
        }
        func setAside(_ other: SetAsideRow, at key: String) {
            let reason = other.reason + (hasParameters && !plain.contains(key) ? parametersMark : "")
            rows.append(row(key, table, value: .string(other.id), reason: .string(reason)))
        }
        for record in page.records {
            guard let id = record.id.stringValue else { continue }
            let key = key(id, table)
            if let other = before[key]?.record, !other.isDeleted,
                IDCaseCollisions.isSuspected(record, besides: other, in: table)
            {
                let reason = IDCaseCollisions.reason("'\(other.id.stringValue ?? "")'", table)
                setAside(SetAsideRow(id: id, reason: reason), at: besides(key, id))
                continue
            }
            // What does not fit makes way, and stays named.
            if let other = before[key]?.setAside, other.id != id { setAside(other, at: besides(key, other.id)) }
            before[key] = Entry(key: key, record: record)
            rows.append(row(key, table, value: .string(try RecordCoding.object(record)), reason: .null))
        }
        for other in page.setAside {
            let key = key(other.id, table)
            let isBeside = before[key].map { $0.id != other.id } ?? false
            if !isBeside { before[key] = Entry(key: key, setAside: other) }
            setAside(other, at: isBeside ? besides(key, other.id) : key)
        }
        try transaction.upsert(rows, into: SystemTables.configuration.name)
    }

    /// Behind the reason why a row was set aside that a pull with parameters has met. No reason ends with it.
    private static let parametersMark = "\u{1}?"

    /// The place of a row beside another one whose id differs in case only, on a table that takes both for one.
    private static func besides(_ key: String, _ id: String) -> String { "\(key)\u{1}\(id)" }

    /// What has come so far under the ids of a page's rows, where ids of other spellings are the same.
    private static func entries(
        of page: PullPage,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws -> [String: Entry] {
        guard table.idComparison != .exact, !table.assignsIDs else { return [:] }
        let ids = page.records.compactMap(\.id.stringValue) + page.setAside.map(\.id)
        let query = ConfigurationTable.query(.freshRow, table.name)
            .filtered(by: Column("key").isAny(of: ids.map { .string(key($0, table)) }))
        let entries = try transaction.records(query).map { try Entry($0, table) }
        return Dictionary(entries.map { ($0.key, $0) }) { $1 }
    }

    /// What the server has of a row, by its id there; hidden when the row does not fit the table, nil when it did not come.
    static func row(
        _ serverID: String,
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Entry? {
        try transaction.record(rowID(key(serverID, table), table), in: SystemTables.configuration.name)
            .map { try Entry($0, table) }
    }

    /// A row that came.
    struct Entry: Sendable {
        /// Where it stands among the others.
        let key: String
        /// Nil when the row does not fit the table.
        private(set) var record: Record?
        /// The row that does not.
        private(set) var setAside: SetAsideRow?
        /// Whether a pull with parameters has met that.
        private(set) var hasParameters = false

        /// The id on the server.
        fileprivate var id: String? { record?.id.stringValue ?? setAside?.id }

        fileprivate init(key: String, record: Record? = nil, setAside: SetAsideRow? = nil) {
            (self.key, self.record, self.setAside) = (key, record, setAside)
        }

        fileprivate init(_ row: Record, _ table: TableDefinition) throws {
            key = row["key"]?.stringValue ?? ""
            let value = row["value"]?.stringValue ?? ""
            if let reason = row["query"]?.stringValue {
                hasParameters = reason.hasSuffix(parametersMark)
                let mark = hasParameters ? parametersMark : ""
                setAside = SetAsideRow(id: value, reason: String(reason.dropLast(mark.count)))
                // Whether the server may have failed for a while only was not stored.
                setAside?.mayPass = true
                return
            }
            let node = try JSONNode(parsing: Array(value.utf8))
            do throws(RecordCodingError) {
                record = try RecordCoding(table).record(node)
            } catch {
                // A column was declared since, with another type. Nobody looks at the content of a tombstone.
                let row = try RecordCoding(table).fittingRecord(node).record
                if row.isDeleted {
                    record = row
                } else {
                    setAside = SetAsideRow(id: row.id.stringValue ?? key, reason: error.message)
                }
            }
        }
    }

    /// Lends all rows, some at a time.
    static func forEachBatch(
        of table: TableDefinition,
        _ transaction: inout StoreTransaction,
        _ body: ([Entry], inout StoreTransaction) throws -> Void
    ) throws {
        var last: String?
        while true {
            var query = ConfigurationTable.query(.freshRow, table.name).ordered(by: "key").limited(to: 500)
            if let last { query = query.filtered(by: Column("key") > .string(last)) }
            let batch = try transaction.records(query).map { try Entry($0, table) }
            guard let end = batch.last?.key else { return }
            try body(batch, &transaction)
            last = end
        }
    }

    /// Which rows of the server, by their ids there, came: in the same order.
    static func came(
        _ serverIDs: [RecordID],
        of table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Bool] {
        let keys = serverIDs.map { $0.stringValue.map { key($0, table) } ?? "" }
        var came: Set<String> = []
        let query = ConfigurationTable.query(.freshRow, table.name)
            .filtered(by: Column("key").isAny(of: keys.map(FieldValue.string)))
            .selecting(["key"])
        try transaction.forEach(query) { row in
            if let key = row["key"]?.stringValue { came.insert(key) }
        }
        return keys.map(came.contains)
    }

    /// The cursors so far: of each query its name, its fingerprint and the cursor.
    static func cursors(
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [(queryID: String, query: String, cursor: String)] {
        try transaction.records(ConfigurationTable.query(.freshCursor, table))
            .map { row in
                (row["key"]?.stringValue ?? "", row["query"]?.stringValue ?? "", row["value"]?.stringValue ?? "")
            }
    }

    static func setCursor(
        _ cursor: String,
        _ queryID: String,
        of table: String,
        query: String,
        _ transaction: inout StoreTransaction
    ) throws {
        try ConfigurationTable.set(
            .freshCursor,
            table,
            queryID,
            ["value": .string(cursor), "query": .string(query)],
            &transaction
        )
    }

    /// Has a table brought from the beginning.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.freshRow, table))
        try transaction.delete(ConfigurationTable.query(.freshCursor, table))
    }

    static func removeAll(_ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.freshRow))
        try transaction.delete(ConfigurationTable.query(.freshCursor))
    }

    private static func key(_ serverID: String, _ table: TableDefinition) -> String {
        table.assignsIDs ? serverID : OperationCoding.itemKey(serverID, table)
    }

    /// An id that says what the row is about: writing it again needs no look-up.
    private static func rowID(_ key: String, _ table: TableDefinition) -> RecordID {
        .string("\(ConfigurationTable.KeyType.freshRow.rawValue) \(table.name) \(key)")
    }

    private static func row(
        _ key: String,
        _ table: TableDefinition,
        value: FieldValue,
        reason: FieldValue
    ) -> Record {
        Record(
            id: rowID(key, table),
            [
                "table": .string(table.name),
                "keyType": .int64(ConfigurationTable.KeyType.freshRow.rawValue),
                "key": .string(key), "value": value, "query": reason,
            ]
        )
    }
}
