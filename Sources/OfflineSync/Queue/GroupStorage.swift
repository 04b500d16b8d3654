internal import SyncContract
internal import SyncMachines

/// Reads what waits in groups inside a transaction of the store.
enum GroupStorage {
    private static let operations = SystemTables.operations.name

    /// An operation of a group, as far as the order matters.
    struct Member: Sendable {
        var number: Int64
        var table: String
        var memberships: [GroupMembership]
        /// Whether its state is one that a push sends.
        var isToSend: Bool

        /// Whether its first group has created it, and has not changed it again.
        var isCreatedByItsFirstGroup: Bool { memberships[0].isOfCreation }
    }

    /// What waits in groups, from the beginning of the queue to where no group reaches any farther.
    struct Groups: Sendable {
        /// Rises with every group that is written.
        var revision: Int64
        var members: [Member]
        /// What has a higher number is in no group with any of the members. The highest of all when these are all that wait.
        var through: Int64
    }

    /// Reads what waits in groups as far as it is asked for, and from there to where no group reaches any farther: a queue may
    /// have a hundred thousand, of which the first few are to be sent.
    ///
    /// An operation that its first group has created has a higher number than all that were there before, and those behind it
    /// were created later still. So when that group is a later one than all those before it, nothing behind it is in any
    /// of these.
    ///
    /// - Parameters:
    ///   - number: At least to this number.
    ///   - isMore: Whether to look at more behind it: at as many operations as there are before it, and at two portions at least.
    ///     All is read again with each step, and what was held back or not asked for still waits.
    ///   - portion: How many operations are looked at in one query.
    ///   - transaction: In which it is read.
    /// - Returns: What waits in groups up to there.
    /// - Throws: What the store throws.
    static func groups(
        through number: Int64 = 0,
        andMore isMore: Bool = true,
        portion: Int,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Groups {
        let revision = try highestNumber(&transaction)
        var groups = Groups(revision: revision, members: [], through: .max)
        guard revision > 0 else { return groups }
        var (passed, latest): (Int64, Int64) = (0, 0)
        // Portions up to the number, and behind it.
        var (known, further) = (0, 0)
        while true {
            let isEnough = !isMore || further >= max(known, 2)
            if isEnough, groups.members.isEmpty, passed > number {
                groups.through = passed
                return groups
            }
            let end = try lastNumber(of: portion, after: passed, &transaction)
            for member in try members(after: passed, through: end, &transaction) {
                if isEnough, member.number > number, member.isCreatedByItsFirstGroup,
                    member.memberships[0].group > latest
                {
                    groups.through = member.number - 1
                    return groups
                }
                groups.members.append(member)
                latest = max(latest, member.memberships[member.memberships.count - 1].group)
            }
            guard end < .max else { return groups }
            if end <= number { known += 1 } else { further += 1 }
            passed = end
        }
    }

    /// The number of the last of so many operations that one query looks at; the highest of all when there are fewer.
    private static func lastNumber(
        of portion: Int,
        after number: Int64,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> Int64 {
        let query = Query(operations).filtered(by: Column("id") > .int64(number)).ordered(by: "id").selecting([])
            .skipping(portion - 1).limited(to: 1)
        return try transaction.first(query)?.id.int64Value ?? .max
    }

    /// The highest number of a group that there ever was, 0 when there was none. It rises with every group.
    static func highestNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        try ConfigurationTable.row(.highestGroup, "", "", &transaction)?["value"]?.stringValue.flatMap { Int64($0) }
            ?? 0
    }

    static func setHighestNumber(_ number: Int64, _ transaction: inout StoreTransaction) throws {
        try ConfigurationTable.set(.highestGroup, "", "", ["value": .string(String(number))], &transaction)
    }

    private static func members(
        after number: Int64,
        through last: Int64,
        _ transaction: inout some StoreReading & ~Copyable
    ) throws -> [Member] {
        let query = Query(operations)
            .filtered(by: Column("id") > .int64(number) && Column("id") <= .int64(last) && Column("groups") != .null)
            .selecting(["table", "groups", "state"])
            .ordered(by: "id")
        var members: [Member] = []
        try transaction.forEach(query) { row in if let member = member(row) { members.append(member) } }
        return members
    }

    /// Whether an operation waits, as part of a group.
    static func isMember(_ number: Int64, _ transaction: inout some StoreReading & ~Copyable) throws -> Bool {
        try transaction.record(.int64(number), in: operations).flatMap(member) != nil
    }

    private static func member(_ row: Record) -> Member? {
        guard let number = row.id.int64Value, let table = row["table"]?.stringValue,
            let memberships = row["groups"]?.stringValue.flatMap(GroupCoding.memberships), !memberships.isEmpty
        else { return nil }
        return Member(
            number: number,
            table: table,
            memberships: memberships,
            isToSend: row["state"].map(TableOperation.sentStates.contains) ?? false
        )
    }
}
