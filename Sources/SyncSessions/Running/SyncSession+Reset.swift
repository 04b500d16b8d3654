#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

internal import OfflineSync
internal import SyncContract
internal import Synchronization

// A server that has lost its history.
extension SyncSession {
    /// Brings everything anew, as the options say.
    func reset(_ pulls: [SessionPull], _ context: SyncContext) async throws {
        // What the app has said of it is stored first.
        let asked = try await resetsAsked(context)
        running.withLock { running in
            running.cycle += 1
            running.pulling = DownloadProgress(pulls: pulls.count)
        }
        progressed()
        let isBrought: Bool
        do {
            isBrought = try await reset(pulls, context, running.withLock { $0.options.resetMode }, isForAge: true) {
                [weak self] progress in
                self?.running.withLock { $0.pulling.report(progress) }
                self?.answered()
                self?.progressed()
            }
        } catch let futile as FutileReset {
            send(.reset(asked: asked))
            send(.answered)
            failed(futile.pull, futile.cause)
            return
        }
        // Where nothing but the end was left, nothing was asked of the server: the pulls are still to be made.
        if isBrought {
            for index in pulls.indices {
                running.withLock { $0.pulling.finish() }
                send(.pulled(index))
            }
            send(.answered)
        }
        send(.reset(asked: asked))
        // What it has made a conflict is to be settled by a push.
        if try await context.isPushDue(context.outstandingChanges()) { send(.changed) }
        try await reviewUploads()
        try await reviewProgress()
    }

    /// The same for one sync that no start has asked for. Where it is given up, that goes on without.
    func resetOnce(
        _ pulls: [SessionPull],
        _ context: SyncContext,
        _ options: SessionOptions,
        asked: Int,
        isForAge: Bool
    ) async throws {
        do {
            _ = try await reset(pulls, context, options.resetMode, isForAge: isForAge, isOneSync: true) { _ in }
        } catch is FutileReset {
            // The pull that fails says why.
        }
        send(.reset(asked: asked))
    }

    /// How often the app has said so far that the server has lost its history, when all of that is stored: also what could not
    /// be while the store was locked, be it said to a session that has ended.
    func resetsAsked(_ context: SyncContext) async throws -> Int {
        storeWhatWaits(context)
        let (storing, asked) = running.withLock { ($0.storing, $0.machine.resetsAsked) }
        await storing?.value
        try await context.requestAnnouncedReset()
        return asked
    }

    /// Whether such a sync has to do that first. A pull that fails on its own says nothing of the device.
    func mustReset(
        _ pulls: [SessionPull],
        _ open: SyncDirection,
        _ context: SyncContext,
        _ options: SessionOptions
    ) async throws -> Bool {
        if try await context.resetStage() != .none { return true }
        if running.withLock({ $0.machine.isResetFutile }) { return false }
        guard open.contains(.download) else { return false }
        var isAnyTooOld = false
        for pull in pulls where !isAnyTooOld { isAnyTooOld = try await isTooOld(pull, context, options) }
        guard isAnyTooOld, !options.resetMode.isManual else { return isAnyTooOld }
        do {
            for pull in pulls { try await context.ask(pull.source, queryID: pull.queryID, options: pull.options) }
            return true
        } catch  where error.isOfOnePull || error.mayBeOfOnePull {
            return false
        }
    }

    /// Whether something that is kept was not complete for longer than a device may be away.
    private func isTooOld(
        _ pull: SessionPull,
        _ context: SyncContext,
        _ options: SessionOptions
    ) async throws -> Bool {
        guard let most = options.maximumOfflineTime,
            let last = try await context.lastCompletePull(of: pull.source, pull.name)
        else { return false }
        return .seconds(environment.date().timeIntervalSince(last)) > most
    }

    /// How a pull is made, and whether all is here then of which the server tells. One that is too old, while another one keeps
    /// everything from being brought anew, reconciles: it finds what the server has forgotten that it was deleted.
    func options(
        of pull: SessionPull,
        among pulls: [SessionPull],
        _ order: PullOptions.Order,
        _ context: SyncContext
    ) async throws -> (PullOptions, isWhole: Bool) {
        let (options, settings) = (pull.options(order), running.withLock { $0.options })
        guard !settings.resetMode.isManual, try await isTooOld(pull, context, settings) else { return (options, true) }
        // With parameters some pulls may bring rows that others do not.
        let mayReconcile = pulls.allSatisfy {
            $0.source.table != pull.source.table || $0.options.parameters.isEmpty
        }
        guard mayReconcile else { return (options, false) }
        var reconciling = options
        reconciling.reconciles = true
        (reconciling.maximumRows, reconciling.maximumTime) = (nil, nil)
        return (reconciling, true)
    }

    /// Whether everything is brought anew because of the time alone, and by the session.
    func isResetByTime(_ context: SyncContext) async throws -> Bool {
        guard !running.withLock({ $0.machine.needsReset || $0.options.resetMode.isManual }) else { return false }
        return try await context.resetStage() == .none
    }

    /// Whether everything is here since it was decided to bring it anew because of its age: the machine knows of nothing that one
    /// sync, or another session over the store, has brought, and is told.
    func isResetNeedless(_ pulls: [SessionPull], _ context: SyncContext) async throws -> Bool {
        let (isSaid, options, known) = running.withLock { ($0.machine.needsReset, $0.options, $0.completions) }
        guard !isSaid, try await context.resetStage() == .none else { return false }
        var ages: [Int: Duration] = [:]
        for (index, date) in try await dates(of: pulls, context).enumerated() {
            // What this session has brought itself, or has read, is known; a clock that was set back makes it no younger.
            guard let date, date.isOther(than: known[pulls[index].key]) else { continue }
            let age = environment.date().timeIntervalSince(date)
            if age >= 0 { ages[index] = .seconds(age) }
        }
        let isAnyTooOld = running.withLock { running in
            running.machine.isAnyTooOld(at: environment.now(), whereNotYounger: ages)
        }
        let areYounger = options.maximumOfflineTime.map { most in ages.values.allSatisfy { $0 <= most } } ?? true
        guard !isAnyTooOld, areYounger else { return false }
        send(.aged(ages))
        return true
    }

    /// When each pull was complete; nil for those that never were.
    func dates(of pulls: [SessionPull], _ context: SyncContext) async throws -> [Date?] {
        var dates: [Date?] = []
        for pull in pulls { dates.append(try await context.lastCompletePull(of: pull.source, pull.name)) }
        return dates
    }

    /// The date at which a pull of this session is complete, which is now.
    func completionDate(of pull: SessionPull) -> Date {
        let date = environment.date()
        running.withLock { $0.completions[pull.key] = date }
        return date
    }

    /// - Returns: Whether everything was brought: not where that was done before, and only the end was left, or somebody else has
    ///   done it meanwhile.
    private func reset(
        _ pulls: [SessionPull],
        _ context: SyncContext,
        _ mode: ResetMode,
        isForAge: Bool,
        isOneSync: Bool = false,
        _ progress: @escaping @Sendable (SyncProgress) -> Void
    ) async throws -> Bool {
        let dates = try await dates(of: pulls, context)
        let stage = try await context.resetStage()
        let decision = ResetDecision(stage) {
            try await zip(dates, self.dates(of: pulls, context)).allSatisfy { $1 != nil && $0 != $1 }
        }
        let report: ResetReport
        var isBrought = true
        if case .done(let done) = stage {
            (report, isBrought) = (done, false)
        } else {
            guard !mode.isManual else {
                do { try await context.endReset(since: decision) } catch is ResetDoneMeanwhile { return false }
                throw SyncError(
                    .historyLost,
                    "The server has lost its history, or this device was away for too long; everything is as it was. Start the"
                        + " session with another mode to have everything brought anew, or purge what is to come again."
                )
            }
            if !stage.isBegun, let before = mode.before {
                try await context.withoutExchange { try await AppFailure.telling { try await before(context) } }
            }
            let isSaid = running.withLock { $0.machine.needsReset }
            let isForAge = stage == .begunForAge || stage == .none && isForAge && !isSaid
            do {
                report = try await context.reset(
                    onto: pulls.map { pull in
                        var options = pull.options
                        options.progress = progress
                        return FreshPull(pull.source, queryID: pull.queryID, options: options)
                    },
                    discardsChanges: mode.discardsChanges,
                    since: decision,
                    forAge: isForAge,
                    willBring: { [weak self] index in self?.running.withLock { $0.bringing = index } },
                    complete: { transaction in
                        for pull in pulls {
                            // What one sync brings is news to the machine.
                            let date = isOneSync ? self.environment.date() : self.completionDate(of: pull)
                            try context.storeCompletePull(of: pull.source, pull.name, at: date, &transaction)
                        }
                    }
                )
            } catch is ResetDoneMeanwhile {
                return false
            } catch  where isForAge && (error.isOfOnePull || error.mayBeOfOnePull) {
                try await giveUpFutileReset(error, pulls, context)
                throw error
            }
        }
        if let after = mode.after { try await AppFailure.telling { try await after(context, report) } }
        // Who suspends the session meanwhile must not have the hook called again that has returned.
        try await uncancelled { try await context.finishReset() }
        return isBrought
    }

    /// Gives up what cannot end, and is done for nothing but the age of what was, because one of its pulls fails on its own: where
    /// that is refused, or has brought nothing new since it failed before, while another one is answered, or at least the table of
    /// the only one.
    ///
    /// - Throws: ``FutileReset`` when it was given up.
    private func giveUpFutileReset(_ error: any Error, _ pulls: [SessionPull], _ context: SyncContext) async throws {
        let rows = try await context.freshRowCount()
        let (pull, isStuck) = running.withLock { running in
            let standstill = Standstill(pull: running.bringing, rows: rows)
            defer { running.standstill = standstill }
            return (running.bringing, SessionFailure(error) == .permanent || running.standstill == standstill)
        }
        guard isStuck else { return }
        // A server that fails for a while fails on all of them.
        guard try await isAnswered(beside: pull, pulls, context) else { return }
        guard try await context.giveUpReset() else { return }
        send(.resetGivenUp) { $0.standstill = nil }
        throw FutileReset(pull: pull, cause: error)
    }

    /// Whether the server answers another pull than the one that fails; one of these may fail on its own as well.
    ///
    /// - Throws: What keeps all of them from being answered.
    private func isAnswered(beside failing: Int, _ pulls: [SessionPull], _ context: SyncContext) async throws -> Bool {
        let others = pulls.indices.filter { $0 != failing }
        guard !others.isEmpty else { return try await context.answers(pulls[failing].source.table) }
        var failure: (any Error)?
        for other in others {
            let pull = pulls[other]
            do {
                try await context.ask(pull.source, queryID: pull.queryID, options: pull.options)
                return true
            } catch  where error.isOfOnePull || error.mayBeOfOnePull {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
        return false
    }

    /// Bringing everything anew was given up.
    private struct FutileReset: Error {
        /// The pull that fails, and why.
        let pull: Int
        let cause: any Error
    }

    /// Where it failed: the pull, and how many rows had come until then.
    struct Standstill: Sendable, Equatable {
        var pull: Int
        var rows: Int
    }
}

extension SessionPull {
    /// What tells one from others.
    struct Key: Sendable, Hashable {
        let source: Query
        let name: PullName
    }

    var key: Key { Key(source: source, name: name) }
}

extension Date {
    /// Whether this is not a date that was stored as this, in milliseconds.
    fileprivate func isOther(than stored: Date?) -> Bool {
        stored.map { abs(timeIntervalSince($0)) > 0.002 } ?? true
    }
}
