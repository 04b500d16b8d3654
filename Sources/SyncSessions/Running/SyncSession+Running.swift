#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

internal import OfflineSync
internal import RemoteContract
internal import Synchronization
internal import SyncContract

// How events reach the machine, and what is done about what it says.
extension SyncSession {
    /// Tells the machine what has happened, and does what it says.
    ///
    /// - Parameters:
    ///   - event: What has happened.
    ///   - change: Changes what else is known in the same step.
    func send(_ event: SessionEvent, _ change: (inout sending Running) -> Void = { _ in }) {
        var cancelled: [Task<Void, Never>] = []
        var ended: [(Waiter, Bool)] = []
        var resumed: [CheckedContinuation<Void, Never>] = []
        let (status, error, version) = running.withLock { running in
            change(&running)
            if case .woken = event { running.wakeTime = nil }
            let wasOfPush = running.machine.failsBecauseOfPush
            let effects = running.machine.handle(event, at: environment.now())
            switch event {
            case .suspended, .resumed:
                // What keeps changes from being sent is told as long as they are to be.
                let isOfPush = running.machine.failsBecauseOfPush
                guard running.machine.phase != .failed else { break }
                if isOfPush != wasOfPush, running.machine.hold == nil { running.set(running.lastingError) }
            default: break
            }
            for effect in effects {
                switch effect {
                case .load: load(&running)
                case .begin(let work): begin(work, &running)
                case .cancelWork: if let task = running.workTask { cancelled.append(task) }
                case .endWait(let number, let isDone):
                    if let waiter = running.waiters.removeValue(forKey: number) { ended.append((waiter, isDone)) }
                }
            }
            let isClosed = running.machine.phase == .closed
            let endsAttempt = if case .ended(let failure, _) = event { failure != .cancelled } else { false }
            let endsAll = !running.machine.isTrying || isClosed
            for (number, wait) in running.afterWork where endsAll || endsAttempt && wait.endsWithAttempt {
                resumed.append(wait.continuation)
                running.afterWork[number] = nil
            }
            if isClosed {
                cancelled += running.listeners
                for watcher in running.watchers.values { deliveries.add { watcher.continuation.finish() } }
                (running.listeners, running.watchers) = ([], [:])
            }
            if let task = scheduleWaking(&running) { cancelled.append(task) }
            running.version += 1
            return (running.status(environment), running.error, running.version)
        }
        for task in cancelled { task.cancel() }
        publish(status, error, version)
        for (waiter, isDone) in ended { endWait(waiter, isDone: isDone) }
        for continuation in resumed { continuation.resume() }
        deliveries.deliver()
    }

    /// Sees to it that the session is woken in time.
    ///
    /// - Returns: What would have woken it at another time.
    private func scheduleWaking(_ running: inout Running) -> Task<Void, Never>? {
        let time = running.machine.wakeTime()
        guard time != running.wakeTime else { return nil }
        let former = running.waking
        running.wakeTime = time
        running.waking = time.map { time in
            Task { [weak self, environment] in
                do {
                    try await environment.sleepUntil(time)
                    self?.send(.woken)
                } catch {
                    // Another time was set.
                }
            }
        }
        return former
    }

    private func begin(_ work: SessionMachine.Work, _ running: inout Running) {
        guard let context else { return }
        running.begin()
        let pulls = running.pulls
        // It may be begun within a push of the app's own, which does not wait for it.
        running.workTask = SerialGate.withoutTurns {
            RequestCounter.beginningOutside { workTask(work, pulls, context) }
        }
    }

    private func workTask(
        _ work: SessionMachine.Work,
        _ pulls: [SessionPull],
        _ context: SyncContext
    ) -> Task<Void, Never> {
        Task {
            var (failure, error) = await perform(work, pulls, context)
            // The app has said so meanwhile: what comes next begins with that.
            let isSaid = self.running.withLock { $0.machine.needsReset }
            if failure == .historyLost, isSaid, !work.resets { failure = .cancelled }
            var isGone = false
            send(.ended(failure, random: environment.random())) { running in
                // Why a session has failed stays told, and what cannot be done of another list says nothing of this one.
                let isMeant = failure != .permanent || work.list == running.machine.list
                if failure != .cancelled, running.machine.phase != .failed, isMeant {
                    running.set(error ?? running.lastingError)
                }
                isGone = running.isGone(failure, error)
            }
            if isGone { send(.obstacleGone) }
            if self.running.withLock({ work.list != $0.machine.list }) { reviewDownload() }
        }
    }

    // MARK: Starting and ending

    func begin(_ pulls: [SessionPull], _ options: SessionOptions) {
        guard let context else { return }
        let pulls = pulls.isEmpty ? context.store.schema.syncedTables.map { SessionPull(Query($0.name)) } : pulls
        let schedule = pulls.map {
            SessionMachine.Pull(table: $0.source.table, precedesPush: $0.precedesPush(in: context))
        }
        send(.started(schedule, SessionMachine.Settings(options))) { running in
            guard running.machine.phase != .closed else { return }
            running.pulls = pulls
            running.options = options
            // What is waited for all the same stays told.
            let machine = running.machine
            if machine.hold == nil || !machine.isHoldKeptOverStart {
                running.set(machine.isPushHeldOverStart ? running.pushFailure : nil)
            }
            running.pullErrors = [:]
            running.standstill = nil
            if running.listeners.isEmpty { running.listeners = listen(to: context) }
        }
    }

    private func load(_ running: inout Running) {
        guard let context else { return }
        running.loads += 1
        running.begin()
        let (pulls, number) = (running.pulls, running.loads)
        Task { await self.load(pulls, number, context) }
    }

    /// Reads what the store knows.
    private func load(_ pulls: [SessionPull], _ number: Int, _ context: SyncContext) async {
        storeWhatWaits(context)
        await running.withLock { $0.storing }?.value
        do {
            try await context.requestAnnouncedReset()
            let suspended = SyncDirection(stored: try await context.storedSuspension())
            let needsReset = try await context.resetStage() != .none
            let changes = try await context.outstandingChanges()
            let hasChanges = try await context.isPushDue(changes)
            let dates = try await dates(of: pulls, context)
            let ages = dates.map { $0.map { Duration.seconds(environment.date().timeIntervalSince($0)) } }
            guard running.withLock({ $0.loads == number }) else { return }
            send(.loaded(suspended: suspended, hasChanges: hasChanges, ages: ages, needsReset: needsReset)) { running in
                guard running.machine.phase == .loading else { return }
                running.seen = changes
                for (pull, date) in zip(pulls, dates) { running.completions[pull.key] = date }
                // That the store could not be read, if it could not.
                if let error = running.error, error.number == running.loadError { running.set(nil) }
            }
            reviewDownload()
            // What was changed since that look was told to nobody.
            await queueChanged(context)
        } catch {
            guard running.withLock({ $0.loads == number }) else { return }
            let failure = SessionFailure(error)
            var isGone = false
            send(.notLoaded(failure, random: environment.random())) { running in
                guard running.machine.phase == .loading else { return }
                running.set(error)
                running.loadError = running.error?.number
                isGone = running.isGone(failure, error)
            }
            if isGone { send(.obstacleGone) }
        }
    }

    /// Says that nothing is left to be pulled, where that is so though the last round of pulls was another list's.
    private func reviewDownload() {
        running.withLock { running in
            let isDone = running.machine.isDownloadDone(at: environment.now())
            if isDone, running.download.progressEstimate < 1 { running.pulling = .complete }
        }
        progressed()
    }

    /// What tells the session of what happens, until it ends.
    private func listen(to context: SyncContext) -> [Task<Void, Never>] {
        // Subscribed before anything is read, so that nothing is missed in between.
        let changes = context.store.changes()
        let events = context.events.makeAsyncIterator()
        let networks = environment.reachability.changes()
        return [
            Task {
                for await change in changes where change.tables.contains(SystemTables.operations.name) {
                    await self.queueChanged(context)
                }
                if !Task.isCancelled { send(.closed) }
            },
            Task {
                var events = events
                while let event = await events.next() { self.happened(event) }
            },
            Task {
                var isFirst = true
                for await isThere in networks {
                    // What was so from the beginning is no change.
                    if !isFirst || !isThere { networkChanged(isThere) }
                    isFirst = false
                }
            },
        ]
    }

    /// Ends for good. Within a push, pull or reset of its own it does not wait for that, which waits for this call.
    func end() async {
        var tasks: [Task<Void, Never>] = []
        var work: [Task<Void, Never>] = []
        var storing: Task<Void, Never>?
        send(.closed) { running in
            tasks = running.listeners
            storing = running.storing
            if let task = running.workTask { work.append(task) }
        }
        let single = cancelSingleSyncs()
        for task in tasks + work { task.cancel() }
        for task in tasks { await task.value }
        await storing?.value
        guard !isWithinSync else { return }
        for task in work { await task.value }
        for task in single { _ = await task.result }
    }

    // MARK: Events

    /// Looks whether there is something to send that no push is due for.
    func queueChanged(_ context: SyncContext) async {
        // A push looks by itself what it leaves; what waits already need not be noticed again.
        let (isPushing, isScheduled, seen, hasWaiters) = running.withLock { running in
            running.wasStoreHeard = true
            let isAwaited = !running.waiters.isEmpty || !running.watchers.isEmpty
            return (running.isPushing, running.machine.pushDue != nil, running.seen, isAwaited)
        }
        storeWhatWaits(context)
        guard !isPushing else { return }
        // A store that was locked and tells of changes was unlocked.
        if running.withLock({ $0.error?.error.isOfLockedStore }) == true { send(.obstacleGone) }
        do {
            if !isScheduled, let seen, try await seen.review().hasNewer { send(.changed) }
            guard hasWaiters else { return }
            try await reviewUploads()
            try await reviewProgress()
        } catch {
            // The store fails, or is being closed; the next sync finds out which.
            send(.changed)
        }
    }

    /// The system says whether there is a network, or that it is another one.
    func networkChanged(_ isThere: Bool) {
        send(.network(isThere: isThere)) { if isThere { $0.wasNetworkHeard = true } }
    }

    private func happened(_ event: SyncEvent) {
        switch event {
        case .operationTaken, .operationNotTaken, .pageApplied:
            answered()
            progressed()
        default: break
        }
    }

    /// Tells the machine that the service has answered, where that is news.
    func answered() {
        if running.withLock({ $0.machine.needsSign(at: environment.now()) }) { send(.answered) }
    }

    // MARK: What is asked of it

    /// Whether a push, pull or reset waits for what the task does, or is taken to.
    var isWithinSync: Bool { gate.isWithinTurn || context?.isWithinSync == true }

    /// Takes over what an earlier process has suspended, for those who follow that before anybody has started the session.
    ///
    /// - Throws: What reading the store throws.
    package func readSuspension() async throws {
        guard let context else { return }
        send(.suspensionRead(SyncDirection(stored: try await context.storedSuspension())))
    }

    func tryAgain() async -> Reconnection {
        var before: Reconnection?
        var begun = 0
        send(.reconnect) { (before, begun) = ($0.machine.reconnectionBefore, $0.begun) }
        if let before, before != .alreadyConnecting { return before }
        // What was begun may have ended by now.
        guard running.withLock({ $0.machine.isTrying || $0.begun != begun }) else { return before ?? .nothingToDo }
        defer {
            // Who has ended the attempt may not have told of it yet, and the caller looks how it ended.
            send(.woken)
        }
        // Within a push that waits for this call nothing would end before it.
        guard !isWithinSync else { return before ?? .tried }
        // What follows from changes that were made meanwhile is no part of the attempt: it might never end.
        await workEnds(orAttempt: true)
        return before ?? .tried
    }

    /// Returns when the work under way has ended and no more follows, or the task is cancelled; or with the end of the first
    /// that was not called off.
    func workEnds(orAttempt endsWithAttempt: Bool = false) async {
        let number = running.withLock { $0.newNumber() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = running.withLock { running in
                    if !running.machine.isTrying || running.cancelledWaits.remove(number) != nil { return true }
                    running.afterWork[number] = (continuation, endsWithAttempt)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let continuation = running.withLock { running in
                let continuation = running.afterWork.removeValue(forKey: number)?.continuation
                if continuation == nil { running.cancelledWaits.insert(number) }
                return continuation
            }
            continuation?.resume()
        }
        running.withLock { _ = $0.cancelledWaits.remove(number) }
    }
}

extension SessionMachine.Settings {
    init(_ options: SessionOptions) {
        self.init(
            pullInterval: options.pullInterval,
            pushDelay: options.pushDelay,
            backoff: options.backoff,
            resetsManually: options.resetMode.isManual,
            maximumOfflineTime: options.maximumOfflineTime
        )
    }
}

extension SessionMachine {
    /// What a wish to reconnect comes to, where that is known before it is told.
    fileprivate var reconnectionBefore: SyncSession.Reconnection? {
        switch phase {
        case .inactive, .closed: .notStarted
        case .failed: .failedForGood
        case .loading, .running: open.isEmpty ? .suspended : isTrying ? .alreadyConnecting : nil
        }
    }

    /// Whether something is under way, or it is about to be seen what is to be done.
    fileprivate var isTrying: Bool { phase != .closed && work != nil || phase == .loading && loadDue == nil }

    /// Whether waiting for these directions makes sense.
    func isWorking(in direction: SyncDirection) -> Bool { isStarted && direction.isDisjoint(with: suspended) }
}
