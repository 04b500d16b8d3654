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
        for path in [files.log, files.journal] where FileSystem.size(of: path) ?? 0 > 0 {
            // A log left without its database would be played into the new one.
            throw StoreError(
                .damaged,
                "the database '\(files.database)' is missing but its log is there; put the database back, or delete the"
                    + " files that begin with its name if the data is not wanted"
            )
        }
        try removeLeftovers()
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
                try removeLeftovers()
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

    private func removeLeftovers() throws {
        for path in files.leftovers { try FileSystem.remove(path) }
    }
}
