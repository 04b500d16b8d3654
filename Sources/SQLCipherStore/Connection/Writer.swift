import DurableFiles
import SyncContract

/// The connection that writes: an actor on a queue of its own, one closure for each transaction, first come, first
/// served.
///
/// A transaction runs in the task that calls, with its values, its priority and its cancellation, but on the queue's
/// thread and never on one of the cooperative pool: a commit waits for the disk, and what the closure does is up to the
/// caller. The connection holds the lock on the store and keeps the WAL short. It opens with its first transaction.
actor Writer {
    private nonisolated let executor: QueueExecutor
    private let opener: @Sendable () throws -> Database
    private let files: StoreFiles
    private let checkpointDelay: Duration?

    // The order matters for a store that is dropped without being closed: the lock on the store goes last.
    private var database: Database?
    private var lock: LockFile?

    /// How many transactions were committed, and whether a checkpoint is due.
    private var commits = 0
    private var isCheckpointScheduled = false

    /// How many reads are under way that no write waits for, however long the WAL gets.
    private var longReads = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - files: The files of the store.
    ///   - lock: The lock on the store.
    ///   - checkpointDelay: How long after the last commit a checkpoint is made; nil for not at all.
    ///   - opener: Opens the database.
    init(
        files: StoreFiles,
        lock: LockFile,
        checkpointDelay: Duration?,
        opener: @escaping @Sendable () throws -> Database
    ) {
        executor = QueueExecutor(label: "SealedSync.writer")
        self.opener = opener
        self.files = files
        self.lock = lock
        self.checkpointDelay = checkpointDelay
    }

    /// Runs a closure as one transaction. When the calling task is cancelled before it began, nothing happens; later, the
    /// closure sees it, and what it commits all the same is kept and reported so.
    func transaction<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        do {
            let database = try openDatabase()
            let value = try database.transaction(.writing) { try body(database) }
            noteCommit()
            return value
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: files.database)
        }
    }

    /// Makes a checkpoint, closes the connection and lifts the lock. The readers must be closed.
    func close() {
        // A store that was only read may have a WAL that an earlier process left.
        if database == nil, FileSystem.exists(files.wal) { openForClosing() }
        _ = checkpoint(.truncate, waiting: 5_000)
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
            // The WAL stays as it is, and the next one who opens the store meets the same failure and reports it.
        }
    }
}

/// Keeping the WAL short: whatever is damaged in it loses the commits after it.
extension Writer {
    /// Counts a commit; a checkpoint is made as soon as no other commit follows for a while.
    private func noteCommit() {
        commits += 1
        if let size = database?.walSize, size > WALLimits.hardLimit, longReads == 0 {
            // SQLite's own checkpoints start the WAL anew only when no reader is in it: wait for that now.
            _ = checkpoint(.restart, waiting: 5_000)
        }
        if !isCheckpointScheduled { scheduleCheckpoint() }
    }

    /// Lets the WAL grow while a copy of the whole store is being made.
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
        if seen != commits || !checkpoint(.truncate, waiting: 0) { scheduleCheckpoint() }
    }

    /// Returns false when a reader is still in the WAL. Other failures are left to the next commit, which meets them
    /// again and reports them; the commits themselves are safe in the WAL.
    private func checkpoint(_ mode: CheckpointMode, waiting milliseconds: Int32) -> Bool {
        do {
            try database?.checkpoint(mode, waiting: milliseconds)
            return true
        } catch {
            return !error.isBusy
        }
    }
}

/// How long the WAL may get, in bytes.
enum WALLimits {
    /// What the file is cut to when it starts anew.
    static let softLimit = 16 << 20
    /// Beyond this a write waits for the readers, so that the WAL can start anew.
    static let hardLimit = 64 << 20
    /// From how many pages on each commit writes back what no reader needs. SQLite's own default.
    static let checkpointPages = 1_000
    /// A page in the WAL: a database page and its head.
    static let frameSize = FileHeader.pageSize + 24
}
