import Foundation
import SecretMemory
package import SyncContract

package import SQLCipherStore

/// What a program that is killed leaves beside the database of a store that is closed: written by a connection without the
/// store, and copied while that is open.
extension TestFolder {
    /// Creates a store whose header names no key, as older versions did.
    package func createStoreThatNamesNoKey(_ tables: [TableDefinition] = [.items]) throws {
        let engine = try CipherConfiguration.engineVersion()
        guard let format = engine.newestFormat else { throw StoreError.notEncrypting }
        let header = try FileHeader(
            reading: FileHeader.magic + [format.rawValue] + (1...8).map { _ in UInt8.random(in: 0...255) },
            of: database.path
        )
        try write([])
        let configuration = try CipherConfiguration(key: .testKey(), header: header, engine: engine)
        _ = try StoreCreator.build(database.path, configuration, StoreSchema(tables))
    }

    /// Lets a connection work on the closed store of another folder, and takes over the files that lie there before it is
    /// closed.
    package func takeFiles(of original: TestFolder, after work: (Database) throws -> Void) throws {
        let program = try original.openDatabaseForWriting()
        try withExtendedLifetime(program) {
            try work(program)
            for (name, bytes) in try original.contentsWithoutLock() where !name.hasSuffix("-shm") {
                try Data(bytes).write(to: url.appending(path: name))
            }
        }
    }

    /// The rollback journal of a transaction that has begun to write the first page, as that of a store is when it
    /// enters or leaves the WAL's mode. Synchronized, it says that its page is on the medium, as before the database is
    /// written.
    package func takeJournal(of original: TestFolder, isSynchronized: Bool = true) throws {
        try takeFiles(of: original) { program in
            _ = try program.setting("PRAGMA journal_mode = DELETE")
            try program.run("BEGIN IMMEDIATE")
            let version = try program.int64("PRAGMA user_version") ?? 0
            _ = try program.setting("PRAGMA user_version = \(version)")
        }
        if isSynchronized { try synchronizeJournal() }
    }

    /// Does what SQLite does when the first record of the journal is on the medium.
    private func synchronizeJournal() throws {
        try edit("store.db-journal") {
            $0.replaceSubrange(0..<12, with: [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7, 0, 0, 0, 1])
        }
    }

    /// Writes a log of a plain database with small pages, `-wal` or `-journal`, beside this one.
    package func writeLogWithSmallPages(_ suffix: String) throws {
        let other = try TestFolder()
        let program = try Database(path: other.database.path, flags: 6)
        _ = try program.setting("PRAGMA page_size = 1024")
        try program.run("CREATE TABLE small (text)")
        if suffix == "-wal" { _ = try program.setting("PRAGMA journal_mode = WAL") }
        try program.run("BEGIN IMMEDIATE")
        try program.run("INSERT INTO small VALUES ('\(String(repeating: "x", count: 5_000))')")
        if suffix == "-wal" { try program.run("COMMIT") }
        let log = try Data(contentsOf: URL(filePath: other.database.path + suffix))
        try withExtendedLifetime(program) { try log.write(to: URL(filePath: database.path + suffix)) }
        if suffix == "-journal" { try synchronizeJournal() }
    }
}
