internal import SyncContract

/// Who has a say while a push runs: before an operation is sent, and about what the server did not take.
struct PushDecisions: Sendable {
    /// Before an operation is sent. An error leaves it in the queue and ends the push.
    func willSend(_ operation: TableOperation) async throws {}

    /// What to do about something that the server did not take; nil leaves it stored.
    func resolution(of error: TableOperationError) async throws -> ConflictResolution? { nil }
}
