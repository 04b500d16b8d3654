internal import SyncContract

/// The rows that a purge has removed and that a cursor may still bring as they were, in the rows of `MS_TableConfig`: for
/// each query the ids, versions and stamps. They are passed over until the cursor has passed them.
///
/// A stamp is in milliseconds, or the server's text where that says more.
enum PurgedRowStorage {
    /// Stands for the rows that are asked for by their ids. No query has this name.
    static let marked = ""

    /// Remembers a row of a query.
    static func insert(
        _ row: Record,
        _ queryID: String,
        of table: String,
        _ transaction: inout StoreTransaction
    ) throws {
        guard let id = row.id.stringValue, isTold(row) else { return }
        let stamp = row.updatedAt.map { $0.finerText ?? String($0.milliseconds) } ?? ""
        try ConfigurationTable.set(
            .purgedRow,
            table,
            prefix(queryID) + id,
            ["value": .string(stamp + " " + (row.version ?? "")), "query": .string(queryID)],
            &transaction
        )
    }

    /// Whether a row says enough of itself to be known again.
    static func isTold(_ row: Record) -> Bool { row.version != nil || row.updatedAt != nil }

    /// The rows to pass over in pulls of a query: ids, versions and stamps.
    static func rows(
        _ queryID: String,
        of table: String,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Record] {
        let start = prefix(queryID).utf8.count
        var rows: [Record] = []
        try transaction.forEach(query(queryID, table)) { row in
            let parts = (row["value"]?.stringValue ?? "")
                .split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = row["key"]?.stringValue, parts.count == 2 else { return }
            var purged = Record(id: .string(String(decoding: key.utf8.dropFirst(start), as: UTF8.self)), [:])
            let stamp = Int64(parts[0]).map(Timestamp.init(milliseconds:)) ?? Timestamp(String(parts[0]))
            if let stamp { purged["updatedAt"] = .date(stamp) }
            if !parts[1].isEmpty { purged["version"] = .string(String(parts[1])) }
            rows.append(purged)
        }
        return rows
    }

    /// Forgets a row of a query.
    static func remove(
        _ id: RecordID,
        _ queryID: String,
        of table: String,
        _ transaction: inout StoreTransaction
    ) throws {
        guard let id = id.stringValue else { return }
        try transaction.delete(ConfigurationTable.query(.purgedRow, table, prefix(queryID) + id))
    }

    /// Forgets the rows of a query.
    static func removeAll(
        _ queryID: String,
        of table: String,
        _ transaction: inout StoreTransaction
    ) throws {
        try transaction.delete(query(queryID, table))
    }

    /// Forgets the rows of all queries of a table.
    static func removeAll(of table: String, _ transaction: inout StoreTransaction) throws {
        try transaction.delete(ConfigurationTable.query(.purgedRow, table))
    }

    private static func query(_ queryID: String, _ table: String) -> Query {
        ConfigurationTable.query(.purgedRow, table).filtered(by: Column("query") == .string(queryID))
    }

    /// Ends where the id begins, whatever either of them contains.
    private static func prefix(_ queryID: String) -> String { JSONText.quoted(queryID) }
}

/// The rows that one pull passes over because a purge has removed them.
struct PurgedRows: Sendable {
    private let table: TableDefinition
    private var rows: [RecordID: Record]

    init(_ rows: [Record], of table: TableDefinition) {
        self.table = table
        self.rows = Dictionary(rows.map { ($0.id.folded(for: table.idComparison), $0) }) { _, last in last }
    }

    var isEmpty: Bool { rows.isEmpty }
    var all: [Record] { Array(rows.values) }

    subscript(id: RecordID) -> Record? { rows[id.folded(for: table.idComparison)] }

    /// Whether a row of the server is one of these as it was. A server that counts versions by row uses them again for a row
    /// that is made anew.
    func contains(_ record: Record) -> Bool {
        guard let purged = self[record.id], !record.isDeleted else { return false }
        if let version = purged.version { return version == record.version && !purged.contradicts(record) }
        return purged.updatedAt == record.updatedAt
    }

    mutating func remove(_ ids: [RecordID]) {
        for id in ids { rows[id.folded(for: table.idComparison)] = nil }
    }
}
