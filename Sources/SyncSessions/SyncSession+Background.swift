public import OfflineSync
internal import Synchronization
internal import SyncContract

extension SyncSession {
    /// One sync that ends in time and leaves the rest to the next: for a background task, or a call by a timer of the system.
    ///
    /// Where the server has lost its history it has everything brought anew first, as ``SessionOptions/resetMode`` of the last
    /// start says, and recovers what waits otherwise.
    ///
    /// It needs no started session and takes turns with one that is; what is kept is what the last start has named, all
    /// tables otherwise. Pulls that precede pushes are made first, and where one of them fails nothing is sent. It sends
    /// nothing in a direction that is suspended. When the time is over, what is under way is cancelled, which loses nothing:
    /// the next sync goes on from there. So it is by ``suspend(_:)``, ``serverWasReset()`` and ``close()``.
    ///
    /// - Parameter time: How long it may take, 0 to 100 years; that of another sync it waits for included.
    /// - Returns: What was done. ``/OfflineSync/SyncReport/isComplete`` is false when the time was over first, it was cancelled by
    ///   the session, or everything has to be brought anew while downloads are suspended, or once more: nothing is sent then either.
    /// - Throws: As ``/OfflineSync/SyncContext/sync()``, what the server says against one pull, or what broke it off,
    ///   when the others were made; ``/OfflineSync/SyncError`` with code `sessionEnded` when the session was closed or
    ///   its context is gone; `CancellationError` when the calling task was cancelled.
    public func sync(within time: Duration) async throws -> SyncReport {
        guard let context else { throw Self.ended }
        let results = BackgroundResults()
        let begun = running.withLock { running -> (number: Int, work: Task<Bool, any Error>)? in
            guard running.machine.phase != .closed else { return nil }
            let number = running.newNumber()
            let work = Task { try await self.syncOnce(context, within: time, results) }
            running.singleSyncs[number] = work
            return (number, work)
        }
        guard let (number, work) = begun else { throw Self.ended }
        defer { running.withLock { _ = $0.singleSyncs.removeValue(forKey: number) } }
        do {
            let isComplete = try await withTaskCancellationHandler {
                try await work.value
            } onCancel: {
                work.cancel()
            }
            return await results.report(isComplete: isComplete, context)
        } catch is CancellationError where work.isCancelled && !Task.isCancelled {
            // The session has cancelled it.
            guard running.withLock({ $0.machine.phase != .closed }) else { throw Self.ended }
            return await results.report(isComplete: false, context)
        } catch {
            guard var error = SyncError(ending: error) else { throw error.ofApp }
            results.tell(in: &error)
            throw error
        }
    }

    private static var ended: SyncError { SyncError(.sessionEnded, "The session has ended; open the store again.") }

    /// Cancels the syncs that no start has asked for.
    @discardableResult
    func cancelSingleSyncs() -> [Task<Bool, any Error>] {
        let syncs = running.withLock { Array($0.singleSyncs.values) }
        for sync in syncs { sync.cancel() }
        return syncs
    }

    /// - Returns: Whether the time was enough.
    private func syncOnce(
        _ context: SyncContext,
        within time: Duration,
        _ results: BackgroundResults
    ) async throws -> Bool {
        let isComplete = try await withThrowingTaskGroup(of: Bool.self) { group in
            let deadline = environment.now() + time.asWait
            group.addTask {
                try await self.gate.withTurn { try await self.syncOnce(context, until: deadline, results) }
            }
            group.addTask {
                try await self.environment.sleepUntil(deadline)
                return false
            }
            let isComplete = try await group.next() ?? false
            group.cancelAll()
            // What is under way records what has arrived before the report is made.
            while true {
                do { if try await group.next() == nil { break } } catch {
                    // It was cancelled, or failed on its last breath: the next sync finds out.
                }
            }
            return isComplete
        }
        try Task.checkCancellation()
        return isComplete
    }

    /// - Returns: Whether the time was enough.
    private func syncOnce(
        _ context: SyncContext,
        until deadline: Duration,
        _ results: BackgroundResults
    ) async throws -> Bool {
        let asked = try await resetsAsked(context)
        let stored = SyncDirection(stored: try await context.storedSuspension())
        let open = SyncDirection.both.subtracting(stored).subtracting(running.withLock { $0.machine.suspended })
        let (kept, options) = running.withLock { ($0.pulls, $0.options) }
        let pulls = kept.isEmpty ? context.store.schema.syncedTables.map { SessionPull(Query($0.name)) } : kept
        let mustReset = try await mustReset(pulls, open, context, options)
        guard !mustReset || open.contains(.download) else { return false }
        if mustReset {
            try await resetOnce(pulls, context, options, asked: asked, isForAge: true)
            // It may be wanted once more by now.
            guard try await context.resetStage() == .none else { return false }
        }
        do {
            return try await syncOnce(pulls, open, context, until: deadline, results)
        } catch let error as SyncError where error.code == .historyLost && !mustReset {
            guard open.contains(.download) else { return false }
            try await resetOnce(pulls, context, options, asked: asked, isForAge: false)
            guard try await context.resetStage() == .none else { return false }
            return try await syncOnce(pulls, open, context, until: deadline, results)
        }
    }

    private func syncOnce(
        _ pulls: [SessionPull],
        _ open: SyncDirection,
        _ context: SyncContext,
        until deadline: Duration,
        _ results: BackgroundResults
    ) async throws -> Bool {
        // Where one sync has come to nothing, the next one begins behind that.
        let stored = try await context.storedFirstPull()
        var course = PullCourse(
            of: open.contains(.download) ? pulls.count : 0,
            from: stored ?? running.withLock { $0.nextAsked }
        ) {
            open.contains(.upload) && pulls[$0].precedesPush(in: context)
        }
        let time = deadline - environment.now()
        var failures = PullFailures()
        func bring(_ indices: [Int], _ order: PullOptions.Order) async throws -> Bool {
            try await self.bring(indices, of: pulls, order, context, until: deadline, results, &course, &failures)
        }
        var forbidden: SyncError?
        var isInTime = true
        if course.beginsWithOthers { isInTime = try await bring(course.others, .pullOnly) }
        let failed = failures.count
        if isInTime { isInTime = try await bring(course.preceding, .pullFirst) }
        course.leavesLittleTime = deadline - environment.now() < time / 2
        if open.contains(.upload), isInTime, failures.count == failed {
            let changes = try await context.outstandingChanges()
            results.began(changes)
            do {
                if try await context.isPushDue(changes) { results.ended(try await context.pushTellingApp()) }
            } catch let error as SyncError where error.isOfForbiddenChanges {
                // Who may not write may read.
                forbidden = error
            }
        }
        if isInTime, !course.beginsWithOthers { isInTime = try await bring(course.others, .pullOnly) }
        // All were made: the next time they are made as they are named again.
        if isInTime, !course.isEmpty, stored != nil { try await context.storeFirstPull(nil) }
        if let failure = failures.first ?? forbidden { throw failure }
        // Nothing fails any more.
        if isInTime, !course.isEmpty { running.withLock { $0.nextAsked = 0 } }
        return isInTime
    }

    /// Why pulls have failed that others are made without, how many have, and how many have broken off in a row.
    private struct PullFailures {
        var first: (any Error)?
        var count = 0
        var broken = 0
    }

    /// Makes pulls, one after the other, each wholly.
    ///
    /// - Returns: Whether the time was enough for all of them.
    private func bring(
        _ indices: [Int],
        of pulls: [SessionPull],
        _ order: PullOptions.Order,
        _ context: SyncContext,
        until deadline: Duration,
        _ results: BackgroundResults,
        _ course: inout PullCourse,
        _ failures: inout PullFailures
    ) async throws -> Bool {
        for index in indices {
            let pull = pulls[index]
            var (options, isWhole) = try await options(of: pull, among: pulls, order, context)
            course.begins()
            do {
                var isComplete = false
                while !isComplete {
                    let rest = deadline - environment.now()
                    options.maximumTime = max(.zero, rest)
                    let report = try await context.pull(
                        pull,
                        options,
                        completeAt: isWhole ? environment.date : nil
                    )
                    results.ended(report)
                    isComplete = report.isComplete
                    let isInTime = options.reconciles ? environment.now() < deadline : rest > .zero
                    guard isComplete || isInTime else {
                        if options.reconciles { try await context.storeFirstPull(course.beginning(behind: index)) }
                        return false
                    }
                }
                failures.broken = 0
            } catch let error as CancellationError {
                if options.reconciles { try await context.storeFirstPull(course.beginning(behind: index)) }
                throw error
            } catch  where error.isOfOnePull {
                failures.count += 1
                failures.first = failures.first ?? error
                if error.isAnswer { failures.broken = 0 }
            } catch  where error.mayBeOfOnePull {
                failures.count += 1
                // The others are made all the same; when three in a row break off, nothing gets through.
                (failures.first, failures.broken) = (failures.first ?? error, failures.broken + 1)
                guard failures.broken < 3 else {
                    try await context.storeFirstPull(index + 1)
                    throw error
                }
            }
        }
        return true
    }
}

/// What a sync has done so far.
private final class BackgroundResults: Sendable {
    private struct State {
        var changes: OutstandingChanges?
        var push: PushReport?
        var pulls: [PullReport] = []
    }

    private let state = Mutex(State())

    func began(_ changes: OutstandingChanges) { state.withLock { $0.changes = changes } }
    func ended(_ report: PushReport) {
        state.withLock { state in
            state.push = report.adding(state.push)
            state.changes = nil
        }
    }
    func ended(_ report: PullReport) { state.withLock { $0.pulls.append(report) } }

    /// Has an error tell what was done before it and beside it.
    func tell(in error: inout SyncError) {
        let (push, pulls) = state.withLock { ($0.push, $0.pulls) }
        error.push = error.push.map { $0.adding(push) } ?? push
        let all = pulls + (error.pull.map { [$0] } ?? [])
        // Of pulls in parts the last one says it.
        let isComplete = all.last?.isComplete ?? false
        if !all.isEmpty { error.pull = SyncReport(push: nil, pulls: all, isComplete: isComplete).pull }
    }

    func report(isComplete: Bool, _ context: SyncContext) async -> SyncReport {
        let (changes, push, pulls) = state.withLock { ($0.changes, $0.push, $0.pulls) }
        // Where none was made, or was cancelled, what earlier ones have left is told all the same, and what it has sent is known.
        var whole = push
        if push == nil || changes != nil {
            var untold = PushReport(pushed: 0)
            do {
                untold = try await context.reportOfNothingSent()
            } catch {
                // The store was locked or closed meanwhile, or the task cancelled: what was done is told all the same.
            }
            if let changes { untold = untold.adding(PushReport(pushed: changes.total - changes.count)) }
            whole = untold.adding(push, withWhatItLeft: true)
        }
        return SyncReport(push: whole, pulls: pulls, isComplete: isComplete)
    }
}
