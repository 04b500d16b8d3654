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
        // Those whose rows wait may be many, and must not hide the others.
        for file in try transaction.attachments(unsent) where try references.wereTaken(file.id, &transaction) {
            transfers.append(Transfer(.upload, file.id))
            if transfers.count >= 2 * bound { break }
        }
        return try transfers + removals(&transaction)
    }

    /// Files to remove from the server, each once. One that another change has given up, too, waits for that one: it may be
    /// given up itself, and then its row has the file.
    private static func removals(
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Transfer] {
        var (files, asked, held): ([AttachmentID], Set<AttachmentID>, Set<AttachmentID>) = ([], [], [])
        for note in try transaction.records(Query(AttachmentRemovals.table.name)) {
            guard let id = note["file"]?.stringValue.flatMap(AttachmentID.init) else { continue }
            switch try AttachmentRemovals.standing(of: note, &transaction) {
            case .due:
                files.append(id)
                if AttachmentRemovals.isAsked(note) { asked.insert(id) }
            case .waiting: held.insert(id)
            case .withdrawn: break
            }
        }
        var seen: Set<AttachmentID> = []
        return files.filter { (asked.contains($0) || !held.contains($0)) && seen.insert($0).inserted }
            .map { Transfer(.remove, $0) }
    }
}
