internal import OfflineSync
internal import RemoteContract
internal import SyncContract

/// Which rows name a file: in the columns of the schema that are declared to.
struct AttachmentReferences: Sendable {
    private let columns: [(table: TableDefinition, column: ColumnDefinition)]

    /// The tables whose changes may let a file go, or travel.
    let tables: Set<String>

    init(_ schema: StoreSchema) {
        columns = schema.tables.flatMap { table in
            table.columns.filter { $0.attachment != nil }.map { (table, $0) }
        }
        tables = Set(columns.map(\.table.name))
    }

    /// Whether any row on this device names a file.
    func name(_ id: AttachmentID, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        for (table, column) in columns where try transaction.first(Self.rows(table, column, id).selecting([])) != nil {
            return true
        }
        return false
    }

    /// Whether the server has taken a row that names a file: one of a synced table of which no change waits.
    func wereTaken(_ id: AttachmentID, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        try !taken(among: [id], &transaction).isEmpty
    }

    /// The files of which the server has taken a row that names them.
    ///
    /// The same number of queries however many files are asked about: thousands may wait for their rows.
    func taken(
        among ids: [AttachmentID],
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<AttachmentID> {
        var taken: Set<AttachmentID> = []
        for (table, column) in columns where !table.isLocalOnly && !column.isLocal {
            let rows = Query(table.name)
                .filtered(by: Column(column.name).isAny(of: ids.flatMap(\.spellings)))
                .selecting([column.name])
            var files: [String: AttachmentID] = [:]
            try transaction.forEach(rows) { row in
                files[row.id.stringValue ?? ""] = row[column.name]?.stringValue.flatMap(AttachmentID.init)
            }
            let waiting = try AttachmentRemovals.waiting(among: Array(files.keys), in: table, &transaction)
            taken.formUnion(files.filter { !waiting.contains($0.key) }.values)
        }
        return taken
    }

    private static func rows(_ table: TableDefinition, _ column: ColumnDefinition, _ id: AttachmentID) -> Query {
        Query(table.name).filtered(by: Column(column.name).isAny(of: id.spellings))
    }
}
