import CSQLCipher
import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Failures of SQLite and of the system as errors of the contract")
struct ErrorTests {
    @Test(
        "each result code has its row",
        arguments: [
            (SQLITE_FULL, StoreError.Code.full), (SQLITE_READONLY, .readOnly), (SQLITE_READONLY | 4 << 8, .readOnly),
            (SQLITE_PERM, .readOnly), (SQLITE_AUTH, .readOnly), (SQLITE_CANTOPEN, .inputOutput),
            (SQLITE_IOERR, .inputOutput), (SQLITE_IOERR | 1 << 8, .inputOutput), (SQLITE_IOERR | 3 << 8, .inputOutput),
            (SQLITE_IOERR | 4 << 8, .inputOutput), (SQLITE_IOERR | 2 << 8, .damaged),
            (SQLITE_IOERR | 19 << 8, .inputOutput),
            (SQLITE_CORRUPT, .damaged), (SQLITE_CORRUPT | 1 << 8, .damaged), (SQLITE_NOTADB, .damaged),
            (SQLITE_BUSY, .inUse), (SQLITE_BUSY | 2 << 8, .inUse), (SQLITE_LOCKED, .inUse), (SQLITE_PROTOCOL, .inUse),
            (SQLITE_CONSTRAINT, .constraint), (SQLITE_CONSTRAINT | 8 << 8, .constraint), (SQLITE_NOMEM, .internal),
            (SQLITE_TOOBIG, .invalidRecord), (SQLITE_INTERRUPT, .internal), (SQLITE_ERROR, .internal),
            (SQLITE_MISUSE, .internal),
        ]
    )
    func codes(code: Int32, expected: StoreError.Code) {
        let error = StoreError(SQLiteFailure(code: code), at: "/folder/store.db")
        #expect(error.code == expected)
        #expect((error.cause as? SQLiteFailure)?.code == code)
        // The message names a remedy behind the semicolon.
        #expect(error.message.contains("; "))
    }

    @Test(
        "what the system said counts where the result code says less, and the remedy follows it",
        arguments: [
            // The log, a commit, the index that connections share, a file that is made.
            (SQLITE_IOERR | 3 << 8, ENOSPC, StoreError.Code.full, "free some space"),
            (SQLITE_IOERR | 4 << 8, ENOSPC, .full, "free some space"),
            (SQLITE_IOERR | 19 << 8, ENOSPC, .full, "free some space"),
            (SQLITE_IOERR | 19 << 8, EIO, .inputOutput, "check the disk"),
            (SQLITE_IOERR | 10 << 8, EACCES, .readOnly, "check the permissions"),
            (SQLITE_CANTOPEN, ENOSPC, .full, "free some space"), (SQLITE_CANTOPEN, EDQUOT, .full, "free some space"),
            (SQLITE_CANTOPEN, EACCES, .readOnly, "check the permissions"),
            (SQLITE_CANTOPEN, EMFILE, .inputOutput, "too many files"),
            (SQLITE_CANTOPEN, ENFILE, .inputOutput, "too many files"),
            (SQLITE_CANTOPEN, EIO, .inputOutput, "has space"),
            // The file ended: an older number is no news.
            (SQLITE_IOERR | 2 << 8, ENOSPC, .damaged, "empty folder"),
        ]
    )
    func systemNumbers(code: Int32, number: Int32, expected: StoreError.Code, remedy: String) {
        let error = StoreError(SQLiteFailure(code: code, systemNumber: number), at: "/folder/store.db")
        #expect(error.code == expected)
        #expect(error.message.contains(remedy), "\(error)")
    }

    @Test("what a setting writes is committed before it is answered, and a commit that fails is an error")
    func setting() throws {
        let folder = try TestFolder()
        let database = try Database(path: folder.database.path, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
        _ = unsafe sqlite3_commit_hook(database.pointer, { _ in 1 }, nil)
        #expect(throws: SQLiteFailure.self) { try database.setting("PRAGMA journal_mode = WAL") }
        _ = unsafe sqlite3_commit_hook(database.pointer, nil, nil)
        #expect(try database.setting("PRAGMA journal_mode = WAL") == "wal")
        #expect(try database.setting("PRAGMA journal_mode = DELETE") == "delete")
    }

    #if os(Linux) || os(macOS)
    @Test(
        "a folder that cannot be written is said to be that, whether or not the lock is there, and the files can",
        arguments: [false, true]
    )
    func unwritableFolder(hasLock: Bool) async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            let file = folder.url.appending(path: name)
            if !hasLock, name.hasSuffix(".lock") {
                try FileManager.default.removeItem(at: file)
            } else {
                try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file.path)
            }
        }
        let path = folder.url.path
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: path)
        defer { _ = unsafe chmod(path, 0o755) }
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String, hasLock = hasLock as Bool] in
            // As the superuser, who may write anywhere, the process first becomes somebody else.
            if geteuid() == 0, setuid(65_534) != 0 { exit(2) }
            do {
                _ = try await EncryptedStore.open(
                    at: URL(filePath: path).appending(path: "store.db"),
                    key: .testKey(),
                    schema: StoreSchema([.items])
                )
            } catch let error as StoreError where error.code == .readOnly {
                exit(!hasLock || error.message.contains("make it writable") ? 42 : 3)
            }
            exit(1)
        }
    }
    #endif

    @Test("each system failure has its row")
    func systemCodes() {
        let rows: [(Int32, StoreError.Code)] = [
            (ENOSPC, .full), (EDQUOT, .full), (EFBIG, .full), (EROFS, .readOnly), (EACCES, .readOnly),
            (EPERM, .readOnly), (ENOENT, .notFound), (ENOTDIR, .notFound), (EIO, .inputOutput), (EMFILE, .inputOutput),
        ]
        for (number, expected) in rows {
            #expect(
                StoreError(SystemCallFailure(call: "open", number: number), at: "/folder/store.db").code == expected
            )
        }
    }

    @Test("no message about a record or a query holds a value, an id, a name of the file or SQL")
    func discretion() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let secret = "Secret-Value"
        var messages: [String] = []
        let attempts: [@Sendable () async throws -> Void] = [
            { try await store.upsert([Record(id: .string(secret), ["int": .string(secret)])], table: "items") },
            { _ = try await store.read(table: "MS_TableOperations", itemID: .string(secret)) },
            {
                try await store.upsert(
                    [Record(id: "1", ["x": .double(.nan), "text": .string(secret)])],
                    table: "items"
                )
            },
            {
                var predicate = Column("text") == .string(secret)
                for _ in 0..<200 { predicate = !predicate }
                _ = try await store.read(Query("items").filtered(by: predicate))
            },
        ]
        for attempt in attempts {
            do {
                try await attempt()
                Issue.record("an attempt succeeded")
            } catch {
                messages.append("\(error)")
            }
        }
        for message in messages {
            #expect(!message.contains(secret))
            #expect(!message.contains("SELECT") && !message.contains(folder.url.path))
        }
        await store.close()
    }

    @Test("messages about a file name it, so that a person with several stores knows which")
    func namesOfFiles() async throws {
        let folder = try TestFolder()
        // The folder for temporary files may be reached through a symbolic link, which the messages follow.
        let path = StoreFiles(folder.database.path).database
        func expectName(_ expected: StoreError.Code, _ body: () async throws -> Void) async throws {
            do {
                try await body()
                Issue.record("nothing was thrown instead of \(expected)")
            } catch let error as StoreError {
                #expect(error.code == expected)
                #expect(error.message.contains("'\(path)'"), "\(error)")
            }
        }
        try await expectName(.notFound) { _ = try await EncryptedStore.open(in: folder, mode: .openExisting) }
        let store = try await EncryptedStore.open(in: folder)
        try await expectName(.inUse) { _ = try await EncryptedStore.open(in: folder) }
        try await expectName(.alreadyExists) { _ = try await EncryptedStore.open(in: folder, mode: .createNew) }
        let large = Record(id: "1", ["bytes": .bytes(Array(repeating: 1, count: 50_000))])
        try await store.upsert([large], table: "items")
        await store.close()
        try await expectName(.wrongKey) { _ = try await EncryptedStore.open(in: folder, keyByte: 8) }
        let intact = try #require(folder.contents()["store.db"])

        try folder.write(intact.dropLast(4_096))
        try await expectName(.damaged) { _ = try await EncryptedStore.open(in: folder) }
        try folder.write(Array("%PDF-1.4 and more".utf8))
        try await expectName(.damaged) { _ = try await EncryptedStore.open(in: folder) }
        try folder.write(Array("SQLite format 3\0".utf8))
        try await expectName(.unsupportedFormat) { _ = try await EncryptedStore.open(in: folder) }

        // The last page belongs to the large value: opening does not read it, a transaction does.
        var damaged = intact
        damaged[damaged.count - 3_000] ^= 1
        try folder.write(damaged)
        let opened = try await EncryptedStore.open(in: folder)
        try await expectName(.damaged) { _ = try await opened.read(table: "items", itemID: "1") }
        await opened.close()
    }

    @Test("a file that cannot be written is told from a damaged one")
    func unwritableFolder() async throws {
        guard geteuid() != 0 else {
            // The superuser may write anywhere: a file system mounted read-only is what stops it.
            return try await readOnlyFileSystem()
        }
        let folder = try TestFolder()
        await (try EncryptedStore.open(in: folder)).close()
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: folder.database.path)
        #expect(try await code { _ = try await EncryptedStore.open(in: folder) } == .readOnly)
    }

    private func readOnlyFileSystem() async throws {
        guard let disk = try SmallDisk(megabytes: 4) else { return }
        defer { disk.unmount() }
        try await disk.open().close()
        let view = try disk.readOnlyView()
        defer { view.unmount() }
        #expect(try await code { try await view.open().close() } == .readOnly)
    }
}

@Suite("A full disk")
struct FullDiskTests {
    @Test("refuses the write, keeps nothing of it, and leaves the store usable once there is space again")
    func fullDisk() async throws {
        guard let disk = try SmallDisk(megabytes: 6) else { return }
        defer { disk.unmount() }
        let store = try await disk.open()
        try await store.upsert([Record(id: "first", ["text": "kept"])], table: "items")
        let filler = disk.folder.appending(path: "filler")
        try Data(count: 3 << 20).write(to: filler)

        let large = FieldValue.bytes(Array(repeating: 3, count: 100_000))
        let found = try await code {
            try await store.upsert((0..<100).map { Record(id: .string("\($0)"), ["bytes": large]) }, table: "items")
        }
        #expect(found == .full)
        #expect(try await store.read(Query("items")).records.map(\.id) == ["first"])
        // A closure that goes on after the failure commits nothing either.
        let goesOn = try await code {
            try await store.write { transaction in
                do {
                    let records = (0..<100).map { Record(id: .string("\($0)"), ["bytes": large]) }
                    try transaction.upsert(records, into: "items")
                } catch is StoreError {
                    // What the test is about.
                }
                try transaction.upsert([Record(id: "after")], into: "items")
            }
        }
        #expect(goesOn == .full)
        #expect(try await store.read(Query("items")).records.map(\.id) == ["first"])

        try await disk.remove(filler)
        try await store.upsert([Record(id: "second")], table: "items")
        await store.close()
        let again = try await disk.open()
        #expect(try await again.read(Query("items")).records.map(\.id) == ["first", "second"])
        await again.close()
    }

    @Test("stops a creation, which leaves nothing behind")
    func creation() async throws {
        // Larger than what the system counts in one go: of a smaller one what was freed may not be there at once.
        guard let disk = try SmallDisk(megabytes: 8) else { return }
        defer { disk.unmount() }
        let filler = disk.folder.appending(path: "filler")
        try Data(count: (8 << 20) - 8_192).write(to: filler)
        #expect(try await code { try await disk.open().close() } == .full)
        let names = try FileManager.default.contentsOfDirectory(atPath: disk.folder.path)
        #expect(Set(names) == ["filler", "store.db.lock"])
        try await disk.remove(filler)
        try await disk.open().close()
    }
}
