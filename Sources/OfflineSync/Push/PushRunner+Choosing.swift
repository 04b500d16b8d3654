internal import SyncContract
internal import SyncMachines

// What is sent next: several operations are chosen and remembered as sent in one transaction.
extension PushRunner {
    /// What follows in the queue.
    private enum Choice: Sendable {
        case operations([InFlightOperation])
        /// It waits for rows of others, which have no id yet.
        case waiting(InFlightOperation)
        /// What has to be sent before them cannot be, or not yet.
        case held([(number: Int64, others: [Int64])])
        /// Nothing may be sent beside what is under way, or nothing is left.
        case nothing
        /// The next operation of a group does not wait any more, or not to be sent.
        case gone(Int64, isSettled: Bool)
        /// It depends on what is in groups up to this number.
        case unknown(through: Int64)
    }

    /// The next operation, which is to leave now; nil when none may be sent beside what is under way, and when none is left.
    func next(
        _ plan: inout PushPlan,
        _ window: inout PushWindow,
        _ schema: StoreSchema
    ) async throws -> InFlightOperation? {
        while true {
            try Task.checkCancellation()
            if let prepared = nextPrepared(plan, &window) { return prepared }
            if let first = window.first, let references = first.references, !plan.isIdle,
                !plan.maySend(first.operation.id, references, aheadOf: first.aheadOf)
            {
                return nil
            }
            // It was changed since, or what stands before it was not taken.
            window.giveBack()
            if try await window.takeFollowing() { continue }
            let isFilled = try await thread.elsewhere { try await fill(&plan, &window, schema) }
            guard isFilled else { return nil }
        }
    }

    /// The next operation of those that were prepared, which is to leave now; nil when others have to be chosen first.
    func nextPrepared(_ plan: PushPlan, _ window: inout PushWindow) -> InFlightOperation? {
        guard let first = window.first, let references = first.references,
            plan.maySend(first.operation.id, references, aheadOf: first.aheadOf), marked.leaves(first.operation.id)
        else { return nil }
        window.removeFirst()
        return first
    }

    /// Chooses what is sent next.
    ///
    /// - Returns: Whether there may be something.
    private func fill(
        _ plan: inout PushPlan,
        _ window: inout PushWindow,
        _ schema: StoreSchema
    ) async throws -> Bool {
        let (choice, current) = try await choice(plan, window.size, givenUp: window.unsent, schema)
        plan = current
        var chosen: [InFlightOperation] = []
        if case .operations(let operations) = choice { chosen = operations }
        window.fill(with: chosen)
        switch choice {
        case .operations: return true
        case .nothing, .unknown: return false
        // What comes after it may be what others wait for that go before the rows whose ids it needs.
        case .waiting(let inFlight): plan.hold(inFlight)
        case .held(let held): for (number, others) in held { plan.hold(number, for: others) }
        case .gone(let number, let isSettled): plan.skip(number, isSettled: isSettled)
        }
        return true
    }

    /// Chooses what follows on operations that were prepared, while those leave.
    ///
    /// - Returns: What may be sent if all before it is taken; what else is found out is left to the choice behind that.
    func chooseAhead(
        _ plan: PushPlan,
        _ size: Int,
        behind before: [InFlightOperation],
        _ schema: StoreSchema
    ) async throws -> [InFlightOperation] {
        let (choice, _) = try await choice(plan, size, behind: before, isAhead: true, schema)
        guard case .operations(let chosen) = choice else { return [] }
        return chosen
    }

    /// What follows, and the plan by which it does: of groups that were written since it was made the order is another one.
    private func choice(
        _ plan: PushPlan,
        _ size: Int,
        behind before: [InFlightOperation] = [],
        isAhead: Bool = false,
        givenUp: [InFlightOperation] = [],
        _ schema: StoreSchema
    ) async throws -> (Choice, PushPlan) {
        let kept = Set(before.map(\.operation.id))
        do {
            // What was answered and still stands in the queue would be in the way of what comes after it.
            return try await recording.flush { transaction in
                marked.removeAll(but: kept)
                for inFlight in givenUp { try takeBack(inFlight, &transaction, schema) }
                var plan = plan
                let returned = marked.returned
                if try !plan.isCurrent(GroupStorage.highestNumber(&transaction), returned: returned) {
                    // What is prepared stands in an order that is no more, and the push does not know the other one yet.
                    guard !isAhead else { return (.nothing, plan) }
                    let groups = try GroupStorage.groups(
                        through: plan.horizon,
                        andMore: false,
                        portion: queuePortion,
                        &transaction
                    )
                    plan.take(groups, returned: returned)
                }
                var choice = try choice(plan, size, behind: before, &transaction, schema)
                while !isAhead, let number = end(of: choice, plan) {
                    let groups = try GroupStorage.groups(through: number, portion: queuePortion, &transaction)
                    plan.take(groups, returned: returned)
                    choice = try self.choice(plan, size, behind: before, &transaction, schema)
                }
                if case .operations(let operations) = choice { marked.add(operations) }
                return (choice, plan)
            }
        } catch {
            marked.removeAll(but: kept)
            throw error
        }
    }

    /// Up to which number the plan has to know at least what is in groups, so that there is a choice; nil when it knows enough.
    private func end(of choice: Choice, _ plan: PushPlan) -> Int64? {
        switch choice {
        case .unknown(let number): number
        // Before the end of the plan nothing is left, or nothing may be sent beside what is under way.
        case .nothing where plan.horizon < plan.last: plan.horizon
        default: nil
        }
    }

    /// Chooses in the order that there will be when everything is taken. What turns out to be otherwise is chosen anew.
    private func choice(
        _ plan: PushPlan,
        _ size: Int,
        behind before: [InFlightOperation],
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> Choice {
        var plan = plan
        var underWay = (plan.numbersUnderWay + before.map(\.operation.id))[...]
        for prepared in before { plan.start(prepared) }
        var expected = plan
        var singles = SingleOperations(plan, batchSize: size)
        var path = PushPath()
        var chosen: [InFlightOperation] = []
        var held: [(number: Int64, others: [Int64])] = []
        // Whether what is under way counts as taken. Then nothing is said of what comes after it but what it would send.
        var isAssuming = false
        let mostUnderWay = parallelOperations * sender.batchSize
        while underWay.count >= mostUnderWay, let answered = underWay.popFirst() {
            expected.assumeSettled(answered)
            isAssuming = true
        }
        // What is held is looked at again after it was taken note of: no transaction takes long for it.
        choosing: while chosen.count < size, held.count < PushWindow.most {
            var next = try singles.first(before: expected.nextMember, expected, &transaction, schema)
            if next == nil, let member = expected.nextMember {
                next = try OperationQueue.operation(member, &transaction, schema)
                guard next?.isToSend ?? false else {
                    guard chosen.isEmpty, held.isEmpty else { break }
                    return .gone(member, isSettled: try !GroupStorage.isMember(member, &transaction))
                }
            }
            var (aheadOf, isLater): (Int64?, Bool) = (nil, false)
            if let follower = next {
                switch try turn(of: follower, plan, expecting: expected, along: &path, &transaction, schema) {
                case .now: break
                case .later: isLater = true
                case .unknown(let number):
                    guard chosen.isEmpty, held.isEmpty else { break choosing }
                    return .unknown(through: number)
                case .after(let ahead): (next, aheadOf) = (ahead, follower.id)
                case .waits(let others):
                    guard chosen.isEmpty, !isAssuming else { break choosing }
                    held.append((follower.id, others))
                    expected.hold(follower.id, for: others)
                    continue
                }
            }
            guard held.isEmpty else { break }
            if !isLater, let next, let table = schema.table(next.table) {
                let references = try OperationReferences(next, table, schema, &transaction)
                if expected.maySend(next.id, references, aheadOf: aheadOf) {
                    var inFlight = try prepare(next, table, .notDone, references: references, &transaction)
                    inFlight.aheadOf = aheadOf
                    guard inFlight.awaited.isEmpty else {
                        guard chosen.isEmpty, !isAssuming else { break }
                        let isUnderWay = inFlight.awaited.contains { plan.numbersUnderWay.contains($0) }
                        return isUnderWay ? .nothing : .waiting(inFlight)
                    }
                    expected.start(inFlight)
                    underWay.append(next.id)
                    chosen.append(inFlight)
                    if underWay.count < mostUnderWay { continue }
                }
            }
            guard let answered = underWay.popFirst() else { break }
            expected.assumeSettled(answered)
            isAssuming = true
        }
        if !held.isEmpty { return .held(held) }
        return chosen.isEmpty ? .nothing : .operations(chosen)
    }

    /// When an operation is sent that others may have to go before.
    private enum Turn {
        case now
        /// This one goes first.
        case after(TableOperation)
        /// Something that goes before it is under way.
        case later
        /// These of those before it are not sent by this push.
        case waits([Int64])
        /// One of them, with this number, may be in a group that the plan does not know.
        case unknown(through: Int64)
    }

    /// Whether others have to be sent before an operation: what makes rows that its row refers to, or brings them back,
    /// and the changes of rows that referred to the row that it deletes; directly, or through others of this kind. Of
    /// operations that go before each other one is sent all the same. A deletion does not change the order of groups:
    /// it waits for their parts, but for those that come after it; what would not be sent while it waits goes ahead of it, with
    /// all that stands before that in its groups. Of those that wait for each other one in a group goes first.
    private func turn(
        of operation: TableOperation,
        _ plan: PushPlan,
        expecting expected: PushPlan,
        along path: inout PushPath,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> Turn {
        path.goBack(for: operation, expected)
        if path.end == nil { try append(operation, to: &path, expected, &transaction, schema) }
        while let first = path.end {
            if let farthest = path.farthest, farthest > expected.horizon { return .unknown(through: farthest) }
            if let next = try path.next(expected, &transaction, schema) {
                try append(next, to: &path, expected, &transaction, schema)
                continue
            }
            let waits = try waits(of: first, aheadOf: operation, plan, expecting: expected, &path, &transaction, schema)
            guard let other = waits.first else { return first.id == operation.id ? .now : .after(first) }
            // They would wait for it themselves: what stands before them goes ahead, when it is for them alone that this waits.
            guard first.kind == .delete, waits.allSatisfy({ path.isLeftBehind($0, expected) }),
                let lead = expected.lead(to: other)
            else { return .waits(waits) }
            guard case .next(let number) = lead else { return .later }
            guard !path.contains(number), let next = try OperationQueue.operation(number, &transaction, schema),
                expected.maySendAhead(next)
            else { return .waits(waits) }
            try append(next, to: &path, expected, &transaction, schema)
        }
        return .now
    }

    /// What goes before an operation and is not sent by this push, as far as it does not wait for that itself.
    private func waits(
        of first: TableOperation,
        aheadOf operation: TableOperation,
        _ plan: PushPlan,
        expecting expected: PushPlan,
        _ path: inout PushPath,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> [Int64] {
        let mayPass = first.kind != .delete
        let waiting = Set([first.id, operation.id])
        let waits = try path.beforeEnd(&transaction, schema)
            .filter { other in
                // It is not taken for settled, although it seems to be under way where this is chosen ahead.
                if !mayPass, referring.hasStayed(other.id) { return true }
                // It was held back itself, or what it would be sent ahead of was. One of a circle goes all the same.
                if waiting.contains(where: { expected.waits(other.id, for: $0) }) { return false }
                if !mayPass, expected.isMember(other.id) {
                    // Mostly it has begun; what comes after what has to be searched for.
                    guard !expected.hasBegun(other.id) || plan.hasEnded(other.id) else { return false }
                    return !path.isBehindEnd(other.id, expected)
                }
                guard plan.holdsBack(other) else { return false }
                // What waits for an id is found when it is prepared.
                return try !mayPass || !OperationReferences.awaitsID(of: other, schema, &transaction)
            }
        return waits.map(\.id)
    }

    /// Goes on to an operation, and looks what goes before it.
    private func append(
        _ operation: TableOperation,
        to path: inout PushPath,
        _ expected: PushPlan,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws {
        guard let table = schema.table(operation.table) else { return path.append(operation, before: [], expected) }
        guard operation.kind == .delete else {
            let inserts = try OperationReferences.insertsWaiting(for: operation, table, schema, &transaction)
            return path.append(operation, before: inserts.map(\.id), read: inserts, expected)
        }
        // There may be many: they are read as they are asked for.
        let numbers = try referring.numbers(before: operation, table, schema, &transaction)
        path.append(operation, before: numbers, expected)
    }

    /// Takes back that an operation counts as sent: it has not left.
    func takeBack(
        _ inFlight: InFlightOperation,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws {
        guard var operation = try OperationQueue.operation(inFlight.operation.id, &transaction, schema) else { return }
        if let request = inFlight.underWay { operation.change.didNotLeave(request) }
        try OperationQueue.save(operation, inFlight.table, mark: .null, &transaction)
    }
}

/// The operations of no group that follow, read several at a time.
private struct SingleOperations {
    private var batchSize: Int
    private var records: ArraySlice<Record> = []
    private var cursor: Int64
    private var isAtEnd = false

    init(_ plan: PushPlan, batchSize: Int) {
        self.batchSize = batchSize
        cursor = plan.cursor
    }

    /// The first one that may be sent and was not, before a member of a group when one is given.
    mutating func first(
        before member: Int64?,
        _ plan: PushPlan,
        _ transaction: inout StoreTransaction,
        _ schema: StoreSchema
    ) throws -> TableOperation? {
        while true {
            while let record = records.first, let number = record.id.int64Value {
                if let member, number > member { return nil }
                // One of a group, of which the server has that part, may have been changed since.
                if number > plan.cursor, !plan.hasBegun(number), let table = record["table"]?.stringValue,
                    plan.tables.contains(table)
                {
                    return try OperationCoding.operation(record, schema)
                }
                records.removeFirst()
            }
            guard !isAtEnd else { return nil }
            // Behind a member it is looked when that has been chosen.
            let end = min(plan.end, member.map { $0 - 1 } ?? plan.end)
            guard let stretch = plan.stretch(after: cursor, through: end) else {
                isAtEnd = end == plan.end
                return nil
            }
            let next = try OperationQueue.singles(
                after: stretch.lowerBound - 1,
                through: stretch.upperBound,
                limit: batchSize,
                &transaction
            )
            cursor = next.count < batchSize ? stretch.upperBound : next.last?.id.int64Value ?? stretch.upperBound
            // They were of tables that were not asked for, or have had their turn: there may be many of those.
            batchSize = max(batchSize, 64)
            records = next[...]
        }
    }
}
