import CSQLCipher
import SecretMemory
import SyncContract

/// Opens the database of a store that exists. The caller holds the store's lock.
struct DatabaseOpener: Sendable {
    let files: StoreFiles
    let key: SecretBytes
    let keyIsVerified: Bool

    /// Reads the format mark, and tries the key on a connection that touches no file, unless it is vouched for.
    func keying(_ engine: EngineVersion) throws -> Keying {
        guard let newest = engine.newestFormat else { throw StoreError.notEncrypting }
        let start = try FileSystem.prefix(of: files.database, count: FormatMark.count)
        let mark = try FormatMark(reading: start, of: files.database)
        guard mark.format.rawValue <= newest.rawValue else {
            throw StoreError.needsNewerLibrary(files.database, engine)
        }
        guard FileSystem.size(of: files.database) ?? 0 >= FormatMark.pageSize else {
            throw FormatMark.wrongLength(of: files.database)
        }
        let keying = try Keying(key: key, mark: mark, engine: engine)
        if !keyIsVerified { try tryKey(keying) }
        return keying
    }

    /// Opens a connection that writes, which plays back a log that was left behind.
    func open(_ keying: Keying) throws -> Database {
        let hasLog = FileSystem.size(of: files.log) ?? 0 > 0
        let database = try keying.open(path: files.database, flags: SQLITE_OPEN_READWRITE)
        try readFirstPage(of: database)
        if !hasLog { try checkSize(database) }
        return database
    }

    /// An ordinary connection would first recover a log that was left behind, and write to the files, before it finds
    /// out that the key is wrong. An immutable one reads the database file and nothing else.
    private func tryKey(_ keying: Keying) throws {
        let database = try keying.open(
            path: files.immutableURI,
            flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
        )
        do {
            _ = try database.int64("SELECT COUNT(*) FROM sqlite_master")
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_NOTADB {
            throw StoreError(
                .wrongKey,
                "the key does not open the store at '\(files.database)'; use the key it was created with. If the key is"
                    + " certainly right, the first page is damaged: open with 'keyIsVerified' to let the log repair it"
            )
        } catch is SQLiteFailure {
            // The first page could be decrypted, or the code would be another; what is wrong with the others, or with
            // opening a database that has a log in this way, is for the real connection to say.
        }
    }

    private func readFirstPage(of database: Database) throws {
        do {
            _ = try database.int64("SELECT COUNT(*) FROM sqlite_master")
        } catch let failure as SQLiteFailure where failure.primaryCode == SQLITE_NOTADB {
            throw StoreError(
                .damaged,
                "the first page of the database '\(files.database)' is damaged; restore the store from a backup",
                cause: failure
            )
        }
        let version = try database.int64("PRAGMA user_version") ?? 0
        guard version == SchemaMigrator.layoutVersion else {
            throw StoreError.unknownLayout(version, files.database)
        }
    }

    /// A file that is longer or shorter than its first page says has lost or gained pages from outside.
    private func checkSize(_ database: Database) throws {
        let pages = try database.int64("PRAGMA page_count") ?? 0
        guard FileSystem.size(of: files.database) == Int(pages) * FormatMark.pageSize else {
            throw FormatMark.wrongLength(of: files.database)
        }
    }
}
