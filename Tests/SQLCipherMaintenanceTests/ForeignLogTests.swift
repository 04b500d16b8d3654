import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

/// What the work on whole databases does about a log that another database has left beside one: a backup was put over the
/// store of a process that was killed.
@Suite("A log of another database")
struct ForeignLogTests {
    enum Log: String, CaseIterable {
        case wal = "-wal"
        case journal = "-journal"
    }

    private let folder: TestFolder
    private let rows = 300

    init() throws { folder = try TestFolder() }

    /// A backup over a killed store; the log has more pages than the backup, its first 64 among them.
    private func putBackup(over log: Log, namesKey: Bool = true) async throws {
        let killed = try TestFolder()
        let large = (0..<60)
            .map { Record(id: .string("r\($0)"), ["bytes": .bytes(Array(repeating: 3, count: 8_000))]) }
        switch log {
        case .wal: _ = try await StoreLeftOpen(in: killed, records: large)
        case .journal:
            let store = try TestFolder()
            try await SampleStore.make(in: store, rows: 1)
            try killed.takeJournal(of: store)
        }
        if !namesKey { try folder.createStoreThatNamesNoKey() }
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert((0..<rows).map { Record(id: .string("row-\($0)")) }, table: "items")
        await store.close()
        let name = "store.db" + log.rawValue
        try Data(#require(killed.contents()[name])).write(to: folder.url.appending(path: name))
    }

    private func remove(_ log: Log) throws {
        try FileManager.default.removeItem(at: folder.url.appending(path: "store.db" + log.rawValue))
    }

    private func isRefusal(_ error: StoreError?) -> Bool {
        error?.code == .damaged && error?.message.contains("away and open the store again") == true
    }

    @Test(
        "is said to be one when the store is inspected, and the database is not called damaged",
        arguments: Log.allCases,
        [true, false]
    )
    func inspect(log: Log, namesKey: Bool) async throws {
        try await putBackup(over: log, namesKey: namesKey)
        let before = try folder.contentsWithoutLock()
        for keyIsVerified in [false, true] {
            let file = StoreFile(folder.database, keyIsVerified: keyIsVerified)
            let error = await #expect(throws: StoreError.self) { _ = try await file.inspect(key: .testKey()) }
            #expect(isRefusal(error), "\(String(describing: error))")
            #expect(try await code { _ = try await file.inspect(key: .testKey(8)) } == .wrongKey)
        }
        #expect(try folder.contentsWithoutLock() == before)
    }

    @Test(
        "is one finding of a verification, which looks at the database alone",
        arguments: Log.allCases,
        [true, false]
    )
    func verify(log: Log, namesKey: Bool) async throws {
        try await putBackup(over: log, namesKey: namesKey)
        let before = try folder.contentsWithoutLock()
        for keyIsVerified in [false, true] {
            let file = StoreFile(folder.database, keyIsVerified: keyIsVerified)
            let result = try await file.verify(key: .testKey())
            #expect(result.findings.map(\.kind) == [.foreignLog], "\(result.findings)")
            #expect(result.findings.first?.place == .store)
            #expect(result.findings.first?.remedy.contains("away and open the store again") == true)
            #expect(result.rows == rows)
            #expect(result.pages * FileHeader.pageSize == before["store.db"]?.count)
        }
        let file = StoreFile(folder.database)
        #expect(try await code { _ = try await file.verify(key: .testKey(8)) } == .wrongKey)
        #expect(try folder.contentsWithoutLock() == before)
        try remove(log)
        #expect(try await file.verify(key: .testKey()).isSound)
    }

    @Test("does not hide what is wrong with the database")
    func damagedDatabase() async throws {
        try await putBackup(over: .wal)
        try folder.edit { $0[2 * FileHeader.pageSize + 100] ^= 1 }
        let findings = try await StoreFile(folder.database).verify(key: .testKey()).findings
        #expect(findings.first?.kind == .foreignLog)
        #expect(findings.contains { $0.kind == .damagedPage && $0.place == .page(3) }, "\(findings)")
    }

    @Test(
        "keeps every rewrite from being done, and all files as they are",
        arguments: Rewrite.allCases,
        Log.allCases
    )
    func rewrite(rewrite: Rewrite, log: Log) async throws {
        try await putBackup(over: log)
        // It may be the new database of a revocation that was killed.
        try Data("new".utf8).write(to: folder.url.appending(path: "store.db.new"))
        let before = try folder.contentsWithoutLock()
        let error = await #expect(throws: StoreError.self) { try await rewrite.run(on: folder.database) }
        #expect(isRefusal(error), "\(String(describing: error))")
        #expect(try folder.contentsWithoutLock() == before)
        try remove(log)
        try await rewrite.run(on: folder.database)
        let store = try await EncryptedStore.open(in: folder, keyByte: rewrite.keyByte)
        #expect(try await store.read { try $0.count(Query("items")) } == rows)
        await store.close()
    }

    @Test("keeps an export from being made", arguments: Log.allCases)
    func export(log: Log) async throws {
        try await putBackup(over: log)
        let before = try folder.contentsWithoutLock()
        let plain = try TestFolder()
        let error = await #expect(throws: StoreError.self) {
            try await StoreFile(folder.database).exportPlaintext(to: plain.database, key: .testKey())
        }
        #expect(isRefusal(error), "\(String(describing: error))")
        #expect(try folder.contentsWithoutLock() == before)
        #expect(try plain.contents().isEmpty)
    }
}
