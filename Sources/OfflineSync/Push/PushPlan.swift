internal import SyncContract
internal import SyncMachines

/// What a push has sent, has under way and may send next.
///
/// Operations that were made in no group are taken from the queue one by one, in ascending order. Of those of groups one that
/// stands behind may have to go first: they are known as far as any of these groups reaches, which is where the plan ends until
/// nothing before that is left to be sent. They are read again whenever a group was written meanwhile.
struct PushPlan: Sendable {
    /// The tables whose operations are sent.
    let tables: Set<String>
    /// The last number that is sent.
    let last: Int64
    /// As of which group this is.
    private(set) var revision: Int64
    /// Up to which number operations of groups are known. Nothing behind it is in a group with any of them.
    private(set) var horizon: Int64
    /// The number after which operations of no group follow.
    private(set) var cursor: Int64 = 0
    private let declared: Set<String>
    private var order = PushOrder()
    private var members: [GroupStorage.Member] = []
    /// The numbers of members that follow each other, where there are many: no operation of no group is looked for there.
    private var runs: [ClosedRange<Int64>] = []
    /// What has come back into the queue since the store was opened, as of when this is.
    private var returned: Int
    private var underWay: [Int64: Started] = [:]
    /// What has had its turn in this push. Mostly these are few ranges, so that a plan is soon copied.
    private var ended = NumberRanges()
    /// What counts as if it had had its turn, in a plan that is thought through: what has had it is not copied for that.
    private var assumed: Set<Int64> = []
    /// What of it was not sent, because others that have to go before it were not.
    private var held: [Int64: [Int64]] = [:]
    /// Those of it whose rows refer to rows that the server has given no id yet.
    private var awaiting: [Int64: InFlightOperation] = [:]
    /// What was let have its turn once more. Of tables that were not asked for it may not come to that.
    private var released: Set<Int64> = []
    /// What was held back before it was let have its turn, when it was as often as that may help.
    private var circle: [Int64: [Int64]] = [:]
    /// What of that was held back for each of those that were in its way.
    private var waitingFor: [Int64: [Int64]] = [:]
    /// Whether anything was sent since what was held back has had its turn last.
    private var hasSent = false

    private struct Started {
        var references: OperationReferences?
        /// As of which group it was started as a member of one.
        var revision: Int64?
    }

    init(
        _ schema: StoreSchema,
        tables: Set<String>?,
        through last: Int64,
        _ groups: GroupStorage.Groups,
        returned: Int = 0
    ) {
        declared = Set(schema.syncedTables.map(\.name))
        self.tables = tables ?? declared
        self.last = last
        revision = groups.revision
        horizon = groups.through
        self.returned = returned
        take(groups, returned: returned)
    }

    /// Whether groups are as they were when the order was made, and nothing has come back into the queue.
    func isCurrent(_ revision: Int64, returned: Int) -> Bool { self.revision == revision && self.returned == returned }

    /// Takes over what has become of the groups. What has come back may stand anywhere. Where only more of them is known, what
    /// is held back stays so: what has been taken since may have stood between it and what is in its way.
    mutating func take(_ groups: GroupStorage.Groups, returned: Int) {
        let isMore = revision == groups.revision && returned == self.returned
        let order = self.order
        func isHeld(_ number: Int64) -> Bool { isMore && order.contains(number) && !order.isLeft(number) }
        if !isMore { cursor = 0 }
        (revision, horizon, self.returned) = (groups.revision, groups.through, returned)
        members = groups.members
        runs = Self.runs(of: members)
        let entries = groups.members.map { member in
            PushOrder.Entry(
                member.number,
                member.memberships,
                isBlocked: !member.isToSend || member.number > last || ended.contains(member.number)
                    || !declared.contains(member.table) || isHeld(member.number),
                isWanted: tables.contains(member.table)
            )
        }
        self.order = PushOrder(entries, underWay: Set(underWay.keys))
    }

    private static func runs(of members: [GroupStorage.Member]) -> [ClosedRange<Int64>] {
        var runs: [ClosedRange<Int64>] = []
        var start = members.startIndex
        for index in members.indices {
            let isLast = index + 1 == members.endIndex || members[index + 1].number != members[index].number + 1
            guard isLast else { continue }
            if index - start >= 64 { runs.append(members[start].number...members[index].number) }
            start = index + 1
        }
        return runs
    }

    /// Where operations of no group may stand behind a number and before another one: the first stretch without many members.
    func stretch(after number: Int64, through end: Int64) -> ClosedRange<Int64>? {
        var (low, high) = (0, runs.count)
        while low < high {
            let middle = (low + high) / 2
            if runs[middle].upperBound > number { high = middle } else { low = middle + 1 }
        }
        var start = number + 1
        if low < runs.count, runs[low].contains(start) {
            start = runs[low].upperBound + 1
            low += 1
        }
        guard start <= end else { return nil }
        return start...(low < runs.count ? min(end, runs[low].lowerBound - 1) : end)
    }

    /// The last number that may be sent as things stand.
    var end: Int64 { min(last, horizon) }

    /// The operation of a group that comes next, when there is one. Those of no group with lower numbers go first.
    var nextMember: Int64? { order.next }

    /// Whether nothing is under way.
    var isIdle: Bool { underWay.isEmpty }

    /// The operations that are under way, in the order of their numbers.
    var numbersUnderWay: [Int64] { underWay.keys.sorted() }

    /// Whether an operation may be sent beside those that are under way, ahead of another one when one is given.
    func maySend(_ number: Int64, _ references: OperationReferences, aheadOf follower: Int64? = nil) -> Bool {
        isInTurn(number, aheadOf: follower)
            && !underWay.values.contains { $0.references?.isTied(to: references) ?? false }
    }

    /// What is sent ahead takes the place of its follower: what that has to wait for goes before both. Others may have been sent
    /// ahead that stand before it in its groups: it waits for their answers, by which it may be held back.
    private func isInTurn(_ number: Int64, aheadOf follower: Int64?) -> Bool {
        guard let follower else { return !isMember(number) || order.maySend(number) }
        return (!isMember(number) || isLeftAhead(number)) && (!isMember(follower) || order.maySend(follower))
    }

    private func isLeftAhead(_ number: Int64) -> Bool {
        order.isLeft(number) && !underWay.keys.contains { order.comesBefore($0, number) }
    }

    /// Whether an operation has had its turn in this push, or is under way.
    func hasBegun(_ number: Int64) -> Bool { hasEnded(number) || underWay[number] != nil }

    /// Whether an operation may be sent ahead of what it follows, because a row that is sent refers to its row. It goes along
    /// whatever tables were asked for.
    func maySendAhead(_ operation: TableOperation) -> Bool {
        operation.isToSend && operation.id <= last && declared.contains(operation.table) && !hasBegun(operation.id)
            && (!isMember(operation.id) || order.isLeft(operation.id))
    }

    /// Whether an operation has had its turn in this push.
    func hasEnded(_ number: Int64) -> Bool { ended.contains(number) || assumed.contains(number) }

    /// Whether an operation is of a group, so that it matters to others what becomes of it.
    func isMember(_ number: Int64) -> Bool { order.contains(number) }

    /// As of which group an operation that is under way was started as a member of one, nil when it was none.
    func startedAsMember(_ number: Int64) -> Int64? { underWay[number]?.revision }

    /// Takes note that an operation is being sent.
    mutating func start(_ inFlight: InFlightOperation) {
        let number = inFlight.operation.id
        // One of a circle goes first: what waits for it can go behind it.
        if circle[number] != nil { for waiting in waiting(for: number) { circle[waiting] = nil } }
        if isMember(number) { order.start(number) }
        // Before a member of a group all of no group were chosen that may be sent. One that is sent ahead passes others by.
        if inFlight.aheadOf == nil { cursor = max(cursor, isMember(number) ? number - 1 : number) }
        awaiting[number] = nil
        hasSent = true
        underWay[number] = Started(references: inFlight.references, revision: isMember(number) ? revision : nil)
    }

    /// Whether what has to come after an operation has to wait for the next push: it waits, and is not sent by this one.
    func holdsBack(_ operation: TableOperation) -> Bool {
        underWay[operation.id] == nil && !maySendAhead(operation)
    }

    /// The operations of groups that cannot be waited for by another one, because they would be held back with that.
    func heldBack(with number: Int64) -> Set<Int64> {
        var found = PushOrder.Found()
        return Set(order.left(behind: number, &found))
    }

    /// Whether an operation of a group is sent in its turn: its table was asked for, or that of one which comes after it.
    func isWanted(_ number: Int64) -> Bool { order.isWanted(number) }

    /// What has to be sent next so that an operation of a group can be; nil when that cannot.
    func lead(to number: Int64) -> PushOrder.Lead? { order.lead(to: number) }

    /// The operations of groups that come after another one, because groups have changed their items in that order.
    func followers(of number: Int64) -> Set<Int64> { order.followers(of: number) }

    /// Whether an operation of a group may be sent before another one of a group: nothing is in its way, or they come before
    /// each other.
    func mayPass(_ number: Int64, _ other: Int64) -> Bool { order.maySend(number) || order.areOne(number, other) }

    /// Takes note that an operation is not sent, because others that have to go before it are not.
    mutating func hold(_ number: Int64, for others: [Int64] = []) {
        if !isMember(number) { cursor = max(cursor, number) }
        holdBack(number, for: others)
    }

    /// Takes note that an operation is not sent, because its row refers to rows that the server has given no id yet. Where
    /// it was to be sent ahead of another one, those before it are still to have their turn.
    mutating func hold(_ inFlight: InFlightOperation) {
        let number = inFlight.operation.id
        if inFlight.aheadOf == nil {
            hold(number, for: inFlight.awaited)
        } else {
            holdBack(number, for: inFlight.awaited)
        }
        awaiting[number] = inFlight
    }

    /// The same of one that was started: where it was sent ahead, those between it and what it was sent ahead of are still to
    /// have their turn.
    mutating func holdBack(_ number: Int64, for others: [Int64] = []) {
        held[number] = others
        awaiting[number] = nil
        skip(number, isSettled: false)
    }

    /// The operations that are not sent, because others that have to go before them are not.
    var heldBack: Set<Int64> { released.filter { !hasBegun($0) }.union(held.keys) }

    /// Takes out those of them whose rows refer to rows that the server has given no id yet: they are sent behind the others.
    mutating func takeHeldForIDs() -> [InFlightOperation] {
        let waiting = awaiting.filter { held[$0.key] != nil }.sorted { $0.key < $1.key }.map(\.value)
        for inFlight in waiting { held[inFlight.operation.id] = nil }
        awaiting = [:]
        return waiting
    }

    /// The operations of groups that were to be sent and have not had their turn, but for those that were held back: something
    /// stands before them.
    var leftMembers: [Int64] {
        let held = heldBack
        return
            members.filter {
                $0.isToSend && $0.number <= last && tables.contains($0.table) && !hasBegun($0.number)
                    && !held.contains($0.number)
            }
            .map(\.number)
    }

    /// The operations of groups that wait for others to be settled, in an order from which nothing was taken yet.
    var wholeOrder: PushOrder { PushOrder(members.map { PushOrder.Entry($0.number, $0.memberships) }) }

    /// Lets what was held back have its turn once more, as long as that leads to anything: what was in its way may have been
    /// sent since. When it leads to nothing, some may wait for each other.
    ///
    /// - Returns: Whether there is such.
    mutating func release() -> Bool {
        let isStuck = !hasSent
        guard !held.isEmpty, !isStuck || circle.isEmpty else { return false }
        hasSent = false
        // In their order they are taken from the beginning of a range, not from the middle.
        for number in held.keys.sorted() { ended.remove(number) }
        released.formUnion(held.keys)
        cursor = held.keys.filter { !isMember($0) }.min().map { $0 - 1 } ?? cursor
        // What comes after them in their groups is not held back any more.
        if held.keys.contains(where: isMember) { revision = Self.outOfDate }
        circle = isStuck ? held : [:]
        waitingFor = [:]
        for (number, others) in circle { for other in others { waitingFor[other, default: []].append(number) } }
        held = [:]
        return true
    }

    /// Has the order made anew: something was settled behind its turn, and what comes after it is not held back any more.
    mutating func orderAnew() { revision = Self.outOfDate }

    /// No group has this number: the order is made anew.
    private static let outOfDate: Int64 = -1

    /// Whether one that goes before an operation waits for that itself, in a group or through others that are held back: they
    /// would wait for each other for ever.
    func waits(_ other: Int64, for number: Int64) -> Bool {
        // Most wait for one that waits for nothing.
        guard circle[number] != nil, circle[other] != nil || order.isLeft(other) else { return false }
        return waiting(for: number, upTo: other).contains(other)
    }

    /// What waits for an operation, in a group or through others that were held back, and itself. The search ends with one
    /// when that is given.
    private func waiting(for number: Int64, upTo end: Int64? = nil) -> Set<Int64> {
        var (open, passed, waiting): ([Int64], Set<Int64>, Set<Int64>) = ([number], [], [])
        var found = PushOrder.Found()
        while let next = open.popLast() {
            guard passed.insert(next).inserted else { continue }
            for waited in [next] + order.left(behind: next, &found) {
                waiting.insert(waited)
                if waited == end { return waiting }
                open += waitingFor[waited] ?? []
            }
        }
        return waiting
    }

    /// Takes note that the next operation of a group cannot be sent. One that is not there any more has had no turn: it may
    /// come back into the queue.
    mutating func skip(_ number: Int64, isSettled: Bool) {
        order.start(number)
        guard !isSettled else { return order.end(number, isSettled: true) }
        end(number, isSettled: false)
    }

    /// Takes note that an operation has had its turn.
    mutating func end(_ number: Int64, isSettled: Bool) {
        underWay[number] = nil
        ended.insert(number)
        order.end(number, isSettled: isSettled)
    }

    /// Takes it that an operation which is under way will be settled, in a plan that is dropped before it is.
    mutating func assumeSettled(_ number: Int64) {
        underWay[number] = nil
        assumed.insert(number)
        order.end(number, isSettled: true)
    }
}
