internal import OfflineSync
internal import RemoteContract
internal import SyncContract

/// What is to be carried, as the store says.
enum TransferList {
    /// How many files to send are found in one go; the rest comes when these are done.
    private static let bound = 400

    /// - Parameters:
    ///   - references: Which rows name files.
    ///   - waitedFor: The files for which somebody waits at this moment.
    ///   - transaction: The state that counts.
    /// - Returns: First what somebody waits for here, then what the server lacks, then what it is to remove.
    /// - Throws: What the store throws.
    static func read(
        _ references: AttachmentReferences,
        waitedFor: Set<AttachmentID> = [],
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Transfer] {
        let (removals, asked) = try removals(&transaction)
        let files = Query(AttachmentFiles.table.name)
        let noFailure = Column<String?>("failure") == nil
        let wanted = files.filtered(by: Column("isWanted") == true && Column("isHere") == false && noFailure)
        // All of them: those that the server does not have stay wanted, and must not hide the others.
        let missing = try transaction.records(wanted.ordered(by: "lastUsed").selecting([]))
            .compactMap { AttachmentID($0.id.stringValue ?? "") }
            .filter { !asked.contains($0) }
        var transfers = (missing.filter(waitedFor.contains) + missing.filter { !waitedFor.contains($0) })
            .map { Transfer(.download, $0) }
        transfers += try uploads(references, except: asked, &transaction)
        return transfers + removals
    }

    /// Files to send, at most so many: this is asked for after each one that was sent.
    private static func uploads(
        _ references: AttachmentReferences,
        except asked: Set<AttachmentID>,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Transfer] {
        let isUnsent = Column("isOnServer") == false && Column("isHere") == true && Column<String?>("failure") == nil
        var unsent = Query(AttachmentFiles.table.name).filtered(by: isUnsent).ordered(by: "lastUsed")
            .selecting([AttachmentMarks.isDue])
        unsent.limit = bound
        var uploads: [Transfer] = []
        while true {
            let rows = try transaction.records(unsent)
            let ids =
                rows.compactMap { row in
                    row.id.stringValue.flatMap(AttachmentID.init)
                        .map { (id: $0, isDue: row[AttachmentMarks.isDue]?.boolValue ?? false) }
                }
                .filter { !asked.contains($0.id) }
            let taken = try references.taken(among: ids.filter { !$0.isDue }.map(\.id), &transaction)
            uploads += ids.filter { $0.isDue || taken.contains($0.id) }.map { Transfer(.upload, $0.id) }
            guard uploads.count < bound, let limit = unsent.limit, rows.count == limit else { break }
            // Those whose rows wait may be many, and must not hide the others: all the rest at once.
            (unsent.offset, unsent.limit) = (limit, nil)
        }
        return Array(uploads.prefix(bound))
    }

    /// Files to remove from the server, each once, and those that the app has removed itself: nobody fetches or sends them any
    /// more. One that another change has given up, too, waits for that one: it may be given up itself, and then its row has
    /// the file.
    private static func removals(
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> ([Transfer], asked: Set<AttachmentID>) {
        var (due, asked, waiting): ([AttachmentID], Set<AttachmentID>, [(AttachmentID, Record)]) = ([], [], [])
        for note in try transaction.records(Query(AttachmentRemovals.table.name)) {
            guard let id = note["file"]?.stringValue.flatMap(AttachmentID.init) else { continue }
            if AttachmentRemovals.isAsked(note) { asked.insert(id) }
            if AttachmentRemovals.isDue(note) { due.append(id) } else { waiting.append((id, note)) }
        }
        // Thousands may wait, and mostly none of them is about a file that is due.
        let shared = Set(due).subtracting(asked)
        var held: Set<AttachmentID> = []
        for (id, note) in waiting where shared.contains(id) {
            if try AttachmentRemovals.standing(of: note, &transaction) == .waiting { held.insert(id) }
        }
        var seen: Set<AttachmentID> = []
        let removals = due.filter { !held.contains($0) && seen.insert($0).inserted }
        return (removals.map { Transfer(.remove, $0) }, asked)
    }
}
