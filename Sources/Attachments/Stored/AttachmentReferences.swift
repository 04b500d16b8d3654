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
        for (table, column) in columns where !table.isLocalOnly && !column.isLocal {
            for row in try transaction.records(Self.rows(table, column, id).selecting([])) {
                guard let item = row.id.stringValue else { continue }
                if try !AttachmentRemovals.isWaiting(item, in: table, &transaction) { return true }
            }
        }
        return false
    }

    private static func rows(_ table: TableDefinition, _ column: ColumnDefinition, _ id: AttachmentID) -> Query {
        Query(table.name).filtered(by: Column(column.name).isAny(of: id.spellings))
    }
}
