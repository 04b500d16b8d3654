import CSQLCipher
import SecretMemory
import SyncContract

/// Creates the database of a store: built completely under another name, then renamed, so that a database that exists
/// is complete.
struct StoreCreator {
    let files: StoreFiles
    let engine: EngineVersion
    let format: FormatMark.Format

    func create(_ key: SecretBytes, _ schema: StoreSchema) throws {
        try files.refuseOrphanedLog()
        try files.removeLeftovers()
        let mark = FormatMark(new: format)
        do {
            try build(Keying(key: key, mark: mark, engine: engine), schema)
            guard try FileSystem.prefix(of: files.unfinished, count: FormatMark.count) == mark.bytes else {
                throw StoreError.notEncrypting
            }
            try FileSystem.synchronize(files.unfinished)
            try FileSystem.rename(files.unfinished, to: files.database)
        } catch {
            do {
                try files.removeLeftovers()
            } catch {
                // The next creation removes them; the caller gets the reason for the failure.
            }
            throw error
        }
        try FileSystem.synchronize(files.folder)
    }

    private func build(_ keying: Keying, _ schema: StoreSchema) throws {
        try FileSystem.createPrivateFile(files.unfinished)
        let database = try keying.open(path: files.unfinished, flags: SQLITE_OPEN_READWRITE)
        // Nothing has to be rolled back on disk: an unfinished file is thrown away.
        _ = try database.text("PRAGMA journal_mode = MEMORY")
        _ = try database.text("PRAGMA synchronous = OFF")
        _ = try database.text("PRAGMA user_version = \(SchemaMigrator.layoutVersion)")
        try database.configureSession(EncryptedStoreOptions())
        _ = try SchemaMigrator(database: database, schema: schema).migrate()
    }
}
