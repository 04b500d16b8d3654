import CSQLCipher
import DurableFiles
import SecretMemory
import SyncContract

/// Opens or creates the database of a store, step by step, on the thread that calls.
struct StoreOpener: Sendable {
    let files: StoreFiles
    let key: SecretBytes
    /// The tables to bring the store to; nil stands for those that it remembers.
    let schema: StoreSchema?
    /// Brings what waits to the declared tables, when a migration changes them.
    var translation: (any QueueTranslation)?
    let mode: OpenMode
    let options: EncryptedStoreOptions
    /// Called by the holder of the lock, before anything is looked at or created; nothing has changed when it throws.
    var whenLocked: (@Sendable () throws -> Void)?

    /// What an opened store consists of, beside its first connection.
    struct Opened: Sendable {
        let lock: LockFile
        let schema: StoreSchema
        let catalog: StoreCatalog
        let cipherConfiguration: CipherConfiguration
        let engine: EngineVersion
    }

    /// Opens the store and brings its tables to the declared ones. The connection is good for reading from then on.
    func open() throws -> (Database, Opened) {
        do {
            return try openStore()
        } catch let failure as SQLiteFailure {
            throw StoreError(failure, at: files.database)
        } catch let failure as SystemCallFailure {
            throw StoreError(failure, at: files.database)
        }
    }

    private func openStore() throws -> (Database, Opened) {
        try schema?.check()
        guard key.count == KeyText.keyCount else {
            throw StoreError.wrongKeyLength(key.count)
        }
        let engine = try CipherConfiguration.engineVersion()
        guard FileSystem.isFolder(files.folder) else {
            throw StoreError.noFolder(files.folder)
        }
        try checkMode()
        let lock = try LockFile(files)
        // An opening that fails has closed its connection before the lock is lifted.
        return try withExtendedLifetime(lock) { try openLocked(lock, engine) }
    }

    /// The part that is done by the holder of the lock.
    func openLocked(_ lock: LockFile, _ engine: EngineVersion) throws -> (Database, Opened) {
        // Another process may have created or removed the store before the lock was ours.
        try checkMode()
        try whenLocked?()
        if !FileSystem.exists(files.database) {
            guard let newestFormat = engine.newestFormat else { throw StoreError.notEncrypting }
            try StoreCreator(files: files, engine: engine, format: newestFormat)
                .create(key, schema ?? StoreSchema([]))
        }

        // Only what is left behind makes an ordinary connection write before it finds out that the key is wrong.
        let hasLeftovers = FileSystem.exists(files.wal) || FileSystem.exists(files.journal)
        let opener = DatabaseOpener(files: files, key: key, keyIsVerified: options.keyIsVerified)
        let cipherConfiguration = try opener.cipherConfiguration(engine, tryingKey: hasLeftovers)
        let database = try opener.open(cipherConfiguration, keyIsTried: hasLeftovers)
        // What a rewrite that was killed has left: not before the key was tried, since the new database of a revocation may be
        // among it, which whoever has the right keys still needs.
        try files.removeLeftovers()
        try configure(database)
        let schema = try schema ?? rememberedSchema(database)
        let catalog = try SchemaMigrator(database: database, schema: schema, translation: translation).migrate()
        try database.refuseWrites()
        let opened = Opened(
            lock: lock,
            schema: schema,
            catalog: catalog,
            cipherConfiguration: cipherConfiguration,
            engine: engine
        )
        return (database, opened)
    }

    private func checkMode() throws(StoreError) {
        let exists = FileSystem.exists(files.database)
        if exists, mode == .createNew {
            throw StoreError(
                .alreadyExists,
                "There is a store at '\(files.database)' already; open it, or choose another place."
            )
        }
        if !exists, mode == .openExisting {
            throw .noStore(at: files.database)
        }
    }

    /// The tables that the store remembers, at the version that it has.
    private func rememberedSchema(_ database: Database) throws -> StoreSchema {
        let tables = try RememberedTables(database, of: files.database)
        return try tables.schema(version: StoredSchema(database).version(in: database))
    }

    private func configure(_ database: Database) throws {
        guard try database.setting("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(.internal, "The file system does not support the store's log; use a local disk.")
        }
        try database.configureSession(options)
    }
}

extension Database {
    /// What every connection is set to, whether it reads or writes.
    package func configureSession(_ options: EncryptedStoreOptions) throws {
        try SQLFunctions.register(on: self)
        // Sorting and temporary tables would otherwise write to files, without the cipher.
        try execute("PRAGMA temp_store = MEMORY")
        try execute("PRAGMA cache_size = -\(max(options.cacheKibibytes, 64))")
        // Damage that the cipher's check cannot see, such as a page from an older state, is noticed when it is read.
        try execute("PRAGMA cell_size_check = ON")
    }

    /// Makes a connection that can write one that reads only.
    func refuseWrites() throws {
        try execute("PRAGMA query_only = ON")
        // Two connections that write the WAL back at one instant can corrupt it in every SQLite before 3.51.3.
        disableCheckpoints()
    }
}

extension StoreOpener {
    /// Opens a connection for reading, of a store that is open.
    static func openReader(
        _ files: StoreFiles,
        cipherConfiguration: CipherConfiguration,
        options: EncryptedStoreOptions
    ) throws -> Database {
        let database = try cipherConfiguration.open(path: files.database, flags: SQLITE_OPEN_READONLY)
        try database.configureSession(options)
        try database.refuseWrites()
        return database
    }

    /// Opens the connection for writing, of a store that is open.
    static func openWriter(
        _ files: StoreFiles,
        cipherConfiguration: CipherConfiguration,
        options: EncryptedStoreOptions
    ) throws -> Database {
        let database = try cipherConfiguration.open(path: files.database, flags: SQLITE_OPEN_READWRITE)
        try database.configureSession(options)
        try database.execute("PRAGMA synchronous = \(options.durability == .full ? "FULL" : "NORMAL")")
        try database.execute("PRAGMA journal_size_limit = \(WALLimits.softLimit)")
        database.watchWAL()
        return database
    }
}
