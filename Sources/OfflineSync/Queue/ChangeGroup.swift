internal import SyncContract
internal import SyncMachines

/// The changes of one transaction: gives numbers to new operations, and remembers which operations are a group.
struct ChangeGroup {
    /// Whether operations that are changed together are a group; otherwise every change stands for itself.
    private var isGroup: Bool
    private var number: Int64?
    private var position: Int64 = 0
    private var nextOperation: Int64?

    /// The operations that wait and were changed here, with all groups they are part of.
    private var operations: [Int64: [GroupMembership]] = [:]

    /// Whether more than one was changed here, also such as do not wait any more: that may be taken back.
    private var hasSeveral = false

    init(isGroup: Bool) { self.isGroup = isGroup }

    /// Makes a group of what is changed from here on, whoever changes it.
    mutating func begin() { isGroup = true }

    /// A number that no operation ever had. The store is asked once.
    mutating func newOperationNumber(_ transaction: inout StoreTransaction) throws -> Int64 {
        let number = try nextOperation ?? OperationQueue.newNumber(&transaction)
        nextOperation = number + 1
        return number
    }

    /// Makes an operation that was changed part of the group.
    mutating func add(_ operation: inout TableOperation, _ transaction: inout StoreTransaction) throws {
        guard isGroup else { return }
        let group = try number ?? GroupStorage.highestNumber(&transaction) + 1
        number = group
        var membership = GroupMembership(
            group: group,
            first: position,
            last: position,
            editCounter: operation.editCounter
        )
        position += 1
        if let last = operation.memberships.last, last.group == group {
            membership.first = last.first
            operation.memberships.removeLast()
        }
        operation.memberships.append(membership)
        if operations.contains(where: { $0.key != operation.id }) { hasSeveral = true }
        operations[operation.id] = operation.memberships
    }

    /// Takes note that an operation was not written after all.
    mutating func takeBack(_ operation: TableOperation) { operations[operation.id] = nil }

    /// Takes note that an operation does not wait any more.
    mutating func remove(_ operation: TableOperation) {
        if operations.removeValue(forKey: operation.id) != nil { hasSeveral = true }
    }

    /// Ends the group: what was changed alone is none.
    func end(_ transaction: inout StoreTransaction) throws {
        guard let number else { return }
        if hasSeveral { try GroupStorage.setHighestNumber(number, &transaction) }
        guard !hasSeveral, let (operation, memberships) = operations.first else { return }
        try transaction.upsert(
            [Record(id: .int64(operation), ["groups": GroupCoding.text(memberships.filter { $0.group != number })])],
            into: SystemTables.operations.name
        )
    }
}
