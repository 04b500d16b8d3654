internal import OfflineSync
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
            let failure = try await gate.withTurn {
                try await steps(of: work, pulls, context)
            }
            return (failure.map { SessionFailure($0) }, failure)
        } catch {
            return (SessionFailure(error), error)
        }
    }

    /// Pulls what precedes a push, pushes, and pulls the rest. A pull that the server refuses or fails on keeps none of the
    /// others from being made; where it precedes the push, nothing is sent.
    ///
    /// - Returns: The failure of the server on a change, which stops nothing else.
    private func steps(
        of work: SessionMachine.Work,
        _ pulls: [SessionPull],
        _ context: SyncContext
    ) async throws -> (any Error)? {
        guard !work.resets else {
            try await reset(pulls, context)
            return nil
        }
        var failure: (any Error)?
        if !work.pulls.isEmpty {
            running.withLock { running in
                running.cycle += 1
                running.pulling = DownloadProgress(pulls: work.pulls.count)
            }
            progressed()
        }
        let preceding = work.pushes ? work.pulls.filter { pulls[$0].precedesPush } : []
        if work.pushes {
            failure = try await push(context) { try await pull(preceding, of: pulls, .pullFirst, context) }
        }
        _ = try await pull(work.pulls.filter { !preceding.contains($0) }, of: pulls, .pullOnly, context)
        return failure
    }

    /// Sends what waits, after something that precedes it, unless that says no.
    ///
    /// - Returns: The failure of the server on a change that is to be sent again.
    private func push(_ context: SyncContext, after preceding: () async throws -> Bool) async throws -> (any Error)? {
        // Who begins to wait from here on waits for the next push.
        let passed = running.withLock { running in
            running.isPushing = true
            return Set(running.waiters.keys)
        }
        defer { running.withLock { $0.isPushing = false } }
        let changes = try await context.outstandingChanges()
        guard try await preceding() else { return nil }
        var report: PushReport?
        if try await context.isPushDue(changes) { report = try await context.push() }
        if report?.requests ?? 0 > 0 { send(.answered) }
        // From here on changes are noticed again; those from before are found here.
        running.withLock { running in
            running.isPushing = false
            running.seen = changes
        }
        let review = try await changes.review()
        let failed = Set(report?.failures.map(\.operationID) ?? []).intersection(review.open)
        try await reviewUploads(passing: passed, failed: failed.union(review.edited))
        try await reviewProgress()
        let failure = report?.failures.first(where: { failed.contains($0.operationID) })
        if failure == nil {
            send(.pushed(hasNewer: review.hasNewer))
            // What has come since that look found a push that was still due, and left it to that.
            if !review.hasNewer { await queueChanged(context) }
        }
        return failure.map { ServerFailure($0) }
    }

    /// Makes pulls, one after the other.
    ///
    /// - Returns: Whether all are complete.
    private func pull(
        _ indices: [Int],
        of pulls: [SessionPull],
        _ order: PullOptions.Order,
        _ context: SyncContext
    ) async throws -> Bool {
        var areComplete = true
        for index in indices {
            do {
                try await pull(pulls[index], order, context)
                send(.pulled(index))
            } catch  where error.isOfOnePull {
                areComplete = false
                send(.answered)
                send(.pullFailed(index, SessionFailure(error), random: environment.random())) {
                    $0.pullErrors[index] = error
                }
            }
        }
        return areComplete
    }

    private func pull(_ pull: SessionPull, _ order: PullOptions.Order, _ context: SyncContext) async throws {
        var options = pull.options
        options.order = order
        let told = options.progress
        options.progress = { [weak self] progress in
            told?(progress)
            self?.running.withLock { $0.pulling.report(progress) }
            self?.answered()
            self?.progressed()
        }
        var isComplete = false
        // One that has met its bound goes on: it lets others in between.
        while !isComplete {
            try Task.checkCancellation()
            let report =
                if let queryID = pull.queryID {
                    try await context.pull(pull.source, queryID: queryID, options: options)
                } else {
                    try await context.pull(pull.source, options: options)
                }
            if report.requests > 0 { send(.answered) }
            isComplete = report.isComplete
        }
        running.withLock { $0.pulling.finish() }
        progressed()
        try await context.storeCompletePull(of: pull.source, pull.name, at: environment.date())
    }
}

/// The server failed on a change, which may have been carried out all the same; it is sent again.
struct ServerFailure: Error, CustomStringConvertible {
    let status: Int?
    let message: String

    init(_ error: TableOperationError<Record>) {
        status = error.status
        message = error.message
    }

    var description: String { "The server failed on a change: \(message)" + (status.map { " (HTTP \($0))" } ?? "") }
}
