import DurableFiles
import Foundation
import Synchronization
import SyncContract

/// The connection that writes, one transaction at a time, first come, first served. It holds the lock on the store and
/// keeps the WAL short. It opens with its first transaction.
///
/// A transaction runs in the task that calls. Where it waits for the disk, it does so on a queue of its own: opening the
/// connection, checkpoints, and under full durability the whole transaction, whose commit waits. Under normal durability
/// only the first commit after a checkpoint waits, for the head of the WAL, and the way to the queue and back is as long as
/// half a small transaction: it runs on the calling task's thread of the cooperative pool, as any computation would, but
/// never takes the last one (``PoolThreads``).
///
/// Sendable, because only who has acquired the turn uses what can change.
final class Writer: @unchecked Sendable {
    private let queue = SerialQueue(label: "SealedSync.writer")
    private let turn = FairPool([()])
    private let opener: @Sendable () throws -> Database
    private let files: StoreFiles
    private let commitsWaitForDisk: Bool
    private let checkpointDelay: Duration?

    private var database: Database?
    private var lock: LockFile?

    /// How many transactions were committed, and whether a checkpoint is due.
    private var commits = 0
    private var isCheckpointScheduled = false

    /// How many reads are under way that no write waits for, however long the WAL gets.
    private let longReads = Atomic(0)

    /// - Parameters:
    ///   - files: The files of the store.
    ///   - lock: The lock on the store.
    ///   - options: What a commit waits for, and how long after the last one a checkpoint is made.
    ///   - opener: Opens the database.
    init(
        files: StoreFiles,
        lock: LockFile,
        options: EncryptedStoreOptions,
        opener: @escaping @Sendable () throws -> Database
    ) {
        self.opener = opener
        self.files = files
        self.lock = lock
        commitsWaitForDisk = options.durability == .full
        checkpointDelay = options.checkpointDelay
    }

    /// How many wait for their turn.
    var waitingCount: Int { turn.waitingCount }

    /// Runs a closure as one transaction. When the calling task is cancelled before it began, nothing happens; later, the
    /// closure sees it, and what it commits all the same is kept and reported so.
    func transaction<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await turn.acquire()
        guard !commitsWaitForDisk, database != nil, PoolThreads.acquire() else {
            return try await queue.run { [self] in
                defer { turn.release(()) }
                let value = try run(body)
                limitWAL()
                return value
            }
        }
        return try await transactionInPlace(body)
    }

    /// The same on a thread of the pool, which was acquired, as the turn was; both are released.
    @concurrent
    private func transactionInPlace<Value: Sendable>(
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        defer { turn.release(()) }
        let result = Result { try run(body) }
        PoolThreads.release()
        if isWALLong { await queue.run { [self] in limitWAL() } }
        return try result.get()
    }

    private func run<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try Task.checkCancellation()
        return try reportingFailures {
            let database = try openDatabase()
            // A transaction that could not be ended ends with its connection; the next one opens another.
            defer { if database.isInTransaction { self.database = nil } }
            let value = try database.transaction(.writing) { try body(database) }
            commits += 1
            if !isCheckpointScheduled { scheduleCheckpoint() }
            return value
        }
    }

    private func reportingFailures<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: files.database)
        }
    }

    /// Makes a checkpoint, closes the connection and lifts the lock. The readers must be closed, and nobody may want to
    /// write any more.
    func close() async {
        await queue.run { [self] in
            // A store that was only read may have a WAL that an earlier process left.
            if database == nil, FileSystem.exists(files.wal) { openForClosing() }
            _ = checkpoint(.truncate, waiting: 5_000)
            database = nil
            lock = nil
        }
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
    /// Lets the WAL grow while a copy of the whole store is being made.
    func beginLongRead() { longReads.add(1, ordering: .relaxed) }

    /// Ends what ``beginLongRead()`` began.
    func endLongRead() { longReads.subtract(1, ordering: .relaxed) }

    private var isWALLong: Bool { (database?.walPages ?? 0) >= WALLimits.checkpointPages }

    /// Writes back what no reader needs, once the WAL is long. When that does not help, because a reader has been in it
    /// for long, waits until it can start anew.
    private func limitWAL() {
        guard let database, isWALLong else { return }
        if database.walPages * WALLimits.frameSize > WALLimits.hardLimit, longReads.load(ordering: .relaxed) == 0 {
            _ = checkpoint(.restart, waiting: 5_000)
        } else {
            _ = checkpoint(.passive, waiting: 0)
        }
    }

    private func scheduleCheckpoint() {
        guard let checkpointDelay else { return }
        isCheckpointScheduled = true
        let seen = commits
        queue.schedule(after: checkpointDelay) { [weak self] in self?.checkpointIfIdle(since: seen) }
    }

    /// Makes a checkpoint unless there were commits meanwhile; tries again later when it could not.
    private func checkpointIfIdle(since seen: Int) {
        guard turn.acquireIdle() != nil else {
            guard let checkpointDelay else { return }
            return queue.schedule(after: checkpointDelay) { [weak self] in self?.checkpointIfIdle(since: seen) }
        }
        defer { turn.release(()) }
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

/// How many threads of the cooperative pool transactions that write may hold, whatever their closures do: all but one in
/// the whole process.
enum PoolThreads {
    private static let free = Atomic(ProcessInfo.processInfo.activeProcessorCount - 1)

    /// Whether there is one. It must be released in this case.
    static func acquire() -> Bool {
        if free.subtract(1, ordering: .relaxed).newValue >= 0 { return true }
        release()
        return false
    }

    static func release() { free.add(1, ordering: .relaxed) }
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
