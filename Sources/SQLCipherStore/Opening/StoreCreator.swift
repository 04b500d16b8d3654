import CSQLCipher
import DurableFiles
package import SecretMemory
package import SyncContract

/// Creates the database of a store: built completely under another name, then renamed, so that a database that exists
/// is complete.
package struct StoreCreator {
    let files: StoreFiles
    let engine: EngineVersion
    let format: FormatMark.Format

    package init(files: StoreFiles, engine: EngineVersion, format: FormatMark.Format) {
        self.files = files
        self.engine = engine
        self.format = format
    }

    package func create(_ key: SecretBytes, _ schema: StoreSchema) throws {
        try files.refuseOrphanedLog()
        try files.removeLeftovers()
        let mark = FormatMark(new: format)
        let (path, fileSystem) = (files.unfinished, files.fileSystem)
        do {
            _ = try fileSystem.create(path)
            _ = try Self.build(path, Keying(key: key, mark: mark, engine: engine), schema)
            fileSystem.report(.wrote(path))
            try fileSystem.synchronize(path)
            guard try FileSystem.prefix(of: path, count: FormatMark.count) == mark.bytes else {
                throw StoreError.notEncrypting
            }
            fileSystem.report(.verified(path))
            try fileSystem.replace(files.database, with: path)
        } catch {
            do {
                try files.removeLeftovers()
            } catch {
                // The next creation removes them; the caller gets the reason for the failure.
            }
            throw error
        }
    }

    /// Makes an empty file a store with the declared tables.
    package static func build(_ path: String, _ keying: Keying, _ schema: StoreSchema) throws -> (
        Database, StoreCatalog
    ) {
        let database = try keying.open(path: path, flags: SQLITE_OPEN_READWRITE)
        try database.configureUnfinished()
        _ = try database.text("PRAGMA user_version = \(SchemaMigrator.layoutVersion)")
        return (database, try SchemaMigrator(database: database, schema: schema).migrate())
    }
}

extension Database {
    /// What a connection is set to that writes a file that is not finished.
    package func configureUnfinished() throws {
        // Nothing has to be rolled back on disk: an unfinished file is thrown away.
        _ = try text("PRAGMA journal_mode = MEMORY")
        _ = try text("PRAGMA synchronous = OFF")
        try configureSession(EncryptedStoreOptions())
    }
}
