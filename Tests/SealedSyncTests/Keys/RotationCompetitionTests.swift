import CSQLCipher
import DurableFiles
import Foundation
import SealedSync
import Synchronization
import Testing

@testable import SQLCipherStore

/// Another program that has the database open and knows nothing of the store's lock file: what SQLCipher's own `rekey`
/// answers with success and a file that no key opens.
@Suite("Rotating a data key while another program uses the database")
struct RotationCompetitionTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    /// What the other program does meanwhile.
    enum Other: CaseIterable {
        case isIdle
        case reads
        case writes
    }

    /// The journal that the database is in. Closed stores are in the WAL's; a rewrite that was killed leaves the other.
    enum Journal: String, CaseIterable {
        case wal
        case delete
    }

    @Test(
        "either refuses, or takes a database of which the other can write nothing any more; no confirmed write is lost",
        arguments: Journal.allCases,
        Other.allCases
    )
    func rotation(journal: Journal, other: Other) async throws {
        try await folder.create(notes: 300)
        let isRefused = journal == .wal || other == .writes
        let keyring = try await folder.store.unlock(folder.unlocker)
        let left = try await rotate(keyring, besideProgramThat: other, journal, isRefused: isRefused)
        #expect((left == 299) == isRefused)
        let file = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        #expect(!file.isRotationPending)
        #expect((file.dataKeyID == keyring.dataKeyID) == isRefused)

        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        #expect(try await store.read(Query("notes")).records.count == left)
        await store.close()
        let now = try await folder.store.unlock(folder.unlocker)
        #expect(try await folder.store.verify(now).findings.isEmpty)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    /// Rotates beside the other program, which then tries to write, and returns how many notes it must have left.
    private func rotate(
        _ keyring: StoreKeyring,
        besideProgramThat other: Other,
        _ journal: Journal,
        isRefused: Bool
    ) async throws -> Int {
        let program = try openDatabase(keyring)
        #expect(try program.text("PRAGMA journal_mode = \(journal)") == journal.rawValue)
        switch other {
        case .isIdle: break
        case .reads:
            try program.run("BEGIN")
            _ = try program.int64("SELECT COUNT(*) FROM notes")
        case .writes:
            try program.run("BEGIN IMMEDIATE")
            try deleteNote(in: program)
        }

        // In a process of its own: the system's locks of one process do not hold it up itself.
        let path = folder.parent.path
        await #expect(processExitsWith: .success) { [path = path as String, isRefused = isRefused as Bool] in
            let code = try await storeErrorCode {
                _ = try await UserFolder.store(in: path).rotateDataKey(UserFolder.unlocker(in: path))
            }
            try #require(code == (isRefused ? .inUse : nil))
        }

        // The other program goes on, and is told the truth.
        do {
            switch other {
            case .isIdle: try deleteNote(in: program)
            case .reads:
                #expect(try program.int64("SELECT COUNT(*) FROM notes") == 300)
                try program.run("COMMIT")
                try deleteNote(in: program)
            case .writes: try program.run("COMMIT")
            }
            return 299
        } catch let failure as SQLiteFailure {
            #expect(failure.primaryCode == SQLITE_READONLY, "\(failure)")
            return 300
        }
    }

    @Test("whatever another program confirms at any step of a rotation is in the store afterwards")
    func writesDuringRotation() async throws {
        try await folder.create(notes: 100)
        let keyring = try await folder.store.unlock(folder.unlocker)
        let confirmed = Mutex(0)
        var file = StoreFile(folder.store.databaseURL, keyIsVerified: true)
        file.fileSystem = FileSystem { [self] step in
            do {
                let program = try openDatabase(keyring)
                try program.execute("PRAGMA busy_timeout = 0")
                try deleteNote(in: program)
                confirmed.withLock { $0 += 1 }
            } catch let failure as SQLiteFailure {
                #expect(failure.primaryCode == SQLITE_BUSY, "held off at \(step): \(failure)")
            } catch let error as StoreError {
                #expect(error.code == .wrongKey, "the key is no longer that of the database at \(step): \(error)")
            } catch {
                Issue.record("\(step): \(error)")
            }
        }
        let steps = Keyslots(folder.store.keyslotsURL)
        _ = try await folder.store.rotateDataKey(folder.unlocker, steps, file, nil)
        let left = 100 - confirmed.withLock { $0 }
        #expect(left == 98, "the two steps before the other programs are held off were some to write in, and no others")
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        #expect(try await store.read(Query("notes")).records.count == left)
        await store.close()
    }

    @Test("while another process has the store open: inUse, and that process loses nothing")
    func storeOpenElsewhere() async throws {
        try await folder.create(notes: 20)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        let path = folder.parent.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let code = try await storeErrorCode {
                _ = try await UserFolder.store(in: path).rotateDataKey(UserFolder.unlocker(in: path))
            }
            try #require(code == .inUse)
        }
        try await store.upsert([UserFolder.note(20)], table: "notes")
        await store.close()
        try await folder.expectNotes(21)
        #expect(try await KeyslotFile.read(at: folder.store.keyslotsURL).isRotationPending == false)
    }

    private func openDatabase(_ keyring: StoreKeyring) throws -> Database {
        let files = try StoreFiles(folder.store.databaseURL)
        let opener = DatabaseOpener(files: files, key: try keyring.dataKey, keyIsVerified: true)
        return try opener.cipherConfiguration(CipherConfiguration.engineVersion())
            .open(path: files.database, flags: SQLITE_OPEN_READWRITE)
    }

    private func deleteNote(in database: Database) throws {
        try database.run("DELETE FROM notes WHERE rowid = (SELECT MIN(rowid) FROM notes)")
    }
}
