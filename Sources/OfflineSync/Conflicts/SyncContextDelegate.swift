public import SyncContract

/// Has a say in every operation of a push. All methods have defaults, which say nothing.
///
/// The methods are called one after the other for each operation; with parallel operations, for several operations at a
/// time. They may take their time: the push waits. They may read and change rows and settle errors; a push, pull, purge
/// or reset of a token that they wait for would wait for them, and is refused with ``SyncError/Code/invalidAction`` as long
/// as the push, or the pull around it, lasts. So is one in a `Task` or child task that a method starts, as nothing tells
/// whether the method waits for it; in a `Task.detached`, which no method may wait for, it has its turn when the push has
/// ended. A session may be asked for a sync at any time. A context holds its delegate weakly.
public protocol SyncContextDelegate: AnyObject, Sendable {
    /// Before an operation is sent: once in a push, and again when it is sent anew in it because it was settled, or edited
    /// while it was under way; not for each request that a change takes. What goes out is what was stored: what this changes
    /// of the row is sent by the next push. An error leaves it in the queue, and ends the push with that error.
    func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws

    /// What to do about something that the server did not take, conflict or refusal; nil leaves a conflict to the policy
    /// and a refusal stored.
    ///
    /// What is settled is tried again in the same push, at most five times per operation. An error leaves it stored, and
    /// ends the push with that error; so does a row that the table cannot hold. Whoever has answered nil or an error is not asked again about the same answer of
    /// the server; when the push was cancelled before or meanwhile, or the process killed, the next push asks, at its
    /// beginning.
    func syncContext(_ context: SyncContext, resolve error: TableOperationError<Record>) async throws
        -> ConflictResolution<Record>?

    /// At the end of every push, also of one that network, authentication or store have ended early: the report has what was
    /// done before, but not what the server did not take when the store has failed. Not when the push was cancelled, or ended by
    /// an error of the app's own code: these have no report.
    func syncContext(_ context: SyncContext, didPush report: PushReport) async
}

extension SyncContextDelegate {
    /// Lets the operation be sent.
    public func syncContext(_ context: SyncContext, willSend operation: TableOperation) async throws {}

    /// Leaves it to the policy.
    public func syncContext(
        _ context: SyncContext,
        resolve error: TableOperationError<Record>
    ) async throws -> ConflictResolution<Record>? { nil }

    /// Does nothing.
    public func syncContext(_ context: SyncContext, didPush report: PushReport) async {}
}

/// A delegate, held weakly.
struct WeakDelegate: Sendable {
    weak var delegate: (any SyncContextDelegate)?
}
