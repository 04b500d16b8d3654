import CSQLCipher
import SecretMemory
import SyncContract

/// Opens or creates the database of a store, step by step, on the thread that calls.
struct StoreOpener: Sendable {
    let files: StoreFiles
    let key: SecretBytes
    /// The tables to bring the store to; nil leaves them as they are, in a store that exists.
    let schema: StoreSchema?
    let mode: OpenMode
    let options: EncryptedStoreOptions

    /// What an opened store consists of, beside the writer's connection and the lock.
    struct Opened: Sendable {
        let schema: StoreSchema
        let catalog: StoreCatalog
        let keying: Keying
        let engine: EngineVersion
    }

    /// Opens the store for writing.
    func open() throws -> (Database, LockFile, Opened) {
        do {
            return try openStore()
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: files.database)
        } catch let failure as SystemCallFailure {
            throw StoreError(failure, at: files.database)
        }
    }

    private func openStore() throws -> (Database, LockFile, Opened) {
        guard key.count == KeyText.keyCount else {
            throw StoreError.wrongKeyLength(key.count)
        }
        let engine = try Keying.engineVersion()
        guard FileSystem.isFolder(files.folder) else {
            throw StoreError.noFolder(files.folder)
        }
        try checkMode()
        let lock = try LockFile(files)
        // An opening that fails has closed its connection before the lock is lifted.
        return try withExtendedLifetime(lock) {
            let (database, opened) = try openLocked(engine)
            return (database, lock, opened)
        }
    }

    private func openLocked(_ engine: EngineVersion) throws -> (Database, Opened) {
        // Another process may have created or removed the store before the lock was ours.
        try checkMode()
        if FileSystem.exists(files.database) {
            // What a rewrite that was killed has left.
            try files.removeLeftovers()
        } else {
            guard let newestFormat = engine.newestFormat else { throw StoreError.notEncrypting }
            try StoreCreator(files: files, engine: engine, format: newestFormat)
                .create(key, schema ?? StoreSchema([]))
        }

        let opener = DatabaseOpener(files: files, key: key, keyIsVerified: options.keyIsVerified)
        let keying = try opener.keying(engine)
        let database = try opener.open(keying)
        try configure(database)
        let (schema, catalog) = try tables(of: database)
        return (database, Opened(schema: schema, catalog: catalog, keying: keying, engine: engine))
    }

    private func tables(of database: Database) throws -> (StoreSchema, StoreCatalog) {
        if let schema { return (schema, try SchemaMigrator(database: database, schema: schema).migrate()) }
        let remembered = try RememberedTables(database, of: files.database)
        return (try remembered.schema, StoreCatalog(remembered.layouts))
    }

    private func checkMode() throws(StoreError) {
        let exists = FileSystem.exists(files.database)
        if exists, mode == .createNew {
            throw StoreError(
                .alreadyExists,
                "there is a store at '\(files.database)' already; open it, or choose another place"
            )
        }
        if !exists, mode == .openExisting {
            throw .noStore(at: files.database)
        }
    }

    private func configure(_ database: Database) throws {
        guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(.internal, "the file system does not support the store's log; use a local disk")
        }
        try database.configureSession(options)
        _ = try database.text("PRAGMA synchronous = \(options.durability == .full ? "FULL" : "NORMAL")")
        _ = try database.text("PRAGMA journal_size_limit = \(LogLimits.softLimit)")
    }
}

extension Database {
    /// What every connection is set to, whether it reads or writes.
    func configureSession(_ options: EncryptedStoreOptions) throws {
        try configure { (handle) throws(SQLiteFailure) in try SQLFunctions.register(on: handle) }
        // Sorting and temporary tables would otherwise write to files, without the cipher.
        _ = try text("PRAGMA temp_store = MEMORY")
        _ = try text("PRAGMA cache_size = -\(max(options.cacheKibibytes, 64))")
        _ = try text("PRAGMA foreign_keys = OFF")
        // Damage that the cipher's check cannot see, such as a page from an older state, is noticed when it is read.
        _ = try text("PRAGMA cell_size_check = ON")
    }
}

extension StoreOpener {
    /// Opens a connection for reading, of a store that is open.
    static func openReader(
        _ files: StoreFiles,
        keying: Keying,
        options: EncryptedStoreOptions
    ) throws -> Database {
        let database = try keying.open(path: files.database, flags: SQLITE_OPEN_READONLY)
        try database.configureSession(options)
        // Two connections that write the log back at one instant can corrupt it in every SQLite before 3.51.3.
        _ = try database.text("PRAGMA wal_autocheckpoint = 0")
        return database
    }
}
