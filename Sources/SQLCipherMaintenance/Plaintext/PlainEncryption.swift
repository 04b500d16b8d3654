import CSQLCipher
import DurableFiles
import SQLCipherStore
import SecretMemory
import SyncContract

/// Makes a store of a plain SQLite file.
struct PlainEncryption {
    let plain: StoreFiles
    let files: StoreFiles
    let key: SecretBytes
    let schema: StoreSchema?
    let work: CancellableWork
    let progress: StoreProgressHandler?
    let beforeCreating: @Sendable () throws -> Void

    func run() throws -> StoreEncryptionResult {
        guard key.count == KeyText.keyCount else { throw StoreError.wrongKeyLength(key.count) }
        // With plain SQLite linked in place of SQLCipher nothing would be encrypted.
        let engine = try CipherConfiguration.engineVersion()
        guard let format = engine.newestFormat else { throw StoreError.notEncrypting }
        let source = try PlainDatabase(plain, work: work)
        guard FileSystem.isFolder(files.folder) else { throw StoreError.noFolder(files.folder) }
        try checkPlace()
        // What cannot be taken over is refused before there is any file.
        let content = try source.reportingDamage { () throws -> any PlainContent in
            if try source.database.text(SchemaSQL.findMemory) != nil {
                return try ExportedStore(source, schema)
            }
            return try PlaintextImportDatabase(source, schema)
        }
        let lock = try LockFile(files)
        return try withExtendedLifetime(lock) {
            try checkPlace()
            try beforeCreating()
            let builder = DatabaseBuilder(
                files: files,
                cipherConfiguration: try CipherConfiguration(
                    key: key,
                    header: FileHeader(new: format, key: key),
                    engine: engine
                ),
                work: work,
                progress: progress
            )
            var result: StoreEncryptionResult?
            try builder.build(.free) { path in
                guard let cipherConfiguration = builder.cipherConfiguration else { throw StoreError.notEncrypting }
                try source.reportingDamage { try content.write(to: path, cipherConfiguration, work, progress) }
                try source.checkUnchanged()
                let database = try cipherConfiguration.open(path: path, flags: SQLITE_OPEN_READONLY)
                try database.configureSession(EncryptedStoreOptions())
                let copied = try DatabaseContent(database)
                result = try StoreEncryptionResult(database, copied, droppedIndexes: content.droppedIndexes)
                return copied
            }
            guard let result else { throw StoreError(.internal, "The new store has no content; please report this.") }
            return result
        }
    }

    private func checkPlace() throws {
        guard !FileSystem.exists(files.database) else { throw StoreError.alreadyExists(at: files.database) }
        try files.refuseOrphanedWAL()
    }
}

/// A plain file whose content has been looked at and can be taken over.
protocol PlainContent {
    /// The indexes that the store will not have.
    var droppedIndexes: [String] { get }

    /// Writes everything to an empty file, and checks that nothing is missing there.
    func write(
        to path: String,
        _ cipherConfiguration: CipherConfiguration,
        _ work: CancellableWork,
        _ progress: StoreProgressHandler?
    ) throws
}

extension StoreEncryptionResult {
    /// Reads what a new store has.
    fileprivate init(_ database: Database, _ content: DatabaseContent, droppedIndexes: [String]) throws {
        tables = try RememberedTables(database).schema().tables.sorted { $0.name < $1.name }
        rowCounts = Dictionary(uniqueKeysWithValues: tables.map { ($0.name, Int(content.rowCounts[$0.name] ?? 0)) })
        self.droppedIndexes = droppedIndexes.sorted()
    }
}

extension StoreError {
    /// The error for a part of a plain file that a store cannot have.
    static func notTakenOver(_ what: String, _ remedy: String) -> StoreError {
        StoreError(.schemaMismatch, "\(what); \(remedy), and repeat.")
    }
}
