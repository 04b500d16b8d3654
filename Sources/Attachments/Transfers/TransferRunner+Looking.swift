internal import SyncContract

// How it is found out what there is to carry.
extension TransferRunner {
    /// Looks what there is to do.
    func look() async {
        guard work.transport != nil, !machine.isClosed else { return }
        mustLook = true
        // What the one that is under way has read may be older than what the caller knows.
        guard !isLooking else { return await withCheckedContinuation { lookers.append($0) } }
        isLooking = true
        // A task of its own: others wait for it, and the one who has begun it may be cancelled.
        await Task { await lookWhileAsked() }.value
    }

    /// Looks what there is to do after a change of the store. A push records answers again and again, and each look goes over
    /// all files whose rows wait, of which none may begin before the push has ended: it is looked then.
    func changed(_ change: StoreChange) async {
        guard !isPushing || !change.tables.contains(SystemTables.operations.name) else { return }
        await look()
    }

    /// Takes note that a push has begun, or has ended: then it is looked before anything begins.
    func pushing(_ isPushing: Bool) async {
        self.isPushing = isPushing
        if !isPushing { await look() }
        send(.pushing(isPushing))
    }

    private func lookWhileAsked() async {
        while mustLook {
            mustLook = false
            do {
                try await prepare()
                let waitedFor = Set(waiters.keys)
                let (transfers, next) = try await work.store.read { [work, running = machine.running] reader in
                    let asked = try TransferList.read(work.references, waitedFor: waitedFor, &reader)
                    let (ahead, next) = try work.ahead?.transfers(work, running: running, &reader) ?? ([], nil)
                    return (asked + ahead, next)
                }
                send(.work(transfers))
                if let next { look(at: next) }
            } catch {
                // The store is locked or closed, or cannot be read: its next change is the next chance.
            }
        }
        isLooking = false
        for looker in lookers { looker.resume() }
        lookers = []
    }

    /// Looks again when a file may be tried that a rule wants.
    private func look(at time: Timestamp) {
        let (elapsed, now) = (work.environment.now(), work.now)
        if let later, later.at.milliseconds <= time.milliseconds, later.at.milliseconds > now.milliseconds { return }
        later?.task.cancel()
        let deadline = elapsed + .milliseconds(max(0, time.milliseconds - now.milliseconds))
        later = (
            time,
            Task { [weak self, environment = work.environment] in
                do { try await environment.sleepUntil(deadline) } catch { return }
                await self?.lookAgain(asOf: time)
            }
        )
    }

    private func lookAgain(asOf time: Timestamp) async {
        // It is under way, and not to be cancelled by what it does itself.
        if later?.at == time { later = nil }
        await look()
    }

    /// Notes the files of rows that have arrived, so that they are fetched.
    func noteArrivals() async {
        guard work.ahead != nil else { return }
        let before = noting
        let task = Task { [weak self, work] in
            await before?.value
            do {
                try await self?.prepare()
                try await work.noteArrivals()
            } catch {
                // The store is locked, or cannot be written: what has arrived is noted when it can.
            }
        }
        noting = task
        await task.value
    }
}
