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
        let asked = await resetsAsked()
        running.withLock { running in
            running.cycle += 1
            running.pulling = DownloadProgress(pulls: pulls.count)
        }
        progressed()
        try await reset(pulls, context, running.withLock { $0.options.resetMode }) { [weak self] progress in
            self?.running.withLock { $0.pulling.report(progress) }
            self?.answered()
            self?.progressed()
        }
        for index in pulls.indices {
            running.withLock { $0.pulling.finish() }
            send(.pulled(index))
        }
        send(.answered)
        send(.reset(asked: asked))
        try await reviewUploads()
        try await reviewProgress()
    }

    /// The same for one sync that no start has asked for.
    func resetOnce(
        _ pulls: [SessionPull],
        _ context: SyncContext,
        _ options: SessionOptions,
        asked: Int
    ) async throws {
        try await reset(pulls, context, options.resetMode) { _ in }
        send(.reset(asked: asked))
    }

    /// How often the app has said so far that the server has lost its history, when all of that is stored.
    func resetsAsked() async -> Int {
        let (storing, asked) = running.withLock { ($0.storing, $0.machine.resetsAsked) }
        await storing?.value
        return asked
    }

    /// Whether such a sync has to do that first.
    func mustReset(_ pulls: [SessionPull], _ context: SyncContext, _ options: SessionOptions) async throws -> Bool {
        if try await context.resetStage() != .none { return true }
        guard let most = options.maximumOfflineTime else { return false }
        for pull in pulls {
            guard let last = try await context.lastCompletePull(of: pull.source, pull.name) else { continue }
            if .seconds(environment.date().timeIntervalSince(last)) > most { return true }
        }
        return false
    }

    private func reset(
        _ pulls: [SessionPull],
        _ context: SyncContext,
        _ mode: ResetMode,
        _ progress: @escaping @Sendable (SyncProgress) -> Void
    ) async throws {
        let stage = try await context.resetStage()
        let report: ResetReport
        if case .done(let done) = stage {
            report = done
        } else {
            guard !mode.isManual else {
                try await context.endReset()
                throw SyncError(
                    .historyLost,
                    "The server has lost its history, or this device was away for too long; everything is as it was. Start the"
                        + " session with another mode to have everything brought anew, or purge what is to come again."
                )
            }
            if stage != .begun { try await mode.before?(context) }
            report = try await context.reset(
                onto: pulls.map { pull in
                    var options = pull.options
                    options.progress = progress
                    return FreshPull(pull.source, queryID: pull.queryID, options: options)
                },
                discardsChanges: mode.discardsChanges
            )
            for pull in pulls {
                try await context.storeCompletePull(of: pull.source, pull.name, at: environment.date())
            }
        }
        try await mode.after?(context, report)
        try await context.endReset()
    }
}
