internal import RemoteContract
internal import SyncContract
internal import SyncMachines

// What is sent when: one operation after the other, or several at a time.
extension PushRunner {
    /// Sends what waits. Whatever ends this, what is under way is waited for, and its answers are recorded.
    ///
    /// - Returns: What has ended the push early.
    func dispatch(_ plan: PushPlan, _ schema: StoreSchema) async -> (any Error)? {
        await withTaskGroup(of: Turn.self) { group in
            var plan = plan
            var window = PushWindow(parallelOperations: parallelOperations, clock)
            var waiting = WaitingOperations()
            var running = 0
            while true {
                var next: InFlightOperation?
                if running < parallelOperations, !progress.isEnding {
                    do {
                        next = try await self.next(&plan, &window, &waiting, schema)
                    } catch {
                        progress.end(with: error)
                    }
                }
                let turn: Turn
                if let next {
                    plan.start(next)
                    if parallelOperations > 1 {
                        running += 1
                        group.addTask { await send(next, schema) }
                        continue
                    }
                    // A task of its own would be on other threads, and the way there and back takes time.
                    turn = await send(next, schema)
                } else {
                    guard running > 0, let ended = await group.next() else { break }
                    running -= 1
                    turn = ended
                }
                plan.end(turn.inFlight.operation.id, isSettled: await isSettled(turn, plan))
                if !turn.hasLeft { window.giveBack(turn.inFlight) }
            }
            window.giveBack()
            await recording.flush()
            await sendWaiting(&waiting, &window, schema)
            await recording.flush()
            await removeMarks(of: window.unsent, schema)
            return progress.error
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
        let number = turn.inFlight.operation.id
        guard let revision = plan.startedAsMember(number) else { return false }
        if turn.isTaken, revision == plan.revision { return true }
        await recording.flush()
        do {
            return try await store.read { try !GroupStorage.isMember(number, &$0) }
        } catch {
            progress.end(with: error)
            return false
        }
    }

    private func send(_ inFlight: InFlightOperation, _ schema: StoreSchema) async -> Turn {
        var turn = Turn(inFlight: inFlight)
        do {
            // Another answer may have ended the push while this one was chosen.
            guard !progress.isEnding else { return turn }
            try await decisions.willSend(inFlight.operation)
            turn.hasLeft = true
            let answer = try await sender.send(inFlight)
            if let abort = answer.abort { progress.end(with: abort) }
            let number = inFlight.operation.id
            for (earlier, answer) in progress.release(inFlight, answer) {
                let isTaken = try await process(answer, of: earlier, schema)
                if isTaken, earlier.operation.id == number { turn.isTaken = true }
            }
        } catch {
            progress.end(with: error)
        }
        return turn
    }

    /// Sends what waited for the ids of others, one after the other. Those that wait for each other are refused.
    private func sendWaiting(
        _ waiting: inout WaitingOperations,
        _ window: inout PushWindow,
        _ schema: StoreSchema
    ) async {
        do {
            while let round = waiting.nextRound() {
                for held in round where !progress.isEnding {
                    try Task.checkCancellation()
                    // Its row may refer to what was just taken.
                    await recording.flush()
                    guard let inFlight = try await again(held, .notDone, schema) else { continue }
                    guard inFlight.awaited.isEmpty else {
                        waiting.append(inFlight)
                        continue
                    }
                    let turn = await send(inFlight, schema)
                    if !turn.hasLeft { window.giveBack(inFlight) }
                }
            }
            guard !progress.isEnding else { return }
            for inFlight in waiting.circular { _ = try await process(WaitingOperations.refusal, of: inFlight, schema) }
        } catch {
            progress.end(with: error)
        }
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
