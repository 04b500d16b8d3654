import CSQLCipher
import DurableFiles
package import SecretMemory
package import SyncContract

/// Creates the database of a store: built completely under another name, then renamed, so that a database that exists
/// is complete.
package struct StoreCreator {
    let files: StoreFiles
    let engine: EngineVersion
    let format: FileHeader.Format

    package init(files: StoreFiles, engine: EngineVersion, format: FileHeader.Format) {
        self.files = files
        self.engine = engine
        self.format = format
    }

    package func create(_ key: SecretBytes, _ schema: StoreSchema) throws {
        try files.refuseOrphanedWAL()
        try files.removeLeftovers()
        let header = try FileHeader(new: format, key: key)
        let (path, fileSystem) = (files.temporary, files.fileSystem)
        do {
            _ = try fileSystem.create(path)
            _ = try Self.build(path, CipherConfiguration(key: key, header: header, engine: engine), schema)
            fileSystem.report(.wrote(path))
            try fileSystem.synchronize(path)
            guard try FileSystem.prefix(of: path, count: FileHeader.count) == header.bytes else {
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
    package static func build(_ path: String, _ cipherConfiguration: CipherConfiguration, _ schema: StoreSchema) throws
        -> (
            Database, StoreCatalog
        )
    {
        let database = try cipherConfiguration.open(path: path, flags: SQLITE_OPEN_READWRITE)
        try database.configureTemporary()
        _ = try database.text("PRAGMA user_version = \(SchemaMigrator.layoutVersion)")
        return (database, try SchemaMigrator(database: database, schema: schema).migrate())
    }
}

extension Database {
    /// What a connection is set to that writes a file that is not finished.
    package func configureTemporary() throws {
        // Nothing has to be rolled back on disk: an unfinished file is thrown away.
        _ = try text("PRAGMA journal_mode = MEMORY")
        _ = try text("PRAGMA synchronous = OFF")
        try configureSession(EncryptedStoreOptions())
    }
}
