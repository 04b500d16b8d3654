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
        /// Whether no code of the app's has seen what was decided about.
        var isUnseen = false
    }

    /// Whether code of the app's own runs for each change that is sent.
    var tellsOfEachChange: Bool { context.map { $0.delegate != nil || $0.events.isLogged } ?? false }

    /// Before an operation is sent. An error leaves it in the queue and ends the push.
    func willSend(_ operation: TableOperation, _ thread: PushThread) async throws {
        guard let context, let delegate = context.delegate else { return }
        try await thread.elsewhere {
            try await AppFailure.telling { try await delegate.syncContext(context, willSend: operation) }
        }
    }

    /// Tells that an operation is sent, when nothing keeps it here any more.
    func tellSent(_ operation: TableOperation) { context?.events.send(.operationSent(operation)) }

    /// Whether anybody has a say in what the server does not take.
    var areMade: Bool { context.map { $0.delegate != nil || $0.policies.decide } ?? false }

    /// Whether anybody has a say in something that the server did not take.
    func areMade(about error: TableOperationError<Record>) -> Bool {
        guard let context else { return false }
        return context.delegate != nil || error.isConflict && policy(of: error.table, context).decides
    }

    /// What an earlier push has asked nobody about, and in which somebody has a say by now: of some tables, or of all.
    func unasked(
        _ tables: Set<String>?,
        _ reader: inout some StoreReading & ~Copyable,
        _ schema: StoreSchema
    ) throws -> [TableOperationError<Record>] {
        try OperationErrorCoding.all(&reader, schema)
            .filter { $0.isUnasked && tables?.contains($0.table) ?? true && areMade(about: $0) }
    }

    private func policy(of table: String, _ context: SyncContext) -> ConflictPolicy<Record> {
        context.policies[table] ?? context.conflictPolicy
    }

    /// What to do about something that the server did not take; nil leaves it stored. The app's own code is not asked
    /// by a push that was cancelled.
    func decision(about error: TableOperationError<Record>) async throws -> Decision? {
        guard let context else { return nil }
        if let delegate = context.delegate {
            try Task.checkCancellation()
            let resolution = try await AppFailure.telling { try await delegate.syncContext(context, resolve: error) }
            if let resolution {
                return Decision(resolution: resolution, isAutomatic: false)
            }
        }
        guard error.isConflict else { return nil }
        let policy = policy(of: error.table, context)
        if policy.asks { try Task.checkCancellation() }
        guard let resolution = try await AppFailure.telling({ try await policy.resolution(of: error) }) else {
            return nil
        }
        return Decision(resolution: resolution, isAutomatic: true, isUnseen: !policy.asks)
    }
}
