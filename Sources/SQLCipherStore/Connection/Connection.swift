import Dispatch
import SyncContract

/// A connection as an actor on a queue of its own: one closure, one transaction.
actor Connection {
    private nonisolated let executor: ConnectionExecutor
    private let opener: (@Sendable () throws -> Database)?
    private let logPath: String?
    private var database: Database?

    /// How many write transactions were committed, and whether a look at the log is due.
    private var commits = 0
    private var isCheckpointScheduled = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The writer's connection, which keeps the log at the given path short. It is opened with ``open(_:)``.
    init(label: String, logPath: String) {
        executor = ConnectionExecutor(label: label)
        opener = nil
        self.logPath = logPath
    }

    /// A reader's connection, which opens with its first transaction.
    init(label: String, opener: @escaping @Sendable () throws -> Database) {
        executor = ConnectionExecutor(label: label)
        self.opener = opener
        logPath = nil
    }

    /// Opens the connection on its queue and returns what else the opening found out.
    func open<Value: Sendable>(_ body: @Sendable () throws -> (Database, Value)) throws -> Value {
        let (database, value) = try body()
        self.database = database
        return value
    }

    /// Runs a closure as one transaction. A task cancelled before has no effect; one cancelled later neither.
    func perform<Value: Sendable>(
        _ kind: TransactionKind,
        _ body: @Sendable (Database) throws -> Value
    ) throws -> Value {
        try Task.checkCancellation()
        do {
            let database = try openDatabase()
            let value = try database.transaction(kind) { try body(database) }
            noteCommit()
            return value
        } catch let failure as SQLiteFailure {
            throw StoreError(failure)
        }
    }

    /// Closes the connection. The writer first empties the log, and must be the last to close.
    func close(emptyingLog: Bool) {
        if emptyingLog { _ = emptyLog(.truncate, waiting: 5_000) }
        database = nil
    }

    private func openDatabase() throws -> Database {
        if let database { return database }
        guard let opener else { throw StoreError.closed }
        let opened = try opener()
        database = opened
        return opened
    }
}

/// Keeping the log short: whatever is damaged in it loses the commits after it.
extension Connection {
    /// Counts a commit; the log is emptied as soon as no other follows for half a second.
    private func noteCommit() {
        guard let logPath else { return }
        commits += 1
        if let size = FileSystem.size(of: logPath), size > LogLimits.hardLimit {
            // SQLite's own checkpoints start the log anew only when no reader is in it: wait for that now.
            _ = emptyLog(.restart, waiting: 5_000)
        }
        if !isCheckpointScheduled { scheduleCheckpoint() }
    }

    private func scheduleCheckpoint() {
        isCheckpointScheduled = true
        let seen = commits
        executor.schedule(after: .milliseconds(500)) { [weak self] in
            self?.assumeIsolated { $0.checkpointIfIdle(since: seen) }
        }
    }

    private func checkpointIfIdle(since seen: Int) {
        isCheckpointScheduled = false
        guard database != nil else { return }
        if seen != commits || !emptyLog(.truncate, waiting: 0) { scheduleCheckpoint() }
    }

    /// Returns false when a reader is still in the log. Other failures are left to the next commit, which meets them
    /// again and reports them; the commits themselves are safe in the log.
    private func emptyLog(_ mode: CheckpointMode, waiting milliseconds: Int32) -> Bool {
        do {
            try database?.checkpoint(mode, waiting: milliseconds)
            return true
        } catch {
            return !error.isBusy
        }
    }
}

/// How long the log may get, in bytes.
enum LogLimits {
    /// What the log file is cut to when it starts anew.
    static let softLimit = 16 << 20
    /// Beyond this a write waits for the readers, so that the log can start anew.
    static let hardLimit = 64 << 20
}
