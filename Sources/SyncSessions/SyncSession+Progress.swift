public import OfflineSync
internal import Synchronization

extension SyncSession {
    /// Whether progress ends with the work there is now.
    public enum ProgressMode: Sendable, Hashable {
        /// What is to be done at the call: it never falls, is 1 when that is done and not before, and ends then. Later work
        /// is not counted.
        case forCurrentlyOutstandingWork
        /// Whatever there is to be done: it may fall when more comes, is 1 while nothing is left, and ends with the session.
        case reportIndefinitely
    }

    /// How far the work is: the first value comes at once, and nothing has to be kept but the loop. A loop that does not
    /// keep up misses values, never the last.
    ///
    /// Changes are counted exactly. Of rows the server knows how many there are, or it is guessed: `isExact` says so. Of
    /// both directions each counts for half. ``ProgressMode/forCurrentlyOutstandingWork`` has the work done, as
    /// ``wait(for:timeout:)`` does; it ends before 1 where that would throw.
    public func progress(for direction: SyncDirection, mode: ProgressMode) -> AsyncStream<SyncProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: SyncProgress.self, bufferingPolicy: .bufferingNewest(1))
        let number = running.withLock { running in
            let number = running.newNumber()
            running.watchers[number] = ProgressWatcher(
                direction: direction,
                mode: mode,
                continuation: continuation,
                cycle: running.cycle
            )
            return number
        }
        let task = Task { await follow(number, direction, mode) }
        continuation.onTermination = { [weak self] _ in
            task.cancel()
            _ = self?.running.withLock { $0.watchers.removeValue(forKey: number) }
        }
        return stream
    }

    private func follow(_ number: Int, _ direction: SyncDirection, _ mode: ProgressMode) async {
        do {
            guard let context, running.withLock({ $0.machine.phase != .closed }) else { throw CancellationError() }
            if direction.contains(.upload) {
                try await count(number, mode, context)
            }
            progressed()
            guard mode == .forCurrentlyOutstandingWork else { return }
            try await wait(for: direction)
            // It is told of nothing that comes after the end.
            end(number, isDone: true)
        } catch {
            // It ends before everything is done: the session has ended, or nobody listens any more.
            end(number, isDone: false)
        }
    }

    /// Looks what is left to send at the beginning. What comes while that is read is found behind it.
    private func count(_ number: Int, _ mode: ProgressMode, _ context: SyncContext) async throws {
        do {
            let changes = try await context.outstandingChanges()
            // Nothing is told before it is known what is left.
            let left = mode == .reportIndefinitely ? try await context.outstandingChanges() : nil
            running.withLock { running in
                running.watchers[number]?.changes = changes
                if let left { running.watchers[number]?.follow(left) }
            }
        } catch  where mode == .reportIndefinitely && error.isOfLockedStore {
            // When it is unlocked, the queue is looked at.
        }
    }

    private func end(_ number: Int, isDone: Bool) {
        running.withLock { running in
            guard let watcher = running.watchers.removeValue(forKey: number) else { return }
            let (continuation, last) = (watcher.continuation, isDone ? watcher.end : nil)
            deliveries.add {
                if let last { continuation.yield(last) }
                continuation.finish()
            }
        }
        deliveries.deliver()
    }

    /// Tells those who follow the progress where it is.
    func progressed() {
        running.withLock { running in
            let (download, cycle) = (running.download, running.cycle)
            for (number, watcher) in running.watchers {
                guard let progress = running.watchers[number]?.next(download, cycle) else { continue }
                deliveries.add { watcher.continuation.yield(progress) }
            }
        }
        deliveries.deliver()
    }

    /// Looks what is left to send, for those who follow that; what the server has not taken is known from the queue alone.
    func reviewProgress() async throws {
        for (number, watcher) in running.withLock({ $0.watchers }) where watcher.direction.contains(.upload) {
            if watcher.mode == .forCurrentlyOutstandingWork {
                _ = try await watcher.changes?.review()
            } else if let context {
                let changes = try await context.outstandingChanges()
                running.withLock { $0.watchers[number]?.follow(changes) }
            }
        }
        progressed()
    }
}

/// Somebody who follows the progress.
struct ProgressWatcher: Sendable {
    let direction: SyncDirection
    let mode: SyncSession.ProgressMode
    let continuation: AsyncStream<SyncProgress>.Continuation
    /// The round of pulls that was under way at the call: it does not count for what is to be done from then on.
    let cycle: Int
    /// The changes that are counted.
    var changes: OutstandingChanges?
    /// How many changes were sent before those, since nothing was left the last time.
    private var sent = 0
    private var last: SyncProgress?

    init(
        direction: SyncDirection,
        mode: SyncSession.ProgressMode,
        continuation: AsyncStream<SyncProgress>.Continuation,
        cycle: Int
    ) {
        self.direction = direction
        self.mode = mode
        self.continuation = continuation
        self.cycle = cycle
    }

    /// Goes on with the changes that wait now.
    mutating func follow(_ newer: OutstandingChanges) {
        if let changes { sent += changes.total - changes.count }
        changes = newer
        if newer.count == 0, last?.isTransferComplete == true { sent = 0 }
    }

    /// Where the progress is; nil while that is not known, or is what was told last.
    mutating func next(_ download: SyncProgress, _ cycle: Int) -> SyncProgress? {
        // Before the queue was read nothing is known.
        guard !direction.contains(.upload) || changes != nil else { return nil }
        var parts: [SyncProgress] = []
        if let changes {
            let total = sent + changes.total
            let completed = total - changes.count
            let estimate = changes.count == 0 ? 1 : Double(completed) / Double(max(1, total))
            parts.append(SyncProgress(estimate: estimate, completed: completed, total: total, isExact: true))
        }
        if direction.contains(.download) {
            let isEarlier = mode == .forCurrentlyOutstandingWork && cycle == self.cycle
            parts.append(isEarlier ? SyncProgress(estimate: 0, completed: 0, total: 0, isExact: false) : download)
        }
        var estimate = parts.map(\.progressEstimate).reduce(0, +) / Double(max(1, parts.count))
        // That everything is done is for the wait to say.
        if mode == .forCurrentlyOutstandingWork { estimate = min(max(estimate, last?.progressEstimate ?? 0), 0.999) }
        let progress = SyncProgress(
            estimate: estimate,
            completed: parts.map(\.completed).reduce(0, +),
            total: parts.map(\.total).reduce(0, +),
            isExact: parts.allSatisfy(\.isExact)
        )
        guard progress != last else { return nil }
        last = progress
        return progress
    }

    /// That everything is done.
    var end: SyncProgress {
        let total = max(last?.total ?? 0, last?.completed ?? 0)
        return SyncProgress(estimate: 1, completed: total, total: total, isExact: true)
    }
}

/// How far the pulls of one round are.
struct DownloadProgress: Sendable {
    private let pulls: Int
    private var finished = 0
    private var rows = 0
    private var current: SyncProgress?

    /// There is nothing to be pulled.
    static let complete = {
        var progress = DownloadProgress(pulls: 1)
        progress.finish()
        return progress
    }()

    init(pulls: Int) { self.pulls = max(1, pulls) }

    mutating func report(_ progress: SyncProgress) { current = progress }

    /// A pull is complete.
    mutating func finish() {
        finished += 1
        rows += current?.completed ?? 0
        current = nil
    }

    var progress: SyncProgress {
        let share =
            finished == pulls ? 1 : (Double(finished) + (current?.progressEstimate ?? 0) * 0.999) / Double(pulls)
        return SyncProgress(
            estimate: share,
            completed: rows + (current?.completed ?? 0),
            total: rows + (current?.total ?? 0),
            isExact: finished == pulls || finished == pulls - 1 && current?.isExact == true
        )
    }
}
