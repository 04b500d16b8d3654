internal import OfflineSync
internal import RemoteContract
internal import SyncContract
internal import SyncSessions

/// Does what the machine of transfers says: begins and ends tasks, wakes it, looks what the store has to be carried.
actor TransferRunner {
    let work: AttachmentWork
    var machine: TransferMachine
    private var tasks: [Transfer: Task<Void, Never>] = [:]
    /// Those that have carried their file, and do what follows.
    private var ending: Set<Task<Void, Never>> = []
    /// Those of them who make room, for which the server is asked.
    private var makingRoom: [Transfer: Task<Void, Never>] = [:]
    var waiters: [AttachmentID: [Int: CheckedContinuation<Void, any Error>]] = [:]
    private var cancelledWaits: Set<Int> = []
    private var nextWait = 0
    private var settling: [Int: CheckedContinuation<Void, any Error>] = [:]
    private var waking: (at: Duration, task: Task<Void, Never>)?
    private var preparation: Task<Void, any Error>?
    private var isLocked = false
    private var listeners: [Task<Void, Never>] = []
    /// Knows at any time whether downloads are suspended; the machine is told of it a moment later.
    private var session: SyncSession?
    private var renewal: Task<Void, Never>?
    /// The last of those who note what rows have arrived, one behind the other.
    var noting: Task<Void, Never>?
    /// When it is looked again what may be fetched ahead.
    var later: (at: Timestamp, task: Task<Void, Never>)?
    var isLooking = false
    var mustLook = false
    /// Whether a push runs, of whose changes nothing follows before its end.
    var isPushing = false
    var lookers: [CheckedContinuation<Void, Never>] = []

    init(_ work: AttachmentWork, limit: Int) {
        self.work = work
        machine = TransferMachine(limit: limit, backoff: work.environment.backoff)
    }

    deinit {
        for task in listeners { task.cancel() }
        for task in tasks.values { task.cancel() }
        waking?.task.cancel()
        renewal?.cancel()
        later?.task.cancel()
    }

    // MARK: Beginning and ending

    /// Brings folder and rows together, once, before anything else is done with them.
    func prepare() async throws {
        if let preparation {
            do { return try await preparation.value } catch {
                // It is tried again: the store may have been locked. Once, whoever has waited: what comes into the folder behind a
                // preparation is none of the next one's.
                if let next = self.preparation, next != preparation { return try await next.value }
            }
        }
        let work = work
        let task = Task {
            try await work.sweep()
            await Self.renewAbsent(work)
        }
        preparation = task
        try await task.value
    }

    private static func renewAbsent(_ work: AttachmentWork) async {
        do {
            try await work.renewAbsent()
        } catch {
            // They keep their mark, and the next opening tries again.
        }
    }

    /// Encrypts anew what a revocation has marked, beside everything else.
    private func startRenewal() {
        renewal?.cancel()
        renewal = Task(priority: .utility) { [weak self, work] in
            await work.renewUntilDone { try await self?.prepare() }
        }
    }

    private func endRenewal() async {
        renewal?.cancel()
        await renewal?.value
    }

    /// Lets files travel by themselves from now on.
    func start(pushes: AsyncStream<Bool>, of session: SyncSession) {
        self.session = session
        let (suspensions, recoveries) = (session.suspensions, session.recoveries)
        // Before anything is looked for that might begin.
        send(.suspended(session.suspended))
        let changes = work.store.changes()
        let tables = work.references.tables.union([
            SystemTables.operations.name, AttachmentFiles.table.name, AttachmentRemovals.table.name,
        ])
        // The engine has changed what is known of files.
        let engine: Set = [SystemTables.operations.name, SystemTables.configuration.name]
        let (environment, work) = (work.environment, work)
        listeners = [
            Task { [weak self] in
                await self?.look()
                for await change in changes where !change.tables.isDisjoint(with: tables) {
                    if change.tables.contains(AttachmentFiles.table.name), !change.tables.isDisjoint(with: engine) {
                        await work.states.allChanged()
                    }
                    await self?.changed(change)
                }
            },
            Task { [weak self] in for await isPushing in pushes { await self?.pushing(isPushing) } },
            Task { [weak self] in for await directions in suspensions { await self?.suspended(directions) } },
            Task { [weak self] in
                // What is so from the beginning is no news.
                for await _ in recoveries.dropFirst() { await self?.send(.reachable) }
            },
            Task { [weak self, work] in
                guard let arrived = work.ahead?.arrived else { return }
                await self?.noteArrivals()
                for await _ in arrived.signals { await self?.noteArrivals() }
            },
            Task { [weak self] in
                while !Task.isCancelled {
                    do {
                        try await self?.prepare()
                        try await work.removeUnused()
                        try await work.makeRoom()
                    } catch {
                        // The store is locked or full: the next time will do.
                    }
                    do { try await environment.sleepUntil(environment.now() + .seconds(3600)) } catch { return }
                }
            },
        ]
        startRenewal()
    }

    /// Ends what travels, and waits for that; nothing begins until the store is unlocked.
    func setLocked(_ isLocked: Bool) async {
        work.gate.set(isLocked ? .locked : .open)
        self.isLocked = isLocked
        // A key may have been revoked while the store was locked. Nothing travels yet.
        if !isLocked { await Self.renewAbsent(work) }
        send(.locked(isLocked))
        guard isLocked else {
            startRenewal()
            await work.states.allChanged()
            // What could not be noted meanwhile.
            Task { await noteArrivals() }
            return await look()
        }
        resumeAll()
        await endRenewal()
        for task in makingRoom.values { task.cancel() }
        for task in Array(tasks.values) + ending { await task.value }
    }

    /// Ends everything, and waits for that.
    func close() async {
        work.gate.set(.closed)
        send(.closed)
        await endRenewal()
        for task in makingRoom.values { task.cancel() }
        for task in Array(tasks.values) + ending { await task.value }
        for task in listeners { task.cancel() }
        listeners = []
        waking?.task.cancel()
        later?.task.cancel()
        resumeAll()
        endSettling()
        work.states.end()
    }

    private func suspended(_ directions: SyncDirection) {
        send(.suspended(directions))
        if directions.contains(.download) { resumeAll() }
    }

    // MARK: What others ask

    /// Fetches a file, and returns when it is here.
    func fetch(_ id: AttachmentID) async throws {
        guard !machine.isClosed else { throw StoreError(.closed, "The store was closed; open it again.") }
        guard !isSuspended else { throw Self.suspended }
        nextWait += 1
        let number = nextWait
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard cancelledWaits.remove(number) == nil else {
                    return continuation.resume(throwing: CancellationError())
                }
                waiters[id, default: [:]][number] = continuation
                Task { await self.want(id) }
            }
        } onCancel: {
            Task { await self.cancelWait(number, for: id) }
        }
    }

    /// A file was removed here: whoever waits for it is told.
    func removed(_ id: AttachmentID) async {
        if waiters[id] != nil { await want(id) }
    }

    private func want(_ id: AttachmentID) async {
        do {
            let (key, name, now) = (try AttachmentFolder.newKey(), try AttachmentFolder.newName(), work.now)
            let isHere = try await work.store.write { transaction in
                var file = try transaction.attachment(id) ?? AttachmentFile(id, name: name, key: key, lastUsed: now)
                guard !file.isHere else { return true }
                guard try !AttachmentRemovals.isAsked(id, &transaction) else {
                    throw RemoteError(
                        .notFound,
                        "The attachment was removed here, and is to go from the server; add it anew."
                    )
                }
                (file.isWanted, file.failure) = (true, nil)
                try transaction.save(file)
                return false
            }
            if isHere { return resume(id, nil) }
            if let obstacle { return resume(id, obstacle) }
            await asked([id])
        } catch {
            resume(id, error)
        }
    }

    private func cancelWait(_ number: Int, for id: AttachmentID) async {
        guard let continuation = waiters[id]?.removeValue(forKey: number) else {
            cancelledWaits.insert(number)
            return
        }
        continuation.resume(throwing: CancellationError())
        guard waiters[id]?.isEmpty ?? true else { return }
        waiters[id] = nil
        do {
            // Nobody waits for it any more.
            try await work.change(id) { $0.isWanted = false }
        } catch {
            // It arrives without anybody waiting for it.
        }
        // Somebody else has come meanwhile, whose wish may have been the one that was taken back.
        if waiters[id] != nil { await want(id) }
    }

    /// Tries files at once.
    func asked(_ ids: [AttachmentID]) async {
        send(.asked(ids))
        await look()
    }

    /// Returns when nothing travels.
    func settle() async throws {
        try await prepare()
        while true {
            await noteArrivals()
            await look()
            if machine.isSettled || machine.isClosed { return }
            try await transfersEnd()
        }
    }

    private func transfersEnd() async throws {
        nextWait += 1
        let number = nextWait
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                guard cancelledWaits.remove(number) == nil else {
                    return continuation.resume(throwing: CancellationError())
                }
                settling[number] = continuation
            }
        } onCancel: {
            Task { await self.cancelSettling(number) }
        }
    }

    private func cancelSettling(_ number: Int) {
        guard let continuation = settling.removeValue(forKey: number) else {
            cancelledWaits.insert(number)
            return
        }
        continuation.resume(throwing: CancellationError())
    }

    private func endSettling() {
        for continuation in settling.values { continuation.resume() }
        settling = [:]
    }

    // MARK: The machine

    func send(_ event: TransferMachine.Event) {
        for effect in machine.handle(event, at: work.environment.now(), random: work.environment.random()) {
            switch effect {
            case .begin(let transfer):
                tasks[transfer] = Task { [weak self, work] in
                    let (outcome, error) = await work.perform(transfer)
                    // What follows is not for the one who has cancelled the transfer to end; whoever closes waits for it.
                    await Task { await self?.ended(transfer, outcome, error) }.value
                }
            case .cancel(let transfer): tasks[transfer]?.cancel()
            case .wake(let time): wake(at: time)
            }
        }
        if machine.isSettled { endSettling() }
    }

    private func ended(_ transfer: Transfer, _ outcome: TransferMachine.Outcome, _ error: (any Error)?) async {
        let task = tasks.removeValue(forKey: transfer)
        if let task { ending.insert(task) }
        defer { if let task { ending.remove(task) } }
        if outcome == .done {
            let room = Task { [work] in
                do {
                    try await work.makeRoom(keeping: transfer.kind == .ahead ? nil : transfer.id)
                } catch {
                    // The file is where it is to be, and the next one that comes makes room.
                }
            }
            makingRoom[transfer] = room
            if machine.isClosed || isLocked { room.cancel() }
            await room.value
            makingRoom[transfer] = nil
        }
        send(.ended(transfer, outcome))
        // Their turn would come one by one, each after a longer time. The files stay wanted.
        if case .noService = outcome, machine.nothingGetsThrough {
            for id in waiters.keys where !machine.running.contains(Transfer(.download, id)) { resume(id, error) }
        }
        if transfer.kind == .download { await answer(transfer.id, outcome, error) }
        // Who has begun to wait meanwhile is answered, too, when it has arrived; else it is fetched for them.
        if transfer.kind == .ahead, outcome != .cancelled, waiters[transfer.id] != nil { await want(transfer.id) }
        await work.states.changed(transfer.id)
        await look()
    }

    /// Tells those who wait for a file how its transfer has ended.
    private func answer(_ id: AttachmentID, _ outcome: TransferMachine.Outcome, _ error: (any Error)?) async {
        guard outcome == .done || outcome == .cancelled else { return resume(id, error) }
        if outcome == .cancelled, let obstacle { return resume(id, obstacle) }
        // It is here; or it was removed right behind its end, or given up for another one who waited and was cancelled.
        if waiters[id] != nil { await want(id) }
    }

    /// Why nothing is fetched now.
    private var obstacle: (any Error)? {
        do {
            try work.gate.check()
            return isSuspended ? Self.suspended : nil
        } catch {
            return error
        }
    }

    private var isSuspended: Bool { session?.suspended.contains(.download) ?? false }

    /// Tells all who wait for files that nothing is fetched now, those included whose turn had not come.
    private func resumeAll() {
        guard let obstacle else { return }
        for id in waiters.keys { resume(id, obstacle) }
    }

    private static var suspended: SyncError {
        SyncError(.sessionEnded, "Downloads are suspended; resume the session, then fetch the attachment.")
    }

    private func resume(_ id: AttachmentID, _ error: (any Error)?) {
        for continuation in (waiters.removeValue(forKey: id) ?? [:]).values {
            if let error { continuation.resume(throwing: error) } else { continuation.resume() }
        }
    }

    private func wake(at time: Duration) {
        if let waking, waking.at <= time, waking.at > work.environment.now() { return }
        waking?.task.cancel()
        let environment = work.environment
        waking = (
            time,
            Task { [weak self] in
                do { try await environment.sleepUntil(time) } catch { return }
                await self?.send(.woken)
            }
        )
    }
}
