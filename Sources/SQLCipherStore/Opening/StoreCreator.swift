import CSQLCipher
import SecretMemory
import SyncContract

/// Creates the database of a store: built completely under another name, then renamed, so that a database that exists
/// is complete.
struct StoreCreator {
    let files: StoreFiles
    let engine: EngineVersion
    let format: FormatMark.Format
    var onStep: @Sendable (MaintenanceStep) -> Void = { _ in }

    func create(_ key: SecretBytes, _ schema: StoreSchema) throws {
        try files.refuseOrphanedLog()
        try files.removeLeftovers()
        let mark = FormatMark(new: format)
        do {
            try FileSystem.createPrivateFile(files.unfinished)
            onStep(.created)
            _ = try Self.build(files.unfinished, Keying(key: key, mark: mark, engine: engine), schema)
            onStep(.copied)
            try FileSystem.synchronize(files.unfinished)
            onStep(.synchronized)
            guard try FileSystem.prefix(of: files.unfinished, count: FormatMark.count) == mark.bytes else {
                throw StoreError.notEncrypting
            }
            onStep(.verified)
            try FileSystem.rename(files.unfinished, to: files.database)
        } catch {
            do {
                try files.removeLeftovers()
            } catch {
                // The next creation removes them; the caller gets the reason for the failure.
            }
            throw error
        }
        onStep(.named)
        try FileSystem.synchronize(files.folder)
        onStep(.finished)
    }

    /// Makes an empty file a store with the declared tables.
    static func build(_ path: String, _ keying: Keying, _ schema: StoreSchema) throws -> (Database, StoreCatalog) {
        let database = try keying.open(path: path, flags: SQLITE_OPEN_READWRITE)
        try database.configureUnfinished()
        _ = try database.text("PRAGMA user_version = \(SchemaMigrator.layoutVersion)")
        return (database, try SchemaMigrator(database: database, schema: schema).migrate())
    }
}

extension Database {
    /// What a connection is set to that writes a file that is not finished.
    func configureUnfinished() throws {
        // Nothing has to be rolled back on disk: an unfinished file is thrown away.
        _ = try text("PRAGMA journal_mode = MEMORY")
        _ = try text("PRAGMA synchronous = OFF")
        try configureSession(EncryptedStoreOptions())
    }
}
