import CSQLCipher
import DurableFiles
import SQLCipherStore
import SecretMemory
import SyncContract

/// A store that nobody has open, locked and read without changing database or WAL.
///
/// A WAL that was left behind is read as it lies: the index that SQLite needs for that goes with this object, and a
/// connection that cannot write does not move the WAL into the database.
final class ClosedStore {
    let files: StoreFiles
    let header: FileHeader
    let engine: EngineVersion
    /// Whether the header names the key: what cannot be decrypted with it is then damaged.
    let keyIsNamed: Bool
    /// What lies beside the database and is not its own, among it the store's own WAL when the key is another one. It is not
    /// read.
    let foreignLogs: [ForeignLog]
    /// The WAL that was left behind, if it is the database's own.
    let wal: WALScan
    private let key: SecretBytes
    private let cipherConfiguration: CipherConfiguration
    private let lock: LockFile
    private let hadIndex: Bool

    /// Locks the store and reads what is in clear.
    ///
    /// - Throws: As ``StoreFile/inspect(key:)``. Where the header names no key, it is not known then whether this one is right.
    init(_ files: StoreFiles, key: SecretBytes) throws {
        (self.files, self.key) = (files, key)
        guard key.count == KeyText.keyCount else { throw StoreError.wrongKeyLength(key.count) }
        guard FileSystem.exists(files.database) else { throw StoreError.noStore(at: files.database) }
        engine = try CipherConfiguration.engineVersion()
        lock = try LockFile(files)
        header = try FileHeader(
            reading: FileSystem.prefix(of: files.database, count: FileHeader.count),
            of: files.database
        )
        guard let newest = engine.newestFormat, header.format.rawValue <= newest.rawValue else {
            throw StoreError.needsNewerLibrary(files.database, engine)
        }
        let opener = DatabaseOpener(files: files, key: key, keyIsVerified: true)
        switch try opener.judgeKey(header, engine) {
        case .right: keyIsNamed = true
        case .unknown: keyIsNamed = false
        case .wrong: throw StoreError.wrongKey(at: files.database)
        case .damagedHeader: throw FileHeader.damaged(of: files.database)
        }
        cipherConfiguration = try CipherConfiguration(key: key, header: header, engine: engine)
        let wal = try WALScan(files.wal)
        foreignLogs = try LeftoverLogs(files).foreign(key: key, header, wal)
        self.wal = foreignLogs.contains(where: \.isWAL) ? WALScan() : wal
        hadIndex = FileSystem.exists(files.index)
    }

    deinit {
        guard !hadIndex else { return }
        do {
            try files.fileSystem.remove(files.index)
        } catch {
            // The next opening makes it anew.
        }
    }

    /// Whether a WAL of the database's own was left behind.
    private var hasWAL: Bool {
        !foreignLogs.contains(where: \.isWAL) && FileSystem.size(of: files.wal) ?? 0 > 0
    }

    /// The pages, as they lie in the database and its own WAL.
    func pages() throws -> StoredPages {
        try StoredPages(files, cipher: PageCipher(key: key, header: header), wal: wal)
    }

    /// Opens a connection that reads. After a damaged page it gives nothing more: then another one is needed.
    func openDatabase() throws -> Database {
        let database =
            if hasWAL {
                try cipherConfiguration.open(path: files.database, flags: SQLITE_OPEN_READONLY)
            } else {
                // Without a WAL there is nothing to be kept apart from others, and no file has to be made.
                try cipherConfiguration.open(path: files.immutableURI, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
            }
        try database.configureSession(EncryptedStoreOptions())
        return database
    }
}
