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
    }

    /// What waits in groups.
    struct Groups: Sendable {
        /// Rises with every group that is written.
        var revision: Int64
        var members: [Member]
    }

    static func groups(_ transaction: inout some StoreReading & ~Copyable) throws -> Groups {
        let revision = try highestNumber(&transaction)
        return Groups(revision: revision, members: revision > 0 ? try members(&transaction) : [])
    }

    /// The highest number of a group that there ever was, 0 when there was none. It rises with every group.
    static func highestNumber(_ transaction: inout some StoreReading & ~Copyable) throws -> Int64 {
        try ConfigurationTable.row(.highestGroup, "", "", &transaction)?["value"]?.stringValue.flatMap { Int64($0) }
            ?? 0
    }

    static func setHighestNumber(_ number: Int64, _ transaction: inout StoreTransaction) throws {
        try ConfigurationTable.set(.highestGroup, "", "", ["value": .string(String(number))], &transaction)
    }

    private static func members(_ transaction: inout some StoreReading & ~Copyable) throws -> [Member] {
        let query = Query(operations).filtered(by: Column("groups") != .null)
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
