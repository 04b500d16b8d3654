internal import OfflineSync
internal import RemoteContract
internal import SyncContract
internal import Synchronization

/// Which files are fetched before somebody asks for them, and which of them arrive.
final class AheadRules: Sendable {
    let rules: [AttachmentsAhead.Rule]
    /// Whose files are not noted yet.
    let arrived: ArrivedRows
    /// How much those will take that arrive.
    private let claims = Mutex<[AttachmentID: Int64]>([:])

    init(_ rules: [AttachmentsAhead.Rule], _ arrived: ArrivedRows) { (self.rules, self.arrived) = (rules, arrived) }

    /// Keeps room for a file, and says what all take that arrive.
    func claim(_ length: Int64, for id: AttachmentID) -> Int64 {
        claims.withLock { claims in
            claims[id] = length
            return Self.sum(claims)
        }
    }

    private static func sum(_ claims: [AttachmentID: Int64]) -> Int64 {
        claims.values.reduce(0) { $0.addingReportingOverflow($1).overflow ? .max : $0 + $1 }
    }

    func release(_ id: AttachmentID) { claims.withLock { $0[id] = nil } }

    /// The files that may be fetched now and fit beside what is here or arrives, and those that are being fetched; and when
    /// there may be more. In the order in which they were noted.
    func transfers(
        _ work: AttachmentWork,
        running: Set<Transfer>,
        _ reader: inout some StoreReading & ~Copyable
    ) throws -> ([Transfer], next: Timestamp?) {
        let (aheadFrom, now) = (Column("aheadFrom"), work.now)
        let day = Timestamp(milliseconds: now.milliseconds + AttachmentWork.longestAbsence)
        let missing = Query(AttachmentFiles.table.name)
            .filtered(by: Column("isHere") == false && aheadFrom != .null)
            .filtered(by: Column("isWanted") == false && Column<String?>("failure") == nil)
            .ordered(by: "aheadFrom")
        guard try reader.first(missing.selecting([])) != nil else { return ([], nil) }
        let later = missing.filtered(by: aheadFrom > .date(now) && aheadFrom <= .date(day))
        let next = try reader.first(later)?["aheadFrom"]?.dateValue
        let room = try work.spaceLimit - reader.spaceTaken() - claims.withLock { Self.sum($0) }
        let arriving = Column("id").isAny(of: running.map { .string($0.id.text) })
        // As `AttachmentWork.isDue` says.
        let due = missing.filtered(by: aheadFrom <= .date(now) || aheadFrom > .date(day))
        let length = Column("length")
        let fits = room > 0 ? length == .null || length <= .int64(room) || arriving : arriving
        // Without their keys, which take memory of their own.
        let files = try reader.records(due.filtered(by: fits).limited(to: 200).selecting([]))
        return (files.compactMap { $0.id.stringValue.flatMap(AttachmentID.init) }.map { Transfer(.ahead, $0) }, next)
    }
}
