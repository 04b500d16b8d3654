#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

internal import OfflineSync
internal import RemoteContract
internal import SyncContract
internal import Synchronization

// What a session does in one go.
extension SyncSession {
    /// Does what the machine has decided, and says how it ended.
    func perform(
        _ work: SessionMachine.Work,
        _ pulls: [SessionPull],
        _ context: SyncContext
    ) async -> (SessionFailure?, (any Error)?) {
        do {
            try await gate.withTurn { try await steps(of: work, pulls, context) }
            return (nil, nil)
        } catch {
            let error = (error as? EndedPush)?.cause ?? error
            return (SessionFailure(error), error)
        }
    }

    /// Pulls what precedes a push, pushes, and pulls the rest. A pull that the server refuses or fails on keeps none of
    /// the others from being made, nor does one that breaks off while another one is answered; where it precedes the
    /// push, nothing is sent. What keeps changes from being taken keeps no pull from being made.
    private func steps(
        of work: SessionMachine.Work,
        _ pulls: [SessionPull],
        _ context: SyncContext
    ) async throws {
        guard !work.resets else {
            guard try await !isResetNeedless(pulls, context) else { return }
            if try await isResetByTime(context) {
                guard try await areAnswered(pulls, context) else { return }
            }
            return try await reset(pulls, context)
        }
        var broken: [BrokenPull] = []
        if !work.pulls.isEmpty {
            running.withLock { running in
                running.cycle += 1
                running.pulling = DownloadProgress(pulls: work.pulls.count)
            }
            progressed()
        }
        let preceding = work.pushes ? work.pulls.filter { pulls[$0].precedesPush(in: context) } : []
        if work.pushes {
            try await push(context) { try await pull(preceding, of: pulls, .pullFirst, context, &broken) }
        }
        _ = try await pull(work.pulls.filter { !preceding.contains($0) }, of: pulls, .pullOnly, context, &broken)
        try await judge(&broken, of: pulls, context)
    }

    /// Sends between pulls, and between the parts of one, what is due meanwhile: no change waits for all the rows there are.
    private func pushMeanwhile(_ context: SyncContext) async throws {
        guard isPushDueMeanwhile else { return }
        let pushes = running.withLock { $0.machine.work?.pushes ?? false }
        send(.pushing)
        defer { send(.pushingEnded(pushes)) }
        guard running.withLock({ $0.machine.work?.pushes ?? false }) else { return }
        do {
            try await push(context) { true }
        } catch  where !(error is CancellationError) {
            // No pull is to blame for it.
            throw EndedPush(cause: error)
        }
    }

    /// Whether something is due to be sent while pulls are under way, and the server has not failed on it.
    private var isPushDueMeanwhile: Bool {
        running.withLock { $0.machine.isPushDue(at: environment.now()) }
    }

    /// Sends what waits, after something that precedes it, unless that says no. That the server forbids it, or fails on a change
    /// that is to be sent again, is told to the machine.
    private func push(_ context: SyncContext, after preceding: () async throws -> Bool) async throws {
        // What comes meanwhile goes with this push; what is answered or given up is noticed, whether or not there is one.
        guard try await preceding() else { return }
        // Who begins to wait from here on waits for the next push.
        let passed = running.withLock { running in
            running.isPushing = true
            return Set(running.waiters.keys)
        }
        defer { running.withLock { $0.isPushing = false } }
        let changes = try await context.outstandingChanges()
        var report: PushReport?
        do {
            if try await context.isPushDue(changes) { report = try await context.pushTellingApp() }
        } catch {
            running.withLock { $0.isPushing = false }
            await reviewAnswers()
            guard let error = error as? SyncError, error.isOfForbiddenChanges else { throw error }
            return pushFailed(error)
        }
        if report?.requests ?? 0 > 0 { send(.answered) }
        // From here on changes are noticed again; those from before are found here.
        running.withLock { running in
            running.isPushing = false
            running.seen = changes
        }
        let review = try await changes.review()
        let failed = Set(report?.failures.map(\.operationID) ?? []).intersection(review.open)
        let overtaken = (report?.overtaken ?? 0) + (report?.overtakenUndos ?? 0)
        // What waits may have waited for what this push has sent at last, or for what was made meanwhile.
        let (waiting, pushed) = (report?.waiting ?? 0, report?.pushed ?? 0)
        let hasNewer = review.hasNewer || waiting > 0 && pushed > 0
        // A further push is made, and says more of what this one has left behind.
        let goesOn = overtaken > 0 || !failed.isEmpty || hasNewer && waiting > 0
        try await reviewUploads(passing: goesOn ? [] : passed)
        try await reviewProgress()
        if let failure = report?.failures.first(where: { failed.contains($0.operationID) }) {
            return pushFailed(ServerFailure(failure, wait: report?.retryAfter))
        }
        guard overtaken == 0 || hasNewer else { return pushFailed(OvertakenChanges()) }
        send(.pushed(hasNewer: hasNewer))
        // What has come since that look found a push that was still due, and left it to that.
        if !hasNewer { await queueChanged(context) }
    }

    /// A push has failed while the service answers.
    private func pushFailed(_ error: any Error) {
        send(.pushFailed(SessionFailure(error), random: environment.random())) {
            $0.pushFailure = (error as? any ToldError)?.told ?? error
        }
    }

    /// Tells what was answered, be it by a push that has ended early, or before somebody waited for it.
    func reviewAnswers() async {
        do {
            try await reviewUploads()
            try await reviewProgress()
        } catch {
            // What has ended the push says more; the next one looks again.
        }
    }

    /// A pull that has broken off, as long as nothing was answered since: whether it is at fault itself is not known.
    private struct BrokenPull {
        let index: Int
        let error: any Error
    }

    /// Makes pulls, one after the other. Of those that have broken off, and nothing was answered since, some may be
    /// from before these; the last of them is left to what comes behind.
    ///
    /// - Returns: Whether all are complete.
    /// - Throws: What stands against all pulls.
    private func pull(
        _ indices: [Int],
        of pulls: [SessionPull],
        _ order: PullOptions.Order,
        _ context: SyncContext,
        _ broken: inout [BrokenPull]
    ) async throws -> Bool {
        var areComplete = true
        for index in indices {
            do {
                let isWhole = try await pull(pulls[index], among: pulls, order, context)
                send(isWhole ? .pulled(index) : .pulledNews(index))
            } catch  where error.isOfOnePull {
                areComplete = false
                failed(index, error)
                // One that is refused here says nothing of those that have broken off.
                guard error.isAnswer else { continue }
                send(.answered)
            } catch  where error.mayBeOfOnePull {
                areComplete = false
                broken.append(BrokenPull(index: index, error: error))
                if broken.count > 1 { try await judge(&broken, of: pulls, context) }
                continue
            }
            for other in broken { failed(other.index, other.error) }
            broken = []
            if order == .pullOnly { try await pushMeanwhile(context) }
        }
        if areComplete, !indices.isEmpty { running.withLock { $0.nextAsked = 0 } }
        return areComplete
    }

    /// Finds out whether all pulls are answered, so that everything can be brought anew by them. One that fails on its own would
    /// keep that from ever ending, and everything else with it.
    private func areAnswered(_ pulls: [SessionPull], _ context: SyncContext) async throws -> Bool {
        var broken: [BrokenPull] = []
        var areAnswered = true
        for index in pulls.indices {
            do {
                let pull = pulls[index]
                try await context.ask(pull.source, queryID: pull.queryID, options: pull.options)
                send(.probed(index))
                send(.answered)
            } catch  where error.isOfOnePull {
                areAnswered = false
                if error.isAnswer { send(.answered) }
                failed(index, error)
            } catch  where error.mayBeOfOnePull {
                areAnswered = false
                broken.append(BrokenPull(index: index, error: error))
            }
        }
        try await judge(&broken, of: pulls, context)
        return areAnswered
    }

    /// Finds out by one more pull, or request, whether those that have broken off are at fault themselves.
    ///
    /// - Throws: What stands against all pulls.
    private func judge(_ broken: inout [BrokenPull], of pulls: [SessionPull], _ context: SyncContext) async throws {
        guard let last = broken.last else { return }
        var others = pulls.indices.filter { index in !broken.contains { $0.index == index } }
        // One that is known to fail shows nothing. A start meanwhile has brought another list.
        let known = running.withLock { $0.machine.pulls }
        let sound = others.filter { known.indices.contains($0) && known[$0].obstacle == nil }
        if !sound.isEmpty { others = sound }
        // One behind the other from attempt to attempt: more of them may be at fault.
        let next = running.withLock { $0.nextAsked }
        var isAnswered = false
        while !isAnswered, let other = others.first(where: { $0 >= next }) ?? others.first {
            do {
                isAnswered = try await probe(other, of: pulls, context)
            } catch {
                running.withLock { $0.nextAsked = other + 1 }
                throw error
            }
            others.removeAll { $0 == other }
        }
        if !isAnswered {
            // There is no other one that is asked: a question for nothing but an answer of the table.
            guard try await context.answers(pulls[last.index].source.table) else { throw last.error }
        }
        send(.answered)
        for pull in broken { failed(pull.index, pull.error) }
        broken = []
    }

    /// A pull has failed while the service answers.
    func failed(_ index: Int, _ error: any Error) {
        send(.pullFailed(index, SessionFailure(error), random: environment.random())) { $0.pullErrors[index] = error }
    }

    /// Makes a pull for its answer alone.
    ///
    /// - Returns: Whether it was answered, as it is when the server refuses it: not when it is refused here.
    /// - Throws: What has kept it from being answered.
    private func probe(_ index: Int, of pulls: [SessionPull], _ context: SyncContext) async throws -> Bool {
        do {
            _ = try await context.pull(pulls[index], pulls[index].options(.pullOnly))
            send(.probed(index))
            return true
        } catch  where error.isOfOnePull {
            return error.isAnswer
        }
    }

    /// - Returns: Whether all is here of which the server tells: not where something may have been deleted long ago.
    private func pull(
        _ pull: SessionPull,
        among pulls: [SessionPull],
        _ order: PullOptions.Order,
        _ context: SyncContext
    ) async throws -> Bool {
        var (options, isWhole) = try await options(of: pull, among: pulls, order, context)
        let told = options.progress
        options.progress = { [weak self] progress in
            told?(progress)
            self?.running.withLock { $0.pulling.report(progress) }
            self?.answered()
            self?.progressed()
        }
        if order == .pullOnly {
            if options.reconciles {
                options.betweenPages = { [weak self] in try await self?.pushMeanwhile(context) }
            } else {
                options.isInterrupted = { [weak self] in self?.isPushDueMeanwhile ?? false }
            }
        }
        var isComplete = false
        // One that has met its bound goes on: it lets others in between.
        while !isComplete {
            try Task.checkCancellation()
            let date = { @Sendable in self.completionDate(of: pull) }
            let report = try await context.pull(pull, options, completeAt: isWhole ? date : nil)
            if report.requests > 0 { send(.answered) }
            isComplete = report.isComplete
            if !isComplete, order == .pullOnly { try await pushMeanwhile(context) }
        }
        running.withLock { $0.pulling.finish() }
        progressed()
        return isWhole
    }
}

extension SyncContext {
    /// Pulls what a session keeps, with other options, and pushes nothing.
    /// With a date, it is remembered as that of the time when all was here.
    func pull(
        _ pull: SessionPull,
        _ options: PullOptions,
        completeAt date: (@Sendable () -> Date)? = nil
    ) async throws -> PullReport {
        try await pullWithoutPush(pull.source, queryID: pull.queryID, options: options) {
            // A purge that waits for this pull forgets it again.
            if let date { try await self.storeCompletePull(of: pull.source, pull.name, at: date()) }
        }
    }
}

/// A push between pulls, or between the pages of one, was ended by an error.
private struct EndedPush: Error { let cause: any Error }

/// Others have written rows as often as changes of them were sent.
struct OvertakenChanges: ToldError {
    var told: SyncError {
        SyncError(
            .operationChanged,
            "The server's rows changed each time that changes of them were sent; they stay queued and are sent again after a"
                + " while."
        )
    }
}

/// The server failed on a change, which may have been carried out all the same; it is sent again.
struct ServerFailure: ToldError {
    let status: Int?
    let message: String
    /// How long the server asks to wait.
    let wait: Duration?

    init(_ error: TableOperationError<Record>, wait: Duration?) {
        status = error.status
        message = error.message
        self.wait = wait
    }

    var told: SyncError {
        SyncError(
            .pushAbortedNetwork,
            "The server failed on a change, which stays queued and is sent again: \(message)"
                + (status.map { " (HTTP \($0))" } ?? ""),
            cause: RemoteError(.serverFailure, message, status: status, retryAfter: wait)
        )
    }
}

/// What the session has found out itself, and how it is told.
private protocol ToldError: Error {
    var told: SyncError { get }
}
