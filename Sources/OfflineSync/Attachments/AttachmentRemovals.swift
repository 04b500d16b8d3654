internal import ItemCoding
internal import RemoteContract
package import SyncContract

/// Files that belonged to a row which was deleted here, or names another one now. They are written down in the transaction of
/// that change, so that none is forgotten, and are due when the server has taken it; what becomes of them on the server is for
/// whoever carries files.
package enum AttachmentRemovals {
    /// The table; a store whose schema does not have it carries no files.
    package static let table = TableDefinition(
        "AttachmentRemovals",
        columns: [
            .init("file", .string),
            // The row and the change that have given it up; null when the app itself has removed the file.
            .init("table", .string), .init("item", .string), .init("operation", .int64), .init("edit", .int64),
            .init("isTaken", .bool),
        ],
        indexes: [["file"], ["operation"]],
        isLocalOnly: true
    )

    /// The rows of which a change waits to be sent, in one query.
    package static func waiting(
        among itemIDs: [String],
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Set<String> {
        let keys = Dictionary(itemIDs.map { ($0, OperationCoding.itemKey($0, table)) }) { first, _ in first }
        let waiting = try OperationQueue.waitingItemKeys(among: Array(Set(keys.values)), in: table, &transaction)
        return Set(keys.filter { waiting.contains($0.value) }.keys)
    }

    /// Notes the files that a row has given up.
    ///
    /// - Parameters:
    ///   - stored: The row as it was.
    ///   - row: The values that were written over it; nil when it was deleted.
    ///   - operation: The change as it waits now; nil when nothing is to be sent.
    ///   - table: Its table.
    ///   - transaction: The one of the change.
    /// - Throws: What the store throws.
    static func note(
        of stored: Record,
        replacedBy row: Record?,
        for operation: TableOperation?,
        in table: TableDefinition,
        _ transaction: inout StoreTransaction
    ) throws {
        guard let operation, try concern(table, &transaction) else { return }
        let files = owning(table)
            .compactMap { column -> AttachmentID? in
                guard let file = stored[column.name].flatMap(AttachmentID.init(fieldValue:)) else { return nil }
                guard let row else { return file }
                return row[column.name].map { AttachmentID(fieldValue: $0) != file } ?? false ? file : nil
            }
        try note(Set(files), for: operation, &transaction)
    }

    /// The same for files of which it is known.
    static func note(
        _ files: Set<AttachmentID>,
        for operation: TableOperation,
        _ transaction: inout StoreTransaction
    ) throws {
        let records = files.sorted { $0.text < $1.text }
            .map { file in
                // The same file of the same row is noted once: it is the last change that counts.
                Record(
                    id: .string("\(operation.table)/\(operation.itemID)/\(file)"),
                    [
                        "file": .string(file.text), "table": .string(operation.table),
                        "item": .string(operation.itemID), "operation": .int64(operation.id),
                        "edit": .int64(operation.editCounter), "isTaken": .bool(false),
                    ]
                )
            }
        if !records.isEmpty { try transaction.upsert(records, into: table.name) }
    }

    /// The files that a row owns.
    static func files(of row: Record?, in table: TableDefinition) -> Set<AttachmentID> {
        Set(owning(table).compactMap { row?[$0.name].flatMap(AttachmentID.init(fieldValue:)) })
    }

    private static func owning(_ table: TableDefinition) -> [ColumnDefinition] {
        table.columns.filter { $0.attachment == .owns && !$0.isLocal }
    }

    /// Whether rows of a table own files, in a store that has any.
    static func concern(_ table: TableDefinition, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        guard !table.isLocalOnly, !owning(table).isEmpty else { return false }
        return try transaction.declares(Self.table.name)
    }
}

extension StoreReading where Self: ~Copyable {
    /// Whether the schema of the store has a table; those of files it has only where the app carries some.
    func declares(_ table: String) throws -> Bool {
        do {
            _ = try definition(of: table)
            return true
        } catch let error as StoreError where error.code == .tableNotFound {
            return false
        }
    }
}
