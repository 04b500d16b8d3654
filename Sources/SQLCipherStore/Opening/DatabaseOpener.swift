import CSQLCipher
import DurableFiles
package import SecretMemory
import SyncContract

/// Opens the database of a store that exists. The caller holds the store's lock.
package struct DatabaseOpener: Sendable {
    let files: StoreFiles
    let key: SecretBytes
    let keyIsVerified: Bool

    package init(files: StoreFiles, key: SecretBytes, keyIsVerified: Bool) {
        self.files = files
        self.key = key
        self.keyIsVerified = keyIsVerified
    }

    /// Reads the file header, and tries the key on a connection that touches no file, unless the header names it, or it is
    /// vouched for or not to be tried here.
    package func cipherConfiguration(_ engine: EngineVersion, tryingKey: Bool = true) throws -> CipherConfiguration {
        guard let newest = engine.newestFormat else { throw StoreError.notEncrypting }
        try files.refuseLinks()
        let start = try FileSystem.prefix(of: files.database, count: FileHeader.count)
        let header = try FileHeader(reading: start, of: files.database)
        guard header.format.rawValue <= newest.rawValue else {
            throw StoreError.needsNewerLibrary(files.database, engine)
        }
        guard FileSystem.size(of: files.database) ?? 0 >= FileHeader.pageSize else {
            throw FileHeader.wrongLength(of: files.database)
        }
        switch try judgeKey(header, engine) {
        case .right, .unknown: break
        case .wrong: throw StoreError.wrongKey(at: files.database)
        case .damagedHeader: throw FileHeader.damaged(of: files.database)
        }
        let cipherConfiguration = try CipherConfiguration(key: key, header: header, engine: engine)
        if tryingKey, !keyIsVerified, !header.namesKey { try tryKey(cipherConfiguration) }
        return cipherConfiguration
    }

    /// What a header says of a key.
    package enum KeyJudgement {
        case right, wrong
        /// The key opens the store with the header that it should have.
        case damagedHeader
        /// A header that names no key.
        case unknown
    }

    /// Tells another key from damage, where the header names the key.
    package func judgeKey(_ header: FileHeader, _ engine: EngineVersion) throws -> KeyJudgement {
        guard let isRight = try header.isMade(with: key) else {
            // What says that a key is named may have got lost, and not the name.
            return try header.endsAsMade(with: key) ? .damagedHeader : .unknown
        }
        if isRight { return .right }
        do {
            try tryKey(CipherConfiguration(key: key, header: header.naming(key), engine: engine))
            return .damagedHeader
        } catch let error as StoreError where error.code == .wrongKey {
            return .wrong
        }
    }

    /// Throws when a log lies beside the database that is not its own. Nothing is changed.
    package func refuseForeignLogs(_ header: FileHeader) throws {
        let logs = LeftoverLogs(files)
        guard let log = try logs.foreign(key: key, header, WALScan(files.wal)).first else { return }
        // Under another key no page of the store's own is what was written.
        if !header.namesKey {
            let pages = try StoredPages(files, cipher: PageCipher(key: key, header: header), wal: WALScan())
            guard try pages.haveAuthenticOne() else { throw StoreError.wrongKey(at: files.database) }
        }
        throw log.error
    }

    /// Opens a connection that writes, which plays back a WAL or a journal that was left behind, unless it is another
    /// database's.
    ///
    /// `keyIsTried` tells whether ``cipherConfiguration(_:tryingKey:)`` has tried the key. Without a WAL and a journal
    /// there is no need to: with a wrong key the connection reads the first page and writes nothing.
    package func open(_ cipherConfiguration: CipherConfiguration, keyIsTried: Bool = true) throws -> Database {
        try refuseForeignLogs(cipherConfiguration.header)
        let hasWAL = FileSystem.size(of: files.wal) ?? 0 > 0
        let database = try cipherConfiguration.open(path: files.database, flags: SQLITE_OPEN_READWRITE)
        try readFirstPage(
            of: database,
            keyIsRight: keyIsTried || keyIsVerified || cipherConfiguration.header.namesKey
        )
        if !hasWAL { try checkSize(database) }
        return database
    }

    /// An ordinary connection would first recover a WAL that was left behind, and write to the files, before it finds
    /// out that the key is wrong. An immutable one reads the database file and nothing else.
    private func tryKey(_ cipherConfiguration: CipherConfiguration) throws {
        let database = try cipherConfiguration.open(
            path: files.immutableURI,
            flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        )
        do {
            _ = try database.int64("SELECT COUNT(*) FROM sqlite_master")
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_NOTADB {
            throw wrongKey
        } catch is SQLiteFailure {
            // The first page could be decrypted, or the code would be another; what is wrong with the others, or with
            // opening a database that has a WAL in this way, is for the real connection to say.
        }
    }

    private var wrongKey: StoreError {
        StoreError(
            .wrongKey,
            "The key does not open the store at '\(files.database)'; use the key it was created with. If the key is"
                + " certainly right, the first page is damaged: open with 'keyIsVerified' to let the WAL repair it."
        )
    }

    private func readFirstPage(of database: Database, keyIsRight: Bool) throws {
        let version: Int64
        do {
            version = try database.int64("PRAGMA user_version") ?? 0
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_NOTADB {
            guard keyIsRight else { throw wrongKey }
            throw StoreError(
                .damaged,
                "The first page of the database '\(files.database)' is damaged; restore the store from a backup.",
                cause: failure
            )
        }
        guard version == SchemaMigrator.layoutVersion else {
            throw StoreError.unknownLayout(version, files.database)
        }
    }

    /// A file that is longer or shorter than its first page says has lost or gained pages from outside.
    private func checkSize(_ database: Database) throws {
        let pages = try database.int64("PRAGMA page_count") ?? 0
        guard FileSystem.size(of: files.database) == Int(pages) * FileHeader.pageSize else {
            throw FileHeader.wrongLength(of: files.database)
        }
    }
}
