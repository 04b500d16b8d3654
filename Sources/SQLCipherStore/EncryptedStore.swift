package import DurableFiles
public import Foundation
public import SecretMemory
import Synchronization
public import SyncContract

/// A local store in one encrypted file.
///
/// Everything on disk, the WAL beside the database included, is encrypted with SQLCipher: pages with AES-256, each with
/// a keyed hash that shows changes. What is visible is the size of the files, when they change, and in the first eight
/// bytes that this is such a store, and with which settings it is encrypted.
///
/// One process at a time uses a store, through one object: SQLite's WAL can be damaged when two connections write it
/// back at the same instant (up to 3.51.2), so another object is refused with `StoreError.Code.inUse`. Reads run
/// beside a write and see the state before it.
///
/// Closures given to `read(_:)` may take as long as they like: they run on queues of the store's own, and so do writes,
/// whose commits wait for the disk. Two things run on the calling task's thread of the cooperative pool instead, never on
/// the main actor's, because the way to a queue and back would take longer than they do: reads by id and queries limited
/// to 100 rows, which move to a queue when they turn out to be long; and writes under
/// ``EncryptedStoreOptions/Durability/normal``, whose commits wait for nothing, as long as one thread of the pool is left
/// to others. Whatever waits for its turn holds no thread. A read ends soon after its task is cancelled, a write only if
/// its closure asks.
///
/// Reading a damaged page fails with `StoreError.Code.damaged` and never gives other data. Damage in the *WAL* can
/// lose the commits since it was last written back, which happens half a second after the last write, at the latest
/// every 1,000 pages in the absence of readers, and when the store is closed.
///
/// Keep the store's folder, not the database file alone, in backups: a copy of the files is one while the store is
/// closed, and `backUp(to:progress:)` makes one while it is in use.
public final class EncryptedStore: SyncContextDataSource {
    /// The declared tables.
    public let schema: StoreSchema

    /// Durable, keeps undeclared columns, encrypted, answers queries about states, is migrated, and answers SQL.
    public let capabilities: StoreCapabilities = [
        .durable, .unknownColumns, .encrypted, .syncStates, .migrations, .sql,
    ]

    /// The database file.
    public let url: URL

    /// The versions of the linked library.
    public let engineVersion: EngineVersion

    package let files: StoreFiles

    private let declared: StoreSchema?
    private let translation: (any QueueTranslation)?
    private let options: EncryptedStoreOptions
    private let session: Mutex<StoreSession?>
    private let gate = OperationGate()
    private let broadcaster = ChangeBroadcaster()

    /// Opens a store, or creates it, and brings its tables to the declared ones.
    ///
    /// Tables and columns that are missing are added. A column that is no longer declared stays, and its values come
    /// back as those of an undeclared key; a column that is declared for a key that was undeclared so far takes over
    /// the values kept under it. A new store exists when it is complete: a creation that is killed leaves none.
    ///
    /// A store of a lower version than the schema's is migrated, in one transaction in which the version is recorded: one
    /// that is killed meanwhile has the old version still, and the next opening does it again. Each table that the steps
    /// change is written anew, row by row, so that memory does not depend on how many there are; the file grows by what they
    /// take, and that space is used again.
    ///
    /// - Parameters:
    ///   - url: The database file. Its folder must exist; beside the file lie those of SQLite's log and a lock file.
    ///   - key: 32 random bytes. They are lent: the store keeps a copy in memory of the same kind until it is closed
    ///     or locked.
    ///   - schema: The tables.
    ///   - translation: What brings the changes that wait to be sent along in a migration: `.operations`, of the sync
    ///     engine. Without it a migration of tables that were synced is refused.
    ///   - mode: What to do about a database that exists, or does not.
    ///   - options: How memory and speed are traded against safety.
    /// - Returns: The open store, to be closed with ``close()``.
    /// - Throws: `StoreError` with the code `StoreError.Code.wrongKey` for a key that does not open the database,
    ///   which leaves every file as it was; `StoreError.Code.damaged`; `StoreError.Code.unsupportedFormat` for a
    ///   file without encryption and for one that needs a newer library; `StoreError.Code.schemaMismatch` for tables
    ///   that cannot be brought to the declared ones, which leaves them as they were, and for a row for which a step of a
    ///   migration fails; `StoreError.Code.newerSchema` for a store of a higher version than the schema's;
    ///   `StoreError.Code.migrationRefused` for a migration that would orphan changes that wait; `StoreError.Code.notFound` and
    ///   `StoreError.Code.alreadyExists` as the mode says, and the former for a missing folder;
    ///   `StoreError.Code.inUse` when the store is open elsewhere; `StoreError.Code.notEncrypting` when the program
    ///   is linked to another SQLite; and those of the file system. `CancellationError` when the task was cancelled
    ///   before.
    public static func open(
        at url: URL,
        key: SecretBytes,
        schema: StoreSchema,
        translating translation: (any QueueTranslation)? = nil,
        mode: OpenMode = .openOrCreate,
        options: EncryptedStoreOptions = EncryptedStoreOptions()
    ) async throws -> EncryptedStore {
        try await open(url, key, schema, translation, mode, options, FileSystem(), nil)
    }

    /// The same, with a file system that tells each step, and something to be looked at by the holder of the store's lock:
    /// nothing has changed when it throws.
    package static func open(
        at url: URL,
        key: SecretBytes,
        schema: StoreSchema,
        translating translation: (any QueueTranslation)?,
        mode: OpenMode,
        options: EncryptedStoreOptions,
        in fileSystem: FileSystem,
        whenLocked: (@Sendable () throws -> Void)? = nil
    ) async throws -> EncryptedStore {
        try await open(url, key, schema, translation, mode, options, fileSystem, whenLocked)
    }

    /// Opens a store that exists with the tables that it remembers, for tools that know nothing of its app.
    ///
    /// ``schema`` has the tables with the columns and indexes that were declared last. They stay as they are, but for
    /// what a new version of this library keeps in another way, such as search indexes.
    ///
    /// - Parameters:
    ///   - url: The database file.
    ///   - key: 32 bytes. They are lent.
    ///   - options: How memory and speed are traded against safety.
    /// - Returns: The open store, to be closed with ``close()``.
    /// - Throws: As `open(at:key:schema:mode:options:)`.
    public static func openWithStoredSchema(
        at url: URL,
        key: SecretBytes,
        options: EncryptedStoreOptions = EncryptedStoreOptions()
    ) async throws -> EncryptedStore {
        try await openWithStoredSchema(at: url, key: key, options: options, whenLocked: nil)
    }

    /// The same, with something to be looked at by the holder of the store's lock: nothing has changed when it throws.
    package static func openWithStoredSchema(
        at url: URL,
        key: SecretBytes,
        options: EncryptedStoreOptions,
        whenLocked: (@Sendable () throws -> Void)?
    ) async throws -> EncryptedStore {
        try await open(url, key, nil, nil, .openExisting, options, FileSystem(), whenLocked)
    }

    private static func open(
        _ url: URL,
        _ key: SecretBytes,
        _ schema: StoreSchema?,
        _ translation: (any QueueTranslation)?,
        _ mode: OpenMode,
        _ options: EncryptedStoreOptions,
        _ fileSystem: FileSystem,
        _ whenLocked: (@Sendable () throws -> Void)?
    ) async throws -> EncryptedStore {
        try Task.checkCancellation()
        let files = try StoreFiles(url, in: fileSystem)
        let opener = StoreOpener(
            files: files,
            key: key,
            schema: schema,
            translation: translation,
            mode: mode,
            options: options,
            whenLocked: whenLocked
        )
        let (session, opened) = try await StoreSession.open(opener)
        return EncryptedStore(url, opener, session, opened)
    }

    private init(
        _ url: URL,
        _ opener: StoreOpener,
        _ session: StoreSession,
        _ opened: StoreOpener.Opened
    ) {
        self.url = url
        files = opener.files
        declared = opener.schema
        translation = opener.translation
        options = opener.options
        self.session = Mutex(session)
        schema = opened.schema
        engineVersion = opened.engine
    }

    /// The versions of the linked library, without opening a store.
    ///
    /// - Throws: `StoreError` with code `StoreError.Code.notEncrypting` when it is not SQLCipher.
    public static func linkedEngineVersion() throws -> EngineVersion {
        do {
            return try CipherConfiguration.engineVersion()
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: nil)
        }
    }

    /// Runs a closure on the state of one instant, beside other reads and a write.
    public func read<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await pass { session in
            try await session.readers.read { [gate, catalog = session.catalog] database in
                try gate.refuseLate()
                return try ReadBackend(database, catalog).run(body)
            }
        }
    }

    /// The rows of a query, without another thread when it is limited to few.
    @concurrent
    public func read(_ query: Query) async throws -> QueryResult {
        guard let limit = query.fewRows else { return try await read { try $0.read(query) } }
        return try await readInPlace(rows: limit) { try $0.read(query) }
    }

    /// The record with an id, without another thread.
    @concurrent
    public func read(table: String, itemID: RecordID) async throws -> Record? {
        try await readInPlace(rows: 1) { try $0.record(itemID, in: table) }
    }

    /// Reads on the thread that calls. For what is known to read few rows.
    @concurrent
    private func readInPlace<Value: Sendable>(
        rows: Int,
        _ body: @Sendable (inout StoreReader) throws -> Value
    ) async throws -> Value {
        try await pass { session in
            try await session.readers.readInPlace(rows: rows, admission: { try gate.refuseLate() }) {
                [catalog = session.catalog] database in
                try ReadBackend(database, catalog).run(body)
            }
        }
    }

    /// Runs a closure as one transaction, after the writes that were begun before.
    public func write<Value: Sendable>(
        _ body: @escaping @Sendable (inout StoreTransaction) throws -> Value
    ) async throws -> Value {
        try await pass { session in
            let (value, touchedTables) = try await session.writer.transaction {
                [gate, catalog = session.catalog] database in
                try gate.refuseLate()
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
    package func duringLongRead<Value: Sendable>(_ body: (CipherConfiguration) async throws -> Value) async throws
        -> Value
    {
        try await pass { session in
            session.writer.beginLongRead()
            let result: Result<Value, any Error>
            do {
                result = .success(try await body(session.cipherConfiguration))
            } catch {
                result = .failure(error)
            }
            session.writer.endLongRead()
            return try result.get()
        }
    }

    /// What committed transactions touch from now on.
    public func changes() -> AsyncStream<StoreChange> { broadcaster.subscribe() }

    /// Closes the store: finishes the transactions and backups that run, writes the WAL back and removes it, ends the
    /// streams of changes, and lets others open the store.
    ///
    /// Transactions that wait for their turn, and all that come later, fail with `StoreError.Code.closed` and have changed
    /// nothing: wait for a write before closing when it must be kept.
    ///
    /// A store that is dropped without being closed is closed in the background, which whoever opens it again in this
    /// process waits for; other processes may find it in use for a moment.
    ///
    /// Closing a closed store does nothing; a second caller waits for the first. Cancelling the task changes nothing.
    public func close() async {
        await gate.close {
            await endSession()
            broadcaster.finish()
        }
    }

    /// Runs a closure while the store is open.
    private func pass<Value: Sendable>(_ body: (StoreSession) async throws -> Value) async throws -> Value {
        try await gate.pass {
            // There is one as long as the gate lets anybody in.
            guard let session = session.withLock({ $0 }) else { throw StoreError.closed }
            return try await body(session)
        }
    }

    private func endSession() async {
        let ending = session.withLock { session in
            defer { session = nil }
            return session
        }
        await ending?.close()
    }
}

extension EncryptedStore {
    /// Locks the store: closes the database and wipes the key from memory, until ``unlock(key:)``.
    ///
    /// Transactions that run are finished first, and so are backups. Those that wait for their turn, and all that come
    /// later, fail with `StoreError.Code.locked` and have changed nothing. Streams of changes stay, and go on after
    /// the unlocking. While the store is locked, others may open it, and its files can be worked on.
    ///
    /// The key is gone from memory when this returns and the caller has given up the key it lent, as a keyring does when
    /// it is locked. Locking a locked or closed store does nothing. Cancelling the task changes nothing.
    public func lock() async {
        await gate.lock { await endSession() }
    }

    /// Opens the store again, after ``lock()``, with the tables and options it was opened with.
    ///
    /// Streams of changes are told that every table may have changed, as others may have used the store meanwhile; live
    /// queries look again. Unlocking a store that is not locked does nothing.
    ///
    /// - Parameter key: The key of the store, 32 bytes; another one than before, if that was rotated meanwhile.
    /// - Throws: As `open(at:key:schema:mode:options:)`; the store stays locked. `StoreError` with code
    ///   `StoreError.Code.closed` when it was closed.
    public func unlock(key: SecretBytes) async throws { try await unlock(key: key, whenLocked: nil) }

    /// The same, with something to be looked at by the holder of the store's lock: nothing has changed when it throws.
    package func unlock(key: SecretBytes, whenLocked: (@Sendable () throws -> Void)?) async throws {
        let wasLocked = try await gate.unlock {
            let (opened, _) = try await StoreSession.open(
                StoreOpener(
                    files: files,
                    key: key,
                    schema: declared,
                    translation: translation,
                    mode: .openExisting,
                    options: options,
                    whenLocked: whenLocked
                )
            )
            session.withLock { $0 = opened }
        }
        if wasLocked { broadcaster.send(StoreChange(tables: Set(schema.allTables.map(\.name)))) }
    }

    /// Whether the store is locked, or being locked.
    public var isLocked: Bool { gate.isLocked }
}

extension Query {
    /// How many rows are asked for, when finding them is likely to take no longer than the way to another thread and back.
    /// Counting them all may not.
    fileprivate var fewRows: Int? { limit.flatMap { $0 <= 100 && !includesTotalCount ? $0 : nil } }
}
