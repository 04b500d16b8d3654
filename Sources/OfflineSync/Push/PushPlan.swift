internal import SyncContract
internal import SyncMachines

/// What a push has sent, has under way and may send next.
///
/// Operations that were made in no group are taken from the queue one by one, in ascending order. Those of groups are known
/// as a whole, because one that stands behind may have to go first; they are read again whenever a group was written
/// meanwhile.
struct PushPlan: Sendable {
    /// What to ask the queue for.
    struct Step: Sendable {
        var revision: Int64
        /// The number after which operations of no group follow.
        var cursor: Int64
        /// The operation of a group that comes next, when there is one.
        var member: Int64?
        /// The last number that an operation of no group may have.
        var last: Int64
        /// The tables whose operations are sent.
        var tables: [FieldValue]
    }

    private let tables: Set<String>
    private let declared: Set<String>
    private let last: Int64
    private var revision: Int64
    private var cursor: Int64 = 0
    private var order = PushOrder()
    private var underWay: [Int64: OperationReferences] = [:]
    /// What has had its turn in this push.
    private var ended: Set<Int64> = []

    init(_ schema: StoreSchema, tables: Set<String>?, through last: Int64, _ groups: GroupStorage.Groups) {
        declared = Set(schema.tables.map(\.name))
        self.tables = tables ?? declared
        self.last = last
        revision = groups.revision
        take(groups)
    }

    /// Takes over what has become of the groups.
    mutating func take(_ groups: GroupStorage.Groups) {
        revision = groups.revision
        let entries = groups.members.map { member in
            PushOrder.Entry(
                member.number,
                member.memberships,
                isBlocked: !member.isToSend || member.number > last || ended.contains(member.number)
                    || !declared.contains(member.table),
                isWanted: tables.contains(member.table)
            )
        }
        order = PushOrder(entries, underWay: Set(underWay.keys))
    }

    /// What to send next.
    var next: Step {
        let member = order.next
        return Step(
            revision: revision,
            cursor: cursor,
            member: member,
            last: member.map { min(last, $0 - 1) } ?? last,
            tables: tables.sorted().map(FieldValue.string)
        )
    }

    /// Whether an operation may be sent beside those that are under way.
    func maySend(_ references: OperationReferences) -> Bool {
        !underWay.values.contains { $0.isTied(to: references) }
    }

    /// Whether an operation has had its turn in this push.
    func hasEnded(_ number: Int64) -> Bool { ended.contains(number) }

    /// Whether an operation is of a group, so that it matters to others what becomes of it.
    func isMember(_ number: Int64) -> Bool { order.contains(number) }

    /// Takes note that an operation is being sent.
    mutating func start(_ operation: TableOperation, _ references: OperationReferences?) {
        if isMember(operation.id) {
            order.start(operation.id)
            // Otherwise one of no group would have been chosen.
            cursor = max(cursor, operation.id - 1)
        } else {
            cursor = operation.id
        }
        underWay[operation.id] = references
    }

    /// Takes note that the next operation of a group cannot be sent.
    mutating func skip(_ number: Int64, isSettled: Bool) {
        order.start(number)
        end(number, isSettled: isSettled)
    }

    /// Takes note that an operation has had its turn.
    mutating func end(_ number: Int64, isSettled: Bool) {
        underWay[number] = nil
        ended.insert(number)
        order.end(number, isSettled: isSettled)
    }
}
