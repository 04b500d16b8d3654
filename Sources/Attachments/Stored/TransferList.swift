internal import OfflineSync
internal import RemoteContract
internal import SyncContract

/// What is to be carried, as the store says.
enum TransferList {
    /// How many of a kind are looked at in one go; the rest comes when these are done.
    private static let bound = 200

    /// - Parameters:
    ///   - references: Which rows name files.
    ///   - transaction: The state that counts.
    /// - Returns: First what somebody waits for here, then what the server lacks, then what it is to remove.
    /// - Throws: What the store throws.
    static func read(
        _ references: AttachmentReferences,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Transfer] {
        let files = Query(AttachmentFiles.table.name)
        let noFailure = Column<String?>("failure") == nil
        let wanted = files.filtered(by: Column("isWanted") == true && Column("isHere") == false && noFailure)
        var transfers = try transaction.attachments(wanted.limited(to: bound)).map { Transfer(.download, $0.id) }
        let unsent = files.filtered(by: Column("isOnServer") == false && Column("isHere") == true && noFailure)
            .ordered(by: "lastUsed")
            .selecting([])
        // Those whose rows wait may be many, and must not hide the others.
        let ids = try transaction.records(unsent).compactMap { $0.id.stringValue.flatMap(AttachmentID.init) }
        let taken = try references.taken(among: ids, &transaction)
        transfers += ids.lazy.filter(taken.contains).prefix(2 * bound).map { Transfer(.upload, $0) }
        return try transfers + removals(references, &transaction)
    }

    private static func removals(
        _ references: AttachmentReferences,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Transfer] {
        try transaction.records(Query(AttachmentRemovals.table.name))
            .compactMap { record in
                guard let id = record["file"]?.stringValue.flatMap(AttachmentID.init) else { return nil }
                return try isDue(record, &transaction) ? Transfer(.remove, id) : nil
            }
    }

    /// Whether the change that has let a file go was taken, or is no more.
    static func isDue(_ removal: Record, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        guard let name = removal["table"]?.stringValue, let item = removal["item"]?.stringValue else { return true }
        do {
            return try !AttachmentRemovals.isWaiting(item, in: transaction.definition(of: name), &transaction)
        } catch let error as StoreError where error.code == .tableNotFound {
            // Of a table that is no longer declared nothing is sent any more.
            return true
        }
    }
}
