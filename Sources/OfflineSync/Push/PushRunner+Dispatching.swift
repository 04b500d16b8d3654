internal import RemoteContract
internal import SyncContract
internal import SyncMachines

// What is sent when: one operation after the other, or several at a time.
extension PushRunner {
    /// Sends what waits. Whatever ends this, what is under way is waited for, and its answers are recorded.
    ///
    /// - Returns: How many operations the server took, and what has ended the push early.
    func dispatch(
        _ plan: PushPlan,
        _ progress: PushProgress,
        _ schema: StoreSchema
    ) async -> (pushed: Int, error: (any Error)?) {
        await withTaskGroup(of: Turn.self) { group in
            var plan = plan
            var waiting = WaitingOperations()
            var (pushed, running) = (0, 0)
            while true {
                var next: InFlightOperation?
                if running < parallelOperations, !progress.isEnding {
                    do {
                        next = try await choose(&plan, &waiting, schema)
                    } catch {
                        progress.end(with: error)
                    }
                }
                if let next {
                    let isMember = plan.isMember(next.operation.id)
                    plan.start(next.operation, next.references)
                    running += 1
                    group.addTask { await send(next, isMember: isMember, progress, schema) }
                } else {
                    guard running > 0, let turn = await group.next() else {
                        pushed += await sendWaiting(&waiting, progress, schema)
                        return (pushed, progress.error)
                    }
                    plan.end(turn.number, isSettled: turn.isSettled)
                    running -= 1
                    pushed += turn.pushed
                }
            }
        }
    }

    /// An operation that has had its turn.
    private struct Turn: Sendable {
        var number: Int64
        /// Whether what stands behind it in its groups may be sent. One that has come into a group only while it was under
        /// way still has that change to send.
        var isSettled = false
        /// How many operations the server took: it may have released the answers of others.
        var pushed = 0
    }

    private func send(
        _ inFlight: InFlightOperation,
        isMember: Bool,
        _ progress: PushProgress,
        _ schema: StoreSchema
    ) async -> Turn {
        let number = inFlight.operation.id
        var turn = Turn(number: number)
        do {
            // Another answer may have ended the push while this one was chosen.
            guard !progress.isEnding else { return turn }
            try await decisions.willSend(inFlight.operation)
            let answer = try await sender.send(inFlight)
            if let abort = answer.abort { progress.end(with: abort) }
            for (earlier, answer) in progress.release(inFlight, answer) {
                if try await process(answer, of: earlier, schema) { turn.pushed += 1 }
            }
            if isMember { turn.isSettled = try await store.read { try !GroupStorage.isMember(number, &$0) } }
        } catch {
            progress.end(with: error)
        }
        return turn
    }

    /// Sends what waited for the ids of others, one after the other. Those that wait for each other are refused.
    ///
    /// - Returns: How many operations the server took.
    private func sendWaiting(
        _ waiting: inout WaitingOperations,
        _ progress: PushProgress,
        _ schema: StoreSchema
    ) async -> Int {
        var pushed = 0
        do {
            while let round = waiting.nextRound() {
                for held in round where !progress.isEnding {
                    try Task.checkCancellation()
                    guard let inFlight = try await again(held, .notDone, schema) else { continue }
                    guard inFlight.awaited.isEmpty else {
                        waiting.append(inFlight)
                        continue
                    }
                    pushed += await send(inFlight, isMember: false, progress, schema).pushed
                }
            }
            guard !progress.isEnding else { return pushed }
            for inFlight in waiting.circular { _ = try await process(WaitingOperations.refusal, of: inFlight, schema) }
        } catch {
            progress.end(with: error)
        }
        return pushed
    }

    // MARK: Choosing

    /// What follows in the queue.
    private enum Choice: Sendable {
        case operation(InFlightOperation)
        /// Nothing may be sent beside what is under way, or nothing is left.
        case nothing
        /// Groups were written since the order was made.
        case changed(GroupStorage.Groups)
        /// The next operation of a group does not wait any more, or not to be sent.
        case gone(Int64, isSettled: Bool)
    }

    /// Chooses what the next operation sends, and remembers it as sent.
    private func choose(
        _ plan: inout PushPlan,
        _ waiting: inout WaitingOperations,
        _ schema: StoreSchema
    ) async throws -> InFlightOperation? {
        while true {
            try Task.checkCancellation()
            switch try await choice(plan, schema) {
            case .operation(let inFlight) where inFlight.awaited.isEmpty: return inFlight
            case .operation(let inFlight):
                waiting.append(inFlight)
                plan.start(inFlight.operation, inFlight.references)
                plan.end(inFlight.operation.id, isSettled: false)
            case .nothing: return nil
            case .changed(let groups): plan.take(groups)
            case .gone(let number, let isSettled): plan.skip(number, isSettled: isSettled)
            }
        }
    }

    private func choice(_ plan: PushPlan, _ schema: StoreSchema) async throws -> Choice {
        let step = plan.next
        return try await store.write { transaction in
            guard try GroupStorage.highestNumber(&transaction) == step.revision else {
                return .changed(try GroupStorage.groups(&transaction))
            }
            var next: TableOperation?
            var cursor = step.cursor
            repeat {
                next = try OperationQueue.nextSingle(
                    after: cursor,
                    through: step.last,
                    of: step.tables,
                    &transaction,
                    schema
                )
                cursor = next?.id ?? cursor
                // One of a group, of which the server has that part, may have been changed since.
            } while next.map { plan.hasEnded($0.id) } ?? false
            if next == nil, let number = step.member {
                next = try OperationQueue.operation(number, &transaction, schema)
                guard next?.isToSend ?? false else {
                    return .gone(number, isSettled: try !GroupStorage.isMember(number, &transaction))
                }
            }
            guard let next, let table = schema.table(next.table) else { return .nothing }
            let references = try OperationReferences(next, table, schema, &transaction)
            guard plan.maySend(references) else { return .nothing }
            var inFlight = try prepare(next, table, .notDone, &transaction)
            inFlight.references = references
            return .operation(inFlight)
        }
    }
}
