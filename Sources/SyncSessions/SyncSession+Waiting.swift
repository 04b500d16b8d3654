internal import OfflineSync
internal import Synchronization

extension SyncSession {
    /// Waits until every change made before the call was answered by the server, taken or stored as not taken; or until
    /// everything is here that the server had at the call.
    ///
    /// It has that done at once, and goes on waiting while there is no connection, while nobody is signed in, and while the
    /// time until the next attempt passes. A change that stands behind one that was not taken, in a group, counts as
    /// answered with it.
    ///
    /// - Parameters:
    ///   - direction: What to wait for; of ``SyncDirection/both`` the two together.
    ///   - timeout: How long at most, 0 to 100 years; nil for ever.
    /// - Throws: ``/OfflineSync/SyncError`` with code `timedOut`, or with code `sessionEnded` when the session is not started,
    ///   is suspended in that direction or is being suspended meanwhile, fails or ends, or the server refuses one of the
    ///   pulls that are waited for, which is the cause then; with code `invalidAction` within a
    ///   delegate, a policy or a hook, whose push, pull or reset would wait for it; `CancellationError`; what reading the
    ///   store throws.
    public func wait(for direction: SyncDirection, timeout: Duration? = nil) async throws {
        guard let timeout else { return try await wait(for: direction) }
        let deadline = environment.now() + timeout.asWait
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.wait(for: direction)
                return true
            }
            group.addTask {
                try await self.environment.sleepUntil(deadline)
                return false
            }
            defer { group.cancelAll() }
            guard try await group.next() ?? false else {
                throw SyncError(
                    .timedOut,
                    "What was waited for was not done within \(timeout); the session goes on with it, and its state says"
                        + " what it is at."
                )
            }
        }
    }

    /// Somebody who waits.
    struct Waiter: Sendable {
        let continuation: CheckedContinuation<Void, any Error>
        let direction: SyncDirection
        /// The changes that are waited for.
        let changes: OutstandingChanges?
    }

    private func wait(for direction: SyncDirection) async throws {
        try Task.checkCancellation()
        guard !isWithinSync else {
            throw SyncError(
                .invalidAction,
                "A push or pull is under way that waits for this call, and what is waited for comes after it; wait when"
                    + " it has ended, not within a delegate or a policy."
            )
        }
        guard let context, running.withLock({ $0.machine.isWorking(in: direction) }) else {
            // The step that has ended it may be about to be told: the state says so before the wait does.
            publishCurrent()
            throw ended(direction)
        }
        let changes = direction.contains(.upload) ? try await context.outstandingChanges() : nil
        let number = running.withLock { $0.newNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isCancelled = running.withLock { running in
                    if running.cancelledWaits.remove(number) != nil { return true }
                    running.waiters[number] = Waiter(
                        continuation: continuation,
                        direction: direction,
                        changes: changes
                    )
                    return false
                }
                guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
                let needsUpload = changes.map { $0.count > 0 } ?? false
                send(.wait(number, direction, needsUpload: needsUpload))
                // What was answered since that look was told to nobody who waits for it.
                if needsUpload { Task { await reviewAnswers() } }
            }
        } onCancel: {
            let waiter = running.withLock { running in
                let waiter = running.waiters.removeValue(forKey: number)
                if waiter == nil { running.cancelledWaits.insert(number) }
                return waiter
            }
            waiter?.continuation.resume(throwing: CancellationError())
            send(.waitCancelled(number))
        }
        running.withLock { _ = $0.cancelledWaits.remove(number) }
    }

    /// Ends a wait.
    func endWait(_ waiter: Waiter, isDone: Bool) {
        guard !isDone else { return waiter.continuation.resume() }
        waiter.continuation.resume(throwing: ended(waiter.direction))
    }

    private func ended(_ direction: SyncDirection) -> SyncError {
        let (phase, error, refusal) = running.withLock { running in
            let isOpen = direction.isDisjoint(with: running.machine.suspended)
            return (running.machine.phase, running.error?.error.ofApp, isOpen ? running.pullError : nil)
        }
        switch phase {
        case .inactive: return SyncError(.sessionEnded, "The session is not started; start it, then wait.")
        case .closed: return SyncError(.sessionEnded, "The session has ended; open the store again.")
        case .failed:
            let message = "The session cannot go on; its error says why, and another start tries again."
            return SyncError(.sessionEnded, message, cause: error)
        case .loading, .running:
            let message =
                refusal == nil
                ? "The session is suspended in that direction; resume it, then wait."
                : "The server refuses what was waited for; the session tries it again after a while."
            return SyncError(.sessionEnded, message, cause: refusal)
        }
    }

    /// Tells the waits for uploads whose changes were answered. Without numbers, all of them are looked at.
    func reviewUploads(passing passed: Set<Int> = []) async throws {
        let waiters = running.withLock { $0.waiters }
        for (number, waiter) in waiters {
            guard let changes = waiter.changes else { continue }
            let open = try await changes.review().open
            // What a whole push has left behind, and leaves no other push to do, stands behind something that was not taken.
            if open.isEmpty || passed.contains(number) { send(.uploaded(number)) }
        }
    }
}
