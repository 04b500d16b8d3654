internal import SyncContract

/// Who has a say while a push runs: the delegate, then the table's policy, then the context's.
struct PushDecisions: Sendable {
    let context: SyncContext?

    init(_ context: SyncContext? = nil) { self.context = context }

    /// What was decided, and by whom.
    struct Decision: Sendable {
        var resolution: ConflictResolution<Record>
        /// Whether a policy has decided, without anybody being asked.
        var isAutomatic: Bool
    }

    /// Whether code of the app's own runs for each change that is sent.
    var tellsOfEachChange: Bool { context.map { $0.delegate != nil || $0.events.isLogged } ?? false }

    /// Before an operation is sent. An error leaves it in the queue and ends the push.
    func willSend(_ operation: TableOperation, _ thread: PushThread) async throws {
        guard let context else { return }
        if let delegate = context.delegate {
            try await thread.elsewhere { try await delegate.syncContext(context, willSend: operation) }
        }
        context.events.send(.operationSent(operation))
    }

    /// What to do about something that the server did not take; nil leaves it stored.
    func decision(about error: TableOperationError<Record>) async throws -> Decision? {
        guard let context else { return nil }
        if let resolution = try await context.delegate?.syncContext(context, resolve: error) {
            return Decision(resolution: resolution, isAutomatic: false)
        }
        guard error.isConflict else { return nil }
        let policy = context.policies[error.table] ?? context.conflictPolicy
        guard let resolution = try await policy.resolution(of: error) else { return nil }
        return Decision(resolution: resolution, isAutomatic: true)
    }
}
