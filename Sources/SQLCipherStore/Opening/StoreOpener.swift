import CSQLCipher
import SecretMemory
import SyncContract

/// Opens or creates the database of a store, step by step, on the thread that calls.
struct StoreOpener: Sendable {
    let files: StoreFiles
    let key: SecretBytes
    let schema: StoreSchema
    let mode: OpenMode
    let options: EncryptedStoreOptions

    /// What an opened store consists of, beside its first connection.
    struct Opened: Sendable {
        let lock: LockFile
        let catalog: StoreCatalog
        let keying: Keying
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
        guard key.count == KeyText.keyCount else {
            throw StoreError(.wrongKey, "a key has \(KeyText.keyCount) bytes; this one has \(key.count)")
        }
        let engine = try Keying.engineVersion()
        guard FileSystem.isFolder(files.folder) else {
            throw StoreError(.notFound, "the folder '\(files.folder)' does not exist; create it first")
        }
        try checkMode()
        let lock = try LockFile(files)
        // An opening that fails has closed its connection before the lock is lifted.
        return try withExtendedLifetime(lock) { try openLocked(lock, engine) }
    }

    private func openLocked(_ lock: LockFile, _ engine: EngineVersion) throws -> (Database, Opened) {
        // Another process may have created or removed the store before the lock was ours.
        try checkMode()
        guard let newestFormat = engine.newestFormat else { throw StoreError.notEncrypting }
        if !FileSystem.exists(files.database) {
            try StoreCreator(files: files, engine: engine, format: newestFormat).create(key, schema)
        }

        let keying = try keying(engine, newestFormat)
        let hasLog = FileSystem.exists(files.log)
        // Only what is left behind makes an ordinary connection write before it finds out that the key is wrong.
        let mustTryKey = !options.keyIsVerified && (hasLog || FileSystem.exists(files.journal))
        if mustTryKey { try tryKey(keying) }
        let database = try keying.open(path: files.database, flags: SQLITE_OPEN_READWRITE)
        try readFirstPage(of: database, keyIsVerified: options.keyIsVerified || mustTryKey)
        if !hasLog { try checkSize(database) }
        try configure(database)
        let catalog = try SchemaMigrator(database: database, schema: schema).migrate()
        try database.refuseWrites()
        return (database, Opened(lock: lock, catalog: catalog, keying: keying, engine: engine))
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
            throw StoreError(.notFound, "there is no store at '\(files.database)'; check the path, or create the store")
        }
    }

    /// Reads the format mark.
    private func keying(_ engine: EngineVersion, _ newest: FormatMark.Format) throws -> Keying {
        let start = try FileSystem.prefix(of: files.database, count: FormatMark.count)
        let mark = try FormatMark(reading: start, of: files.database)
        guard mark.format.rawValue <= newest.rawValue else {
            throw StoreError(
                .unsupportedFormat,
                "the store at '\(files.database)' was written with a newer SQLCipher than the one linked here"
                    + " (\(engine.cipher)); link SQLCipher 4 or later"
            )
        }
        guard FileSystem.size(of: files.database) ?? 0 >= FormatMark.pageSize else {
            throw FormatMark.wrongLength(of: files.database)
        }
        return try Keying(key: key, mark: mark, engine: engine)
    }

    /// An ordinary connection would first recover a log that was left behind, and write to the files, before it finds
    /// out that the key is wrong. An immutable one reads the database file and nothing else.
    private func tryKey(_ keying: Keying) throws {
        let database = try keying.open(
            path: Self.immutableURI(files.database),
            flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        )
        do {
            _ = try database.int64("SELECT COUNT(*) FROM sqlite_master")
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_NOTADB {
            throw wrongKey
        } catch is SQLiteFailure {
            // The first page could be decrypted, or the code would be another; what is wrong with the others, or with
            // opening a database that has a log in this way, is for the real connection to say.
        }
    }

    private var wrongKey: StoreError {
        StoreError(
            .wrongKey,
            "the key does not open the store at '\(files.database)'; use the key it was created with. If the key is"
                + " certainly right, the first page is damaged: open with 'keyIsVerified' to let the log repair it"
        )
    }

    private func readFirstPage(of database: Database, keyIsVerified: Bool) throws {
        let version: Int64
        do {
            version = try database.int64("PRAGMA user_version") ?? 0
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_NOTADB {
            guard keyIsVerified else { throw wrongKey }
            throw StoreError(
                .damaged,
                "the first page of the database '\(files.database)' is damaged; restore the store from a backup",
                cause: failure
            )
        }
        guard version == SchemaMigrator.layoutVersion else {
            throw StoreError(
                .unsupportedFormat,
                "the tables of '\(files.database)' have layout \(version), which this version does not know; use a newer"
                    + " version"
            )
        }
    }

    /// A file that is longer or shorter than its first page says has lost or gained pages from outside.
    private func checkSize(_ database: Database) throws {
        let pages = try database.int64("PRAGMA page_count") ?? 0
        guard FileSystem.size(of: files.database) == Int(pages) * FormatMark.pageSize else {
            throw FormatMark.wrongLength(of: files.database)
        }
    }

    private func configure(_ database: Database) throws {
        guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw StoreError(.internal, "the file system does not support the store's log; use a local disk")
        }
        try database.configureSession(options)
    }

    private static func immutableURI(_ path: String) -> String {
        var uri = "file:"
        for byte in path.utf8 {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                uri.unicodeScalars.append(Unicode.Scalar(byte))
            default: uri += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        return uri + "?immutable=1"
    }
}

extension Database {
    /// What every connection is set to, whether it reads or writes.
    func configureSession(_ options: EncryptedStoreOptions) throws {
        try configure { (handle) throws(SQLiteFailure) in try SQLFunctions.register(on: handle) }
        // Sorting and temporary tables would otherwise write to files, without the cipher.
        try execute("PRAGMA temp_store = MEMORY")
        try execute("PRAGMA cache_size = -\(max(options.cacheKibibytes, 64))")
        // Damage that the cipher's check cannot see, such as a page from an older state, is noticed when it is read.
        try execute("PRAGMA cell_size_check = ON")
    }

    /// Makes a connection that can write one that reads only.
    func refuseWrites() throws {
        try execute("PRAGMA query_only = ON")
        // Two connections that write the log back at one instant can corrupt it in every SQLite before 3.51.3.
        configure { handle in handle.disableCheckpoints() }
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
        try database.refuseWrites()
        return database
    }

    /// Opens the connection for writing, of a store that is open.
    static func openWriter(
        _ files: StoreFiles,
        keying: Keying,
        options: EncryptedStoreOptions
    ) throws -> Database {
        let database = try keying.open(path: files.database, flags: SQLITE_OPEN_READWRITE)
        try database.configureSession(options)
        try database.execute("PRAGMA synchronous = \(options.durability == .full ? "FULL" : "NORMAL")")
        try database.execute("PRAGMA journal_size_limit = \(LogLimits.softLimit)")
        database.watchLog()
        return database
    }
}
