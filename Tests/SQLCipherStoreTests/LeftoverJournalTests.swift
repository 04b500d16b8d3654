import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A rollback journal that was left behind")
struct LeftoverJournalTests {
    private let folder: TestFolder
    private let original: TestFolder

    init() throws { (folder, original) = try (TestFolder(), TestFolder()) }

    private var journal: URL { folder.url.appending(path: "store.db-journal") }

    private func expectRefusal() async throws {
        let before = try folder.contentsWithoutLock()
        for keyIsVerified in [false, true] {
            let error = await #expect(throws: StoreError.self) {
                _ = try await EncryptedStore.open(in: folder, keyIsVerified: keyIsVerified)
            }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("move the journal away") ?? false)
            #expect(try folder.contentsWithoutLock() == before)
        }
        try FileManager.default.removeItem(at: journal)
        #expect(try await folder.storedText() == "sound")
    }

    /// A database over one that has left a journal.
    private func putBackup(overJournalThatIsSynchronized isSynchronized: Bool) async throws {
        try await original.makeStoreWithText()
        try folder.takeJournal(of: original, isSynchronized: isSynchronized)
        let backup = try TestFolder()
        try await backup.makeStoreWithText()
        try folder.write(#require(backup.contents()["store.db"]))
    }

    @Test("by another database is refused, and not played into the one beside it")
    func ofAnotherDatabase() async throws {
        try await putBackup(overJournalThatIsSynchronized: true)
        try await expectRefusal()
    }

    @Test("by another database whose file was not written yet is passed over, as SQLite does")
    func ofAnotherDatabaseUnwritten() async throws {
        try await putBackup(overJournalThatIsSynchronized: false)
        #expect(try await folder.storedText() == "sound")
    }

    @Test("by a database with other pages is refused")
    func ofOtherPages() async throws {
        try await folder.makeStoreWithText()
        try folder.writeLogWithSmallPages("-journal")
        try await expectRefusal()
    }

    @Test("by its own first page is played back", arguments: [nil, FileHeader.Format.sqlcipher3])
    func ofItsOwn(format: FileHeader.Format?) async throws {
        if let format { try original.createStore(format) }
        try await original.makeStoreWithText()
        try folder.takeJournal(of: original)
        // The page was being written.
        try folder.edit { data in for place in 600..<4_096 { data[place] = 0x55 } }
        #expect(try await folder.storedText() == "sound")
        #expect(!FileManager.default.fileExists(atPath: journal.path))
    }

    @Test("by a transaction of many pages is played back")
    func ofManyPages() async throws {
        try await original.makeStoreWithText()
        try folder.takeFiles(of: original) { program in
            _ = try program.setting("PRAGMA journal_mode = DELETE")
            _ = try program.setting("PRAGMA cache_size = 2")
            try program.run("UPDATE items SET bytes = zeroblob(200000)")
            try program.run("BEGIN")
            try program.run("UPDATE items SET bytes = randomblob(200000), text = 'uncommitted'")
        }
        #expect(try #require(folder.contents()["store.db-journal"]).count > 20_000)
        #expect(try await folder.storedText() == "sound")
    }

    /// What a kill or a loss of power can make of it before the database is written.
    enum Cut: CaseIterable {
        case notSynchronized, tornPage, headAlone, part, empty, zeros
    }

    @Test("by its own is not refused, however far it came", arguments: Cut.allCases)
    func cut(cut: Cut) async throws {
        try await original.makeStoreWithText()
        try folder.takeJournal(of: original, isSynchronized: cut != .notSynchronized)
        try folder.edit("store.db-journal") { data in
            switch cut {
            case .notSynchronized: break
            // The start of the page never came to the disk.
            case .tornPage: for place in 516..<1_024 { data[place] = 0 }
            case .headAlone: data = data.prefix(512)
            case .part: data = data.prefix(600)
            case .empty: data = Data()
            case .zeros: data = Data(count: data.count)
            }
        }
        #expect(try await folder.storedText() == "sound")
    }
}
