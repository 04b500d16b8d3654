public import Foundation
public import SecretMemory
public import SyncContract

/// A local store in one encrypted file.
///
/// Everything on disk, the log beside the database included, is encrypted with SQLCipher: pages with AES-256, each with
/// a keyed hash that shows changes. What is visible is the size of the files, when they change, and in the first eight
/// bytes that this is such a store, and with which settings it is encrypted.
///
/// One process at a time uses a store, through one object: SQLite's log can be damaged when two connections write it
/// back at the same instant (up to 3.51.2), so another object is refused with ``StoreError/Code/inUse``. Transactions
/// run on queues of the store's own and never hold up other tasks. Reads run beside a write and see the state before it.
///
/// Reading a damaged page fails with ``StoreError/Code/damaged`` and never gives other data. Damage in the *log* can
/// lose the commits since it was last written back, which happens half a second after the last write, at the latest
/// every 1,000 pages in the absence of readers, and when the store is closed.
///
/// Keep the store's folder, not the database file alone, in backups: a copy of the files is one while the store is
/// closed, and ``backUp(to:progress:)`` makes one while it is in use.
public final class EncryptedStore: SyncContextDataSource {
    /// The declared tables.
    public let schema: StoreSchema

    /// Durable, keeps undeclared columns, encrypted.
    public let capabilities: StoreCapabilities = [.durable, .unknownColumns, .encrypted]

    /// The database file.
    public let url: URL

    /// The versions of the linked library.
    public let engineVersion: EngineVersion

    /// What a backup reads the database with.
    let files: StoreFiles
    let keying: Keying

    private let catalog: StoreCatalog
    // The order matters for a store that is dropped without being closed: readers end before the writer, which writes
    // the log back and lifts the lock.
    private let readers: ReaderPool
    private let writer: Connection
    private let gate = OperationGate()
    private let broadcaster = ChangeBroadcaster()

    /// Opens a store, or creates it, and brings its tables to the declared ones.
    ///
    /// Tables and columns that are missing are added. A column that is no longer declared stays, and its values come
    /// back as those of an undeclared key; a column that is declared for a key that was undeclared so far takes over
    /// the values kept under it. A new store exists when it is complete: a creation that is killed leaves none.
    ///
    /// - Parameters:
    ///   - url: The database file. Its folder must exist; beside the file lie those of SQLite's log and a lock file.
    ///   - key: 32 random bytes. They are lent: the store keeps a copy in memory of the same kind until it is closed.
    ///   - schema: The tables.
    ///   - mode: What to do about a database that exists, or does not.
    ///   - options: How memory and speed are traded against safety.
    /// - Returns: The open store, to be closed with ``close()``.
    /// - Throws: ``StoreError`` with the code ``StoreError/Code/wrongKey`` for a key that does not open the database,
    ///   which leaves every file as it was; ``StoreError/Code/damaged``; ``StoreError/Code/unsupportedFormat`` for a
    ///   file without encryption and for one that needs a newer library; ``StoreError/Code/schemaMismatch`` for tables
    ///   that cannot be brought to the declared ones, which leaves them as they were; ``StoreError/Code/notFound`` and
    ///   ``StoreError/Code/alreadyExists`` as the mode says, and the former for a missing folder;
    ///   ``StoreError/Code/inUse`` when the store is open elsewhere; ``StoreError/Code/notEncrypting`` when the program
    ///   is linked to another SQLite; and those of the file system. `CancellationError` when the task was cancelled
    ///   before.
    public static func open(
        at url: URL,
        key: SecretBytes,
        schema: StoreSchema,
        mode: OpenMode = .openOrCreate,
        options: EncryptedStoreOptions = EncryptedStoreOptions()
    ) async throws -> EncryptedStore {
        try await open(url, key, schema, mode, options)
    }

    /// Opens a store that exists with the tables that it remembers, for tools that know nothing of its app.
    ///
    /// Tables, columns and indexes stay as they are. ``schema`` has the tables with the columns that were declared last,
    /// without indexes: opening the store with it as an app does would drop those.
    ///
    /// - Parameters:
    ///   - url: The database file.
    ///   - key: 32 bytes. They are lent.
    ///   - options: How memory and speed are traded against safety.
    /// - Returns: The open store, to be closed with ``close()``.
    /// - Throws: As ``open(at:key:schema:mode:options:)``.
    public static func openAsItIs(
        at url: URL,
        key: SecretBytes,
        options: EncryptedStoreOptions = EncryptedStoreOptions()
    ) async throws -> EncryptedStore {
        try await open(url, key, nil, .openExisting, options)
    }

    private static func open(
        _ url: URL,
        _ key: SecretBytes,
        _ schema: StoreSchema?,
        _ mode: OpenMode,
        _ options: EncryptedStoreOptions
    ) async throws -> EncryptedStore {
        try Task.checkCancellation()
        let files = try StoreFiles(url)
        let opener = StoreOpener(files: files, key: key, schema: schema, mode: mode, options: options)
        let writer = Connection(
            label: "SealedSync.writer",
            files: files,
            checkpointDelay: options.checkpointDelay
        )
        let opened = try await writer.open { try opener.open() }
        return EncryptedStore(url, files, writer, opened, options)
    }

    private init(
        _ url: URL,
        _ files: StoreFiles,
        _ writer: Connection,
        _ opened: StoreOpener.Opened,
        _ options: EncryptedStoreOptions
    ) {
        self.url = url
        schema = opened.schema
        self.writer = writer
        catalog = opened.catalog
        engineVersion = opened.engine
        let keying = opened.keying
        self.files = files
        self.keying = keying
        readers = ReaderPool(
            (0..<max(options.readerCount, 1))
                .map { index in
                    Connection(label: "SealedSync.reader.\(index)", files: files) {
                        try StoreOpener.openReader(files, keying: keying, options: options)
                    }
                }
        )
    }

    /// The versions of the linked library, without opening a store.
    ///
    /// - Throws: ``StoreError`` with code ``StoreError/Code/notEncrypting`` when it is not SQLCipher.
    public static func linkedEngineVersion() throws -> EngineVersion {
        do {
            return try Keying.engineVersion()
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: nil)
        }
    }

    /// Runs a closure on the state of one instant, beside other reads and a write.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await gate.pass {
            try await readers.withConnection { [catalog] connection in
                try await connection.perform(.reading) { database in
                    let backend = ReadBackend(database, catalog)
                    defer { backend.finish() }
                    var reader = StoreReader(backend)
                    return try body(&reader)
                }
            }
        }
    }

    /// Runs a closure as one transaction, after the writes that were begun before.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await gate.pass {
            let (value, touchedTables) = try await writer.perform(.writing) { [catalog] database in
                let backend = WriteBackend(database, catalog)
                defer { backend.finish() }
                var transaction = StoreTransaction(backend)
                let value = try body(&transaction)
                try backend.checkForCommit()
                return (value, backend.touchedTables)
            }
            broadcaster.send(StoreChange(tables: touchedTables))
            return value
        }
    }

    /// Runs a closure that reads the database in ways of its own for a long time. Closing waits for its end.
    func duringLongRead<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await gate.pass {
            await writer.beginLongRead()
            let result: Result<Value, any Error>
            do {
                result = .success(try await body())
            } catch {
                result = .failure(error)
            }
            await writer.endLongRead()
            return try result.get()
        }
    }

    /// What committed transactions touch from now on.
    public func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }

    /// Closes the store: lets no new transaction begin, waits for those that run, writes the log back and removes it,
    /// ends the streams of changes, and lets others open the store.
    ///
    /// Closing a closed store does nothing; a second caller waits for the first. Cancelling the task changes nothing.
    public func close() async {
        await gate.close {
            await readers.close()
            await writer.close(emptyingLog: true)
            broadcaster.finish()
        }
    }
}
