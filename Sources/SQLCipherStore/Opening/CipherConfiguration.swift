import CSQLCipher
package import SecretMemory
import SyncContract
import Synchronization

/// What turns a plain connection into one that decrypts: the key with the salt, and the settings of the format.
package struct CipherConfiguration: Sendable {
    /// `SQLITE_OPEN_NOFOLLOW`, which the header of an older library does not have.
    private static let refusingLinks: Int32 = 0x0100_0000

    private let text: SecretBytes
    /// The file header of the file.
    package let header: FileHeader
    /// The linked library.
    package let engine: EngineVersion

    /// Makes a copy of a lent key, in memory that is wiped with the last use.
    package init(key: SecretBytes, header: FileHeader, engine: EngineVersion) throws {
        text = try KeyText.make(key: key, salt: header.bytes)
        self.header = header
        self.engine = engine
    }

    private init(text: SecretBytes, header: FileHeader, engine: EngineVersion) {
        (self.text, self.header, self.engine) = (text, header, engine)
    }

    /// The same key and format with a header of their own, for another file: no log of this one fits it.
    package func withNewHeader() throws -> CipherConfiguration {
        let header = header.renewed
        return CipherConfiguration(
            text: try KeyText.make(keyOf: text, salt: header.bytes),
            header: header,
            engine: engine
        )
    }

    /// Opens a connection with the key. Nothing is read yet, so a wrong key is not noticed here.
    package func open(path: String, flags: Int32) throws -> Database {
        // That the library is SQLCipher is certain by now: its version is known.
        // Links were looked for before; from SQLite 3.31 on, this closes the moment in between. Older ones do not know it.
        let database = try Database(path: path, flags: flags | Self.refusingLinks)
        if engine.majorCipherVersion >= 4 { try Self.silence(database) }
        try unsafe text.withUnsafeBytes { (bytes) throws(SQLiteFailure) in try unsafe database.setKey(bytes) }
        try applySettings(to: database, "main")
        return database
    }

    /// Attaches an empty file to a connection, to be written with the key.
    package func attach(_ path: String, as name: String, to database: Database) throws {
        try database.attach(path, as: name)
        try unsafe text.withUnsafeBytes { (bytes) throws(SQLiteFailure) in try unsafe database.setKey(bytes, of: name) }
        try applySettings(to: database, name)
    }

    private func applySettings(to database: Database, _ name: String) throws {
        if engine.majorCipherVersion >= 4 {
            let compatibility = header.format == .sqlcipher3 ? 3 : 4
            try database.execute("PRAGMA \(name).cipher_compatibility = \(compatibility)")
        }
        try database.execute("PRAGMA \(name).cipher_page_size = \(FileHeader.pageSize)")
    }

    /// The versions of the linked library.
    ///
    /// - Throws: ``StoreError/Code/notEncrypting`` when it is not SQLCipher.
    package static func engineVersion() throws -> EngineVersion {
        try knownVersion.withLock { known in
            // The library does not change while the process runs.
            if let known { return known }
            let version = try readEngineVersion()
            known = version
            return version
        }
    }

    private static let knownVersion = Mutex<EngineVersion?>(nil)

    private static func readEngineVersion() throws -> EngineVersion {
        let database = try Database(path: ":memory:", flags: SQLITE_OPEN_READWRITE)
        try silence(database)
        // Asked before any key is given: with SQLite in place of SQLCipher the call for the key does not even exist, or
        // crashes.
        guard let cipher = try database.text("PRAGMA cipher_version"), !cipher.isEmpty else {
            throw StoreError.notEncrypting
        }
        return EngineVersion(cipher: cipher, sqlite: unsafe String(cString: sqlite3_libversion()))
    }

    /// SQLCipher 4 writes about wrong keys to standard error unless told not to; SQLCipher 3 ignores the word.
    private static func silence(_ database: Database) throws {
        try database.execute("PRAGMA cipher_log_level = NONE")
    }
}
