import CSQLCipher
import DurableFiles
import SQLCipherStore
import SecretMemory
import SyncContract

/// A store that is not open, locked for work on its files as a whole. The key has been tried.
final class LockedStore {
    let files: StoreFiles
    let engine: EngineVersion
    let cipherConfiguration: CipherConfiguration
    private let opener: DatabaseOpener
    private let lock: LockFile

    init(_ file: StoreFile, key: SecretBytes) throws {
        files = try StoreFiles(file.url, in: file.fileSystem)
        guard key.count == KeyText.keyCount else { throw StoreError.wrongKeyLength(key.count) }
        engine = try CipherConfiguration.engineVersion()
        guard FileSystem.exists(files.database) else { throw StoreError.noStore(at: files.database) }
        lock = try LockFile(files)
        // Another process may have removed the store before the lock was ours.
        guard FileSystem.exists(files.database) else { throw StoreError.noStore(at: files.database) }
        opener = DatabaseOpener(files: files, key: key, keyIsVerified: file.keyIsVerified)
        cipherConfiguration = try opener.cipherConfiguration(engine)
        try opener.refuseForeignLogs(cipherConfiguration.header)
        // Not before the key was tried: the new database of a revocation may be among them. Nor before the logs were looked
        // at: who is told to move one away may need it still.
        try files.removeLeftovers()
    }

    /// The bytes of the database and its WAL.
    var size: Int64 {
        [files.database, files.wal].reduce(0) { $0 + Int64(FileSystem.size(of: $1) ?? 0) }
    }

    /// Brings all that was committed into the database file, and leaves nothing beside it.
    func checkpoint() throws {
        try moveWAL()
        try refuseCompanions()
        files.fileSystem.report(.removed(files.wal))
        // A WAL that comes back after a loss of power would lie beside the new file then, and be played into it.
        try files.fileSystem.synchronize(files.folder)
    }

    /// Nobody else may have the database open, and the answers say whether that is so.
    private func moveWAL() throws {
        let database = try opener.open(cipherConfiguration)
        let isMoved = try database.withStatement("PRAGMA wal_checkpoint(TRUNCATE)") { row in
            try row.step() && row.int64(0) == 0 && row.int64(1) == row.int64(2)
        }
        guard isMoved, try database.setting("PRAGMA journal_mode = DELETE") == "delete" else {
            throw StoreError(SQLiteFailure(code: SQLITE_BUSY), at: files.database)
        }
    }

    /// Throws when a WAL or a journal lies beside the database.
    func refuseCompanions() throws {
        for path in [files.wal, files.index, files.journal] where FileSystem.exists(path) {
            throw StoreError(SQLiteFailure(code: SQLITE_BUSY), at: files.database)
        }
    }

    /// Lets no other program begin to write, as long as the connection that is returned is open.
    ///
    /// One that knows no lock file would otherwise commit to the old file while it is copied or after that, and lose it
    /// with the file. After the new file has its name, SQLite refuses its writes, since the old one has none.
    func refuseWriters() throws -> Database {
        let database = try opener.open(cipherConfiguration)
        try database.run("BEGIN IMMEDIATE")
        return database
    }

    /// Copies the database into an empty file.
    func copy(
        to path: String,
        _ target: CipherConfiguration?,
        _ work: CancellableWork,
        _ progress: StoreProgressHandler?,
        _ mark: StoreMark? = nil
    ) throws -> DatabaseContent {
        let source = try opener.open(cipherConfiguration)
        try source.configureSession(EncryptedStoreOptions())
        return try DatabaseCopy(source: source, size: source.contentSize, work: work, progress: progress, mark: mark)
            .run(to: path, target)
    }
}

extension Database {
    /// The bytes of the pages that hold something.
    var contentSize: Int64 {
        get throws {
            let pages = try int64("PRAGMA page_count") ?? 0
            return try (pages - (int64("PRAGMA freelist_count") ?? 0)) * (int64("PRAGMA page_size") ?? 0)
        }
    }
}
