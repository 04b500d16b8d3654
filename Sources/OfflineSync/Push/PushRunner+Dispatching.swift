internal import RemoteContract
internal import SyncContract
internal import SyncMachines

// What is sent when: one operation after the other, or several at a time.
extension PushRunner {
    /// Sends what waits. Whatever ends this, what is under way is waited for, and its answers are recorded.
    ///
    /// - Returns: What has ended the push early.
    func dispatch(_ plan: PushPlan, _ schema: StoreSchema) async -> (any Error)? {
        var left = await runTurns(plan, schema)
        // What was settled at the end may have been all that others in its groups waited for.
        while await isToOrderAnew(&left.plan) {
            await removeMarks(of: left.window.unsent, schema)
            progress.retryWaiting()
            left = await runTurns(left.plan, schema)
        }
        progress.leaveWaiting(left.held)
        progress.leave(inGroups: left.members, of: left.order)
        await removeMarks(of: left.window.unsent, schema)
        return progress.error
    }

    /// Sends what may be sent, and what waits for ids or a word about it alone behind that.
    private func runTurns(_ plan: PushPlan, _ schema: StoreSchema) async -> Left {
        var left = await thread.run { await sendTurns(plan, schema) }
        do {
            try await left.window.end()
        } catch {
            progress.end(with: error)
        }
        await recording.flush()
        await sendWaiting(&left.window, schema)
        await recordAlone(schema)
        await recording.flush()
        return left
    }

    /// Whether an operation of a group was settled behind its turn, so that others of it may be sent.
    private func isToOrderAnew(_ plan: inout PushPlan) async -> Bool {
        let late = progress.takeLate()
        guard !late.isEmpty, !progress.isEnding else { return false }
        do {
            let isSettled = try await thread.elsewhere {
                await recording.flush()
                return try await store.read { reader in
                    try late.contains { try !GroupStorage.isMember($0, &reader) }
                }
            }
            if isSettled { plan.orderAnew() }
            return isSettled && !progress.isEnding
        } catch {
            progress.end(with: error)
            return false
        }
    }

    /// Takes note that an operation was answered behind its turn, where that matters to others.
    private func answeredLate(_ inFlight: InFlightOperation) {
        if !inFlight.operation.memberships.isEmpty { progress.answeredLate(inFlight.operation.id) }
    }

    /// What is left when nothing more can be sent, or is to be.
    private struct Left: Sendable {
        var plan: PushPlan
        var window: PushWindow
        var held: Set<Int64>
        var members: [Int64]
        var order: PushOrder
    }

    private func sendTurns(_ plan: PushPlan, _ schema: StoreSchema) async -> Left {
        await withTaskGroup(of: [Turn].self) { group in
            let window = PushWindow(operationsUnderWay: parallelOperations * sender.batchSize, clock)
            var papers = PushDesk.Papers(plan: plan, window: window)
            let desk = PushDesk()
            while true {
                var batch: [InFlightOperation] = []
                if papers.running < parallelOperations, !progress.isEnding {
                    batch = await nextBatch(&papers, schema)
                }
                let turns: [Turn]
                if !batch.isEmpty {
                    chooseAhead(&papers, schema)
                    if parallelOperations > 1 {
                        papers.running += 1
                        group.addTask { [batch] in await sendOn(batch, desk, schema) }
                        continue
                    }
                    // A task of its own would be on other threads, and the way there and back takes time.
                    turns = await send(batch, schema)
                } else {
                    guard papers.running > 0 else {
                        if await isToOrderAnew(&papers.plan) { continue }
                        if !progress.isEnding, papers.plan.release() { continue }
                        break
                    }
                    desk.leave(consume papers)
                    turns = await group.next() ?? []
                    papers = desk.takeBack()
                    papers.running -= 1
                }
                for turn in turns {
                    let isSettled = await isSettled(turn, papers.plan)
                    end(turn, isSettled: isSettled, &papers)
                }
            }
            let waiting = papers.plan.takeHeldForIDs()
            for inFlight in waiting { progress.keepWaiting(inFlight) }
            // Who ends a push early does not tell how much is left.
            let members = progress.isEnding ? [] : papers.plan.leftMembers
            return Left(
                plan: papers.plan,
                window: papers.window,
                held: papers.plan.heldBack,
                members: members,
                order: members.isEmpty ? PushOrder() : papers.plan.wholeOrder
            )
        }
    }

    private func chooseAhead(_ papers: inout PushDesk.Papers, _ schema: StoreSchema) {
        guard papers.window.isToChooseAhead(through: papers.plan.last) else { return }
        let plan = papers.plan
        papers.window.chooseAhead { size, before in
            try await chooseAhead(plan, size, behind: before, schema)
        }
    }

    private func end(_ turn: Turn, isSettled: Bool, _ papers: inout PushDesk.Papers) {
        let number = turn.inFlight.operation.id
        papers.plan.end(number, isSettled: isSettled)
        if progress.takeBehind(number) { papers.plan.holdBack(number) }
        if !turn.hasLeft { papers.window.giveBack(turn.inFlight) }
        if !turn.isTaken { papers.window.giveBack(tiedTo: turn.inFlight) }
    }

    /// What leaves next in one exchange: one operation, or several where the remote takes batches.
    private func nextBatch(_ papers: inout PushDesk.Papers, _ schema: StoreSchema) async -> [InFlightOperation] {
        do {
            guard let first = try await next(&papers.plan, &papers.window, schema) else { return [] }
            return batch(first, &papers)
        } catch {
            progress.end(with: error)
            return []
        }
    }

    /// What leaves in one exchange with an operation. They are what might be under way at the same time anyway, so that none
    /// depends on another one. None waits for others to be prepared: what is decided meanwhile would not reach it any more.
    private func batch(_ first: InFlightOperation, _ papers: inout PushDesk.Papers) -> [InFlightOperation] {
        papers.plan.start(first)
        var batch = [first]
        guard sender.goesInBatches(first) else { return batch }
        while batch.count < sender.batchSize, let further = papers.window.first, sender.goesInBatches(further),
            let next = nextPrepared(papers.plan, &papers.window)
        {
            papers.plan.start(next)
            batch.append(next)
        }
        return batch
    }

    /// Sends operations, and goes on with what was prepared as long as the server takes what it is sent.
    ///
    /// - Returns: The turns that are still to be ended.
    private func sendOn(_ first: [InFlightOperation], _ desk: PushDesk, _ schema: StoreSchema) async -> [Turn] {
        var batch = first
        while true {
            let turns = await send(batch, schema)
            guard !progress.isEnding, !Task.isCancelled, turns.allSatisfy(\.isTaken) else { return turns }
            let next = desk.withPapers { papers -> [InFlightOperation]? in
                let settled = turns.map { isSettledByAnswer($0, papers.plan) }
                // Of others it has to be looked up whether they are settled.
                guard !settled.contains(nil) else { return nil }
                for (turn, isSettled) in zip(turns, settled) { end(turn, isSettled: isSettled ?? false, &papers) }
                // Others may go beside what comes next, now that this is taken: whoever decides looks for them.
                guard papers.running == parallelOperations else { return [] }
                guard let prepared = nextPrepared(papers.plan, &papers.window) else { return [] }
                let next = self.batch(prepared, &papers)
                chooseAhead(&papers, schema)
                return next
            }
            guard let next else { return turns }
            guard !next.isEmpty else { return [] }
            batch = next
        }
    }

    /// An operation that has had its turn.
    private struct Turn: Sendable {
        var inFlight: InFlightOperation
        /// Whether the request may have left.
        var hasLeft = false
        /// Whether the server has taken it, whatever was changed meanwhile.
        var isTaken = false
    }

    /// Whether what stands behind an operation in its groups may be sent. One that has come into a group only while it was
    /// under way still has that change to send.
    private func isSettled(_ turn: Turn, _ plan: PushPlan) async -> Bool {
        if let isSettled = isSettledByAnswer(turn, plan) { return isSettled }
        let number = turn.inFlight.operation.id
        do {
            return try await thread.elsewhere {
                await recording.flush()
                return try await store.read { try !GroupStorage.isMember(number, &$0) }
            }
        } catch {
            progress.end(with: error)
            return false
        }
    }

    /// The same where the answer alone tells; nil when it has to be looked up.
    private func isSettledByAnswer(_ turn: Turn, _ plan: PushPlan) -> Bool? {
        guard let revision = plan.startedAsMember(turn.inFlight.operation.id) else { return false }
        return turn.isTaken && revision == plan.revision ? true : nil
    }

    /// Sends operations in one exchange, and takes each answer in as if its operation had been sent alone.
    private func send(_ batch: [InFlightOperation], _ schema: StoreSchema) async -> [Turn] {
        var turns = batch.map { Turn(inFlight: $0) }
        do {
            // Another answer may have ended the push while these were chosen.
            guard !progress.isEnding else { return turns }
            for index in turns.indices {
                try await decisions.willSend(turns[index].inFlight.operation, thread)
                // Or while somebody was asked.
                guard !progress.isEnding else { return batch.map { Turn(inFlight: $0) } }
                turns[index].hasLeft = true
            }
        } catch {
            progress.end(with: error)
        }
        let sent = turns.indices.filter { turns[$0].hasLeft }
        guard !sent.isEmpty else { return turns }
        for index in sent { decisions.tellSent(turns[index].inFlight.operation) }
        do {
            let answers = try await sender.send(sent.map { turns[$0].inFlight })
            for case .success(let answer) in answers { if let abort = answer.abort { progress.end(with: abort) } }
            let received = Array(zip(sent, answers))
            // What from which nothing follows is recorded together, and does not wait for what is sent again.
            for isLast in [true, false] {
                for (index, answer) in received where answer.isLast(to: turns[index].inFlight) == isLast {
                    turns[index].isTaken = await take(answer, of: turns[index].inFlight, schema)
                }
            }
        } catch {
            progress.end(with: error)
        }
        return turns
    }

    /// Takes an answer in. What fails in that ends the push, and no other answer is lost by it.
    ///
    /// - Returns: Whether the server has taken the operation.
    func take(
        _ answer: Result<PushAnswer, any Error>,
        of inFlight: InFlightOperation,
        _ schema: StoreSchema
    ) async -> Bool {
        var released: [(InFlightOperation, PushAnswer)] = []
        var isTaken = false
        do {
            let answer = try answer.get()
            guard let earlier = progress.release(inFlight, answer) else { return false }
            released = earlier
            isTaken = try await process(answer, of: inFlight, schema)
        } catch {
            progress.end(with: error)
        }
        // They come behind the answer itself: to settle them may take long.
        for (operation, answer) in released {
            do {
                _ = try await process(answer, of: operation, schema)
                answeredLate(operation)
            } catch {
                progress.end(with: error)
            }
        }
        return isTaken
    }

    /// Records what was refused, and was all that there was to be sent, where that may be about it alone.
    private func recordAlone(_ schema: StoreSchema) async {
        guard let (operation, answer) = progress.takeAlone() else { return }
        do {
            _ = try await process(answer, of: operation, schema)
            answeredLate(operation)
        } catch {
            progress.end(with: error)
        }
    }

    /// Sends what waited for the ids of others, one after the other. Of those that wait for each other one is refused: when that
    /// is settled the others may be sent.
    private func sendWaiting(_ window: inout PushWindow, _ schema: StoreSchema) async {
        do {
            while true {
                try await sendRounds(&window, schema)
                guard !progress.isEnding else { return }
                await recording.flush()
                let waiting = progress.waiting
                let circular = try await store.read { reader in
                    try waiting.firstOfCircle { try awaitedInserts(of: $0, &reader, schema) }
                }
                guard let circular else { return progress.leaveWaiting(waiting.numbers) }
                progress.stopsWaiting(circular)
                _ = try await process(WaitingOperations.refusal, of: circular, schema)
                answeredLate(circular)
                await recording.flush()
                let stays = try await store.read { reader in
                    try OperationQueue.operation(circular.operation.id, &reader, schema)?.change.insertWaits ?? false
                }
                if !stays { progress.retryWaiting() }
            }
        } catch {
            progress.end(with: error)
        }
    }

    /// Sends what waits, one after the other, until nothing of it can be any more.
    private func sendRounds(_ window: inout PushWindow, _ schema: StoreSchema) async throws {
        while let round = progress.nextRound() {
            for held in round where !progress.isEnding {
                try Task.checkCancellation()
                answeredLate(held)
                // Its row may refer to what was just taken.
                await recording.flush()
                guard var inFlight = try await again(held, .notDone, schema) else { continue }
                inFlight.repetitions = held.repetitions
                guard inFlight.awaited.isEmpty else {
                    progress.keepWaiting(inFlight)
                    continue
                }
                for turn in await send([inFlight], schema) where !turn.hasLeft { window.giveBack(inFlight) }
            }
        }
    }

    /// The numbers of the inserts that have to be answered before an operation can be sent.
    private func awaitedInserts(
        of number: Int64,
        _ reader: inout StoreReader,
        _ schema: StoreSchema
    ) throws -> [Int64] {
        // What is not sent, because it was refused itself, is for somebody to settle, and what waits for it goes then.
        guard let operation = try OperationQueue.operation(number, &reader, schema), operation.isToSend,
            operation.kind != .delete,
            let table = schema.table(operation.table),
            let row = try reader.record(.string(operation.itemID), in: table.name)
        else { return [] }
        return try IdentifierTranslation(table, schema).awaitedInserts(of: row, &reader)
    }

    /// Removes what says that something is on its way, when the push has ended, however it ended.
    private func removeMarks(of unsent: [InFlightOperation], _ schema: StoreSchema) async {
        let left = marks.left.subtracting(unsent.map(\.operation.id))
        guard !left.isEmpty || !unsent.isEmpty else { return }
        do {
            try await uncancelled {
                try await store.write { transaction in
                    marked.removeAll()
                    for inFlight in unsent { try takeBack(inFlight, &transaction, schema) }
                    for number in left { try marks.remove(from: number, &transaction) }
                }
            }
        } catch {
            marked.removeAll()
            // Nothing depends on it: what was prepared is as a request that was lost, and marks say nothing once their push
            // has ended.
        }
    }
}

extension Result<PushAnswer, any Error> {
    fileprivate func isLast(to inFlight: InFlightOperation) -> Bool {
        guard case .success(let answer) = self else { return false }
        return answer.isLast(to: inFlight.underWay?.request)
    }
}
