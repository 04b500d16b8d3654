import DurableFiles
import Dispatch
import Synchronization
import SyncContract

/// A connection as an actor on a queue of its own: one closure, one transaction.
actor Connection {
    private nonisolated let executor: ConnectionExecutor
    private nonisolated let taskExecutor: ConnectionTaskExecutor
    /// How many transactions wait or run.
    private nonisolated let unended = Atomic(0)

    private let opener: @Sendable () throws -> Database
    private let files: StoreFiles
    private let isWriter: Bool
    private let checkpointDelay: Duration?

    // The order matters for a connection that is dropped without being closed: the lock on the store goes last.
    private var database: Database?
    private var lock: LockFile?

    /// How many write transactions were committed, and whether a look at the log is due.
    private var commits = 0
    private var isCheckpointScheduled = false

    /// How many reads are under way that no write waits for, however long the log gets.
    private var longReads = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// The writer's connection, which holds the lock on the store and keeps the log short. It opens with its first
    /// transaction.
    ///
    /// - Parameters:
    ///   - label: The name of its queue.
    ///   - files: The files of the store.
    ///   - lock: The lock on the store.
    ///   - checkpointDelay: How long after the last commit the log is emptied; nil for not at all.
    ///   - opener: Opens the database.
    init(
        label: String,
        files: StoreFiles,
        lock: LockFile,
        checkpointDelay: Duration?,
        opener: @escaping @Sendable () throws -> Database
    ) {
        executor = ConnectionExecutor(label: label)
        taskExecutor = ConnectionTaskExecutor(executor)
        self.opener = opener
        self.files = files
        self.lock = lock
        self.checkpointDelay = checkpointDelay
        isWriter = true
    }

    /// A reader's connection, which opens with its first transaction unless ``open(_:)`` did so before.
    init(label: String, files: StoreFiles, opener: @escaping @Sendable () throws -> Database) {
        executor = ConnectionExecutor(label: label)
        taskExecutor = ConnectionTaskExecutor(executor)
        self.opener = opener
        self.files = files
        checkpointDelay = nil
        isWriter = false
    }

    /// Opens the connection on its queue and returns what else the opening found out.
    func open<Value: Sendable>(_ body: @Sendable () throws -> (Database, Value)) throws -> Value {
        let (database, value) = try body()
        self.database = database
        return value
    }

    /// Runs a closure as one transaction. When the calling task is cancelled before it began, nothing happens; later, the
    /// closure sees it, and what it commits all the same is kept and reported so.
    ///
    /// The calling task may keep its thread for a moment, to go on at once when the transaction ends soon.
    nonisolated func perform<Value: Sendable>(
        _ kind: TransactionKind,
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let isNext = unended.add(1, ordering: .relaxed).oldValue == 0
        defer { unended.subtract(1, ordering: .relaxed) }
        let work = TransactionWork { [self] in assumeIsolated { $0.run(kind, body) } }
        return try await work.value(on: taskExecutor, watching: isNext && executor.isQuick)
    }

    private func run<Value: Sendable>(
        _ kind: TransactionKind,
        _ body: @Sendable (Database) throws -> Value
    ) -> Result<Value, any Error> {
        do {
            let database = try openDatabase()
            let value = try database.transaction(kind) { try body(database) }
            noteCommit()
            return .success(value)
        } catch let failure as SQLiteFailure {
            return .failure(StoreError(failure, at: files.database))
        } catch {
            return .failure(error)
        }
    }

    /// Closes the connection. The writer first empties the log, and must be the last to close: it lifts the lock.
    func close(emptyingLog: Bool) {
        if emptyingLog {
            // A store that was only read may have a log that an earlier process left.
            if database == nil, FileSystem.exists(files.wal) { openForClosing() }
            _ = emptyLog(.truncate, waiting: 5_000)
        }
        database = nil
        lock = nil
    }

    private func openDatabase() throws -> Database {
        if let database { return database }
        let opened = try opener()
        database = opened
        return opened
    }

    private func openForClosing() {
        do {
            _ = try openDatabase()
        } catch {
            // The log stays as it is, and the next one who opens the store meets the same failure and reports it.
        }
    }
}

/// Keeping the log short: whatever is damaged in it loses the commits after it.
extension Connection {
    /// Counts a commit; the log is emptied as soon as no other follows for a while.
    private func noteCommit() {
        guard isWriter else { return }
        commits += 1
        if let size = database?.logSize, size > LogLimits.hardLimit, longReads == 0 {
            // SQLite's own checkpoints start the log anew only when no reader is in it: wait for that now.
            _ = emptyLog(.restart, waiting: 5_000)
        }
        if !isCheckpointScheduled { scheduleCheckpoint() }
    }

    /// Lets the log grow while a copy of the whole store is being made.
    func beginLongRead() { longReads += 1 }

    /// Ends what ``beginLongRead()`` began.
    func endLongRead() { longReads -= 1 }

    private func scheduleCheckpoint() {
        guard let checkpointDelay else { return }
        isCheckpointScheduled = true
        let seen = commits
        executor.schedule(after: checkpointDelay) { [weak self] in
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
    /// From how many pages on each commit writes back what no reader needs. SQLite's own default.
    static let checkpointPages = 1_000
    /// A page in the log: a database page and its head.
    static let frameSize = FileHeader.pageSize + 24
}
