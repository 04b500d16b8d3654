public import RemoteContract
public import SyncContract

/// What happened in the engine. Cases may be added: switch with a default.
public enum SyncEvent: Sendable {
    /// A push has started.
    case pushStarted
    /// A push has ended; what it did is what `SyncContext.push()` answers.
    case pushEnded(PushReport)
    /// A push has ended early, with the error that ``SyncContext/push(_:)`` throws.
    case pushAborted(any Error)
    /// An operation is about to be sent.
    case operationSent(TableOperation)
    /// The server has what an operation was to do.
    case operationTaken(TableOperation)
    /// The server has another version of the row, or refused the change: it waits for a decision.
    case operationNotTaken(TableOperationError<Record>)
    /// A page of a pull was stored: so many rows of it were written or removed.
    case pageApplied(table: String, rows: Int)
    /// A row of the server that does not fit its table, or cannot be had, was left out.
    case rowSetAside(table: String, row: SetAsideRow)
    /// A row that an item type cannot be made from was left out of what was read. A live query tells it once; the reason
    /// names a property, never content.
    case itemLeftOut(table: String, id: RecordID, reason: String)
    /// A policy has decided about a conflict without asking.
    case decided(JournalEntry)
    /// Everything was brought anew, and has taken the place of what was here.
    case wasReset(ResetReport)
}

extension SyncEvent {
    /// One line for a log: tables, numbers and status codes; never the content of rows, nor their ids. The words of the
    /// server are not in it, which may quote a row: those are in ``SyncContext/operationErrors()``.
    public var logLine: String {
        switch self {
        case .pushStarted: "push started"
        case .pushEnded(let report):
            "push ended: \(report.pushed) taken, \(report.conflicts.count) in conflict, \(report.failures.count) refused,"
                + (report.waiting > 0 ? " \(report.waiting) waiting," : "")
                + (report.overtaken > 0 ? " \(report.overtaken) overtaken," : "")
                + " \(report.requests) requests"
        case .pushAborted(let error): "push ended early: \(Self.words(error))"
        case .operationSent(let operation): "operation \(operation.id): \(operation.kind) in '\(operation.table)' sent"
        case .operationTaken(let operation):
            "operation \(operation.id): \(operation.kind) in '\(operation.table)' taken"
        case .operationNotTaken(let error): "operation \(error.operationID): \(error.summary)"
        case .pageApplied(let table, let rows): "page of '\(table)' applied: \(rows) rows"
        case .rowSetAside(let table, let row):
            "row of '\(table)' set aside: \(IDCaseCollisions.withoutIDs(row.reason))"
        case .itemLeftOut(let table, _, let reason): "row of '\(table)' left out: \(reason)"
        case .decided(let entry): "conflict in '\(entry.table)' decided by policy: \(entry.decision)"
        case .wasReset(let report): "everything was brought anew; \(report)"
        }
    }

    /// What may be said of an error. What an app's own delegate or provider of tokens throws may quote anything.
    private static func words(_ error: any Error) -> String {
        switch error {
        case let error as SyncError: "\(error.code)" + (error.cause.map { " (\(words($0)))" } ?? "")
        case let error as RemoteError: "\(error.code)" + (error.status.map { ", HTTP \($0)" } ?? "")
        case let error as StoreError: "\(error.code)"
        case is CancellationError: "cancelled"
        default: "\(type(of: error))"
        }
    }
}
