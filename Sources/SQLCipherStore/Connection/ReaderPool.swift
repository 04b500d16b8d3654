import SyncContract

/// The connections that read, each used by one transaction at a time, first come, first served.
final class ReaderPool: Sendable {
    private let readers: [Reader]
    private let pool: FairPool<Reader>

    /// The last connection is used first.
    init(_ readers: [Reader]) {
        self.readers = readers
        pool = FairPool(readers)
    }

    /// How many wait for a connection.
    var waitingCount: Int { pool.waitingCount }

    /// Runs a closure as one transaction on the queue of its connection: it may take as long as it likes.
    func read<Value: Sendable>(_ body: @Sendable (Database) throws -> Value) async throws -> Value {
        try await read(on: pool.acquire(), body)
    }

    /// Runs a closure that reads so many rows as one transaction on the calling task's thread, which is one of the cooperative pool and never the
    /// main actor's. For what reads few rows: going to a queue and back takes several times as long.
    ///
    /// What takes long all the same is given up, and the closure runs once more, on the queue; so does one that finds its
    /// connection not open yet. It must have no effect but its value. The admission is asked once, when there is a
    /// connection: what it lets in goes on to its end.
    @concurrent
    func readInPlace<Value: Sendable>(
        rows: Int = 1,
        admission: @Sendable () throws -> Void = {},
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let reader = try await pool.acquire()
        do {
            try admission()
            if let value = try reader.briefTransaction(rows: rows, body) {
                pool.release(reader)
                return value
            }
        } catch {
            pool.release(reader)
            throw error
        }
        return try await read(on: reader, body)
    }

    private func read<Value: Sendable>(
        on reader: Reader,
        _ body: @Sendable (Database) throws -> Value
    ) async throws -> Value {
        try await reader.onQueue {
            // Before the way back: the next one need not wait for it.
            defer { pool.release(reader) }
            return try reader.transaction(body)
        }
    }

    /// Closes the connections. Nobody may use or want one any more.
    func close() async {
        for reader in readers { await reader.onQueue { reader.close() } }
    }
}

/// A connection that reads, with a queue for what may take long.
///
/// Sendable, because one at a time uses it: who opens the store, and after that who acquired it from the pool.
final class Reader: @unchecked Sendable {
    private let queue: SerialQueue
    private let files: StoreFiles
    private var opener: @Sendable () throws -> Database
    private var database: Database?

    /// A connection that opens with its first transaction unless it is opened before.
    init(number: Int, files: StoreFiles, opener: @escaping @Sendable () throws -> Database) {
        queue = SerialQueue(label: "SealedSync.reader.\(number)")
        self.files = files
        self.opener = opener
    }

    /// Runs a closure on the queue, in the task that calls.
    func onQueue<Value: Sendable>(_ body: @Sendable () throws -> Value) async rethrows -> Value {
        try await queue.run(body)
    }

    /// Uses a database that was opened already, and opens later ones in another way than so far.
    func use(_ database: Database, opener: @escaping @Sendable () throws -> Database) {
        self.opener = opener
        use(database)
    }

    private func use(_ database: Database) {
        database.allowInterruption()
        self.database = database
    }

    /// Closes the connection.
    func close() { database = nil }

    /// Runs a closure as one transaction. When the task is cancelled before it began or while a statement runs, it ends
    /// with `CancellationError`.
    func transaction<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try reportingFailures {
            let database = if let database { database } else { try opener() }
            if self.database == nil { use(database) }
            return try transaction(.reading, of: database, body)
        }
    }

    /// The same, but nil when the connection is not open or the closure turns out to be long.
    func briefTransaction<Value>(rows: Int, _ body: (Database) throws -> Value) throws -> Value? {
        do {
            return try reportingFailures {
                try database.map { database in try transaction(.readingBriefly(rows: rows), of: database, body) }
            }
        } catch is ReadTookLong {
            return nil
        }
    }

    /// A transaction that could not be ended ends with its connection; the next one opens another.
    private func transaction<Value>(
        _ kind: TransactionKind,
        of database: Database,
        _ body: (Database) throws -> Value
    ) throws -> Value {
        defer { if database.isInTransaction { self.database = nil } }
        return try database.transaction(kind) { try body(database) }
    }

    private func reportingFailures<Value>(_ body: () throws -> Value) throws -> Value {
        try Task.checkCancellation()
        do {
            return try body()
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: files.database)
        }
    }
}
