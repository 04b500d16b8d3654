internal import ItemCoding
package import SyncContract

/// Files that belonged to a row which was deleted here, or names another one now. They are written down in the transaction of
/// that change, so that none is forgotten; what becomes of them on the server is for whoever carries files.
package enum AttachmentRemovals {
    /// The table; a store whose schema does not have it carries no files.
    package static let table = TableDefinition(
        "AttachmentRemovals",
        columns: [.init("file", .string), .init("table", .string), .init("item", .string)],
        indexes: [["file"]],
        isLocalOnly: true
    )

    /// Whether a change of a row waits to be sent.
    package static func isWaiting(
        _ itemID: String,
        in table: TableDefinition,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Bool {
        try !waiting(among: [itemID], in: table, &transaction).isEmpty
    }

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
    ///   - table: Its table.
    ///   - schema: The schema of the store.
    ///   - transaction: The one of the change.
    /// - Throws: What the store throws.
    static func note(
        of stored: Record,
        replacedBy row: Record?,
        in table: TableDefinition,
        _ schema: StoreSchema,
        _ transaction: inout StoreTransaction
    ) throws {
        let owning = table.columns.filter { $0.attachment == .owns && !$0.isLocal }
        guard !owning.isEmpty, !table.isLocalOnly, schema.table(Self.table.name) != nil,
            let item = stored.id.stringValue
        else { return }
        let records: [Record] = owning.compactMap { column in
            guard let file = stored[column.name]?.stringValue else { return nil }
            if let row { guard let value = row[column.name], value != .string(file) else { return nil } }
            // The same file of the same row is noted once.
            return Record(
                id: .string("\(table.name)/\(item)/\(file)"),
                ["file": .string(file), "table": .string(table.name), "item": .string(item)]
            )
        }
        if !records.isEmpty { try transaction.upsert(records, into: Self.table.name) }
    }
}
