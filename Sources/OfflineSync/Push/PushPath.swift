internal import SyncContract
internal import SyncMachines

/// The way from an operation whose turn it is to the one that is sent in its place: before each of them the next one goes.
///
/// It is kept within a transaction that chooses several: when its end was chosen, what comes next is found from there.
/// Going all the way for each of them would take the square of the time.
struct PushPath {
    private struct Step {
        let operation: TableOperation
        /// What goes before it, in order.
        let before: [Int64]
        /// The highest number of these.
        let farthest: Int64?
        /// What of that was read; nil where it does not wait.
        var read: [Int64: TableOperation?] = [:]
        /// Nothing before this place of it is sent ahead any more.
        var place = 0
        /// What comes after the operation in groups, once that was asked for.
        var followers: Set<Int64>?

        mutating func operation(
            _ number: Int64,
            _ transaction: inout StoreTransaction,
            _ schema: StoreSchema
        ) throws -> TableOperation? {
            if let known = read[number] { return known }
            let other = try OperationQueue.operation(number, &transaction, schema)
            read.updateValue(other, forKey: number)
            return other
        }
    }

    private var steps: [Step] = []
    private var passed: Set<Int64> = []
    /// The place of the first deletion in a group: what goes ahead of it is another one whenever something was sent.
    private var changing: Int?
    /// What is held back with the first operation, once that was asked for.
    private var heldBack: Set<Int64>?

    /// The highest number of what goes before the last operation so far.
    var farthest: Int64? { steps.last?.farthest }

    /// The last operation so far, which is sent in the place of the first one when nothing has to go before it.
    var end: TableOperation? { steps.last?.operation }

    /// Goes back as far as something may have changed; to the beginning where the way was another operation's.
    mutating func goBack(for operation: TableOperation, _ expected: PushPlan) {
        guard steps.first?.operation.id == operation.id else {
            self = PushPath()
            return
        }
        if let end, expected.hasBegun(end.id) { removeLast() }
        while let changing, steps.count > changing + 1 { removeLast() }
    }

    private mutating func removeLast() {
        passed.remove(steps.removeLast().operation.id)
        if let place = changing, place >= steps.count { changing = nil }
    }

    /// Goes on to an operation, with the numbers of what goes before it, in order, and those of them that were read.
    mutating func append(
        _ operation: TableOperation,
        before: [Int64],
        read: [TableOperation] = [],
        _ expected: PushPlan
    ) {
        if changing == nil, operation.kind == .delete, expected.isMember(operation.id) { changing = steps.count }
        passed.insert(operation.id)
        var step = Step(operation: operation, before: before, farthest: before.max())
        for other in read { step.read[other.id] = other }
        steps.append(step)
    }

    /// The first operation that goes before the end and may be sent ahead of it. A deletion does not change the order of
    /// groups: of their parts only those go ahead of one in no group that would be held back with the first operation.
    mutating func next(
        _ expected: PushPlan,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> TableOperation? {
        guard let end else { return nil }
        let last = steps.count - 1
        for place in steps[last].place..<steps[last].before.count {
            let number = steps[last].before[place]
            // What has begun is not read.
            let other = expected.hasBegun(number) ? nil : try steps[last].operation(number, &transaction, schema)
            guard let other, expected.maySendAhead(other) else {
                // It stays so.
                if place == steps[last].place { steps[last].place += 1 }
                continue
            }
            if !passed.contains(number), mayGoAhead(other, of: end, expected) { return other }
        }
        return nil
    }

    private mutating func mayGoAhead(
        _ other: TableOperation,
        of end: TableOperation,
        _ expected: PushPlan
    ) -> Bool {
        guard end.kind == .delete, expected.isMember(other.id) else { return true }
        guard !expected.isMember(end.id) else { return expected.mayPass(other.id, end.id) }
        return isHeldBackWithFirst(other.id, expected)
    }

    private mutating func isHeldBackWithFirst(_ number: Int64, _ expected: PushPlan) -> Bool {
        let heldBack = heldBack ?? steps.first.map { expected.heldBack(with: $0.operation.id) } ?? []
        self.heldBack = heldBack
        return heldBack.contains(number)
    }

    /// Whether a part of a group would not be sent while the end waits for it: it would be held back with the first operation,
    /// or was not asked for.
    mutating func isLeftBehind(_ number: Int64, _ expected: PushPlan) -> Bool {
        guard expected.isMember(number), !expected.hasBegun(number) else { return false }
        return !expected.isWanted(number) || isHeldBackWithFirst(number, expected)
    }

    /// Whether an operation is on the way.
    func contains(_ number: Int64) -> Bool { passed.contains(number) }

    /// All that goes before the end and waits, but for what is on the way to it.
    mutating func beforeEnd(
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> [TableOperation] {
        guard let last = steps.indices.last else { return [] }
        return try steps[last].before.filter { !passed.contains($0) }
            .compactMap { try steps[last].operation($0, &transaction, schema) }
    }

    /// Whether an operation comes after the end, because groups have changed their items in that order.
    mutating func isBehindEnd(_ number: Int64, _ expected: PushPlan) -> Bool {
        guard let last = steps.indices.last else { return false }
        let followers = steps[last].followers ?? expected.followers(of: steps[last].operation.id)
        steps[last].followers = followers
        return followers.contains(number)
    }
}
