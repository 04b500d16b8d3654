internal import OfflineSync
internal import Synchronization
internal import SyncContract

// What the app says of a session, stored in the background, for sessions of later processes too.
extension SyncSession {
    func setSuspended(_ direction: SyncDirection, _ isSuspended: Bool) {
        let event: SessionEvent = isSuspended ? .suspended(direction) : .resumed(direction)
        let isNews = running.withLock { !direction.subtracting($0.machine.suspended).isEmpty }
        defer { if isSuspended, isNews { cancelSingleSyncs() } }
        send(event) { running in
            guard let context, running.machine.phase != .closed else { return }
            store(in: &running, context) { context in
                var stored = SyncDirection(stored: try await context.storedSuspension())
                if isSuspended { stored.formUnion(direction) } else { stored.subtract(direction) }
                try await context.storeSuspension(stored.stored)
            }
        }
    }

    /// Stores something in the background, behind what was to be stored before; while the store is locked that waits.
    private func store(
        in running: inout Running,
        _ context: SyncContext,
        _ body: (@Sendable (SyncContext) async throws -> Void)? = nil
    ) {
        running.storing = Task { [former = running.storing] in
            await former?.value
            // What could not be stored comes before what was said later.
            var left = self.running.withLock { exchange(&$0.unstored, with: []) } + [body].compactMap(\.self)
            while let next = left.first {
                do {
                    try await next(context)
                    left.removeFirst()
                } catch {
                    if !error.isOfLockedStore { left.removeFirst() }
                    let unstored = error.isOfLockedStore ? exchange(&left, with: []) : []
                    self.send(.woken) { running in
                        // Why it has failed stays told.
                        if running.machine.phase != .failed { running.set(error) }
                        running.unstored = unstored + running.unstored
                    }
                }
            }
            guard self.running.withLock({ $0.isUnlocked }) else { return }
            self.send(.woken) { running in if running.isUnlocked { running.set(running.lastingError) } }
        }
    }

    /// Stores what could not be while the store was locked.
    func storeWhatWaits(_ context: SyncContext) {
        running.withLock { running in
            if !running.unstored.isEmpty { store(in: &running, context) }
        }
    }

    func serverHasReset() {
        defer { cancelSingleSyncs() }
        send(.serverReset) { running in
            guard let context, running.machine.phase != .closed else { return }
            context.announceReset()
            store(in: &running, context) { try await $0.requestAnnouncedReset() }
        }
    }
}
