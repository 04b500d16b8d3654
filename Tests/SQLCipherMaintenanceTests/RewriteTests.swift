import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

/// What can be done to a store as a whole that leaves a store in its place.
enum Rewrite: String, CaseIterable, Sendable {
    case compact
    case upgrade
    case rekey

    /// The key that opens the store afterwards.
    var keyByte: UInt8 { self == .rekey ? 9 : 7 }

    /// The format of a store that this has something to do with; nil where the linked library writes one only.
    var format: FileHeader.Format? {
        guard self == .upgrade else { return nil }
        return FileHeader.Format.allCases.first
    }

    /// Whether the linked library can do it: an upgrade needs a format that is not the newest.
    var isPossible: Bool {
        guard self == .upgrade else { return true }
        do {
            return try CipherConfiguration.engineVersion().newestFormat != .sqlcipher3
        } catch {
            return true
        }
    }

    @discardableResult
    func run(
        on url: URL,
        keyByte: UInt8 = 7,
        progress: StoreProgressHandler? = nil,
        _ fileSystem: FileSystem = FileSystem()
    ) async throws -> StoreRewriteResult {
        var file = StoreFile(url)
        file.fileSystem = fileSystem
        return switch self {
        case .compact: try await file.compact(key: .testKey(keyByte), progress: progress)
        case .upgrade: try await file.upgrade(key: .testKey(keyByte), progress: progress)
        case .rekey: try await file.rekey(from: .testKey(keyByte), to: .testKey(9), progress: progress)
        }
    }

    static var possible: [Rewrite] { allCases.filter(\.isPossible) }
}

@Suite("Compacting, upgrading and rekeying a store")
struct RewriteTests {
    @Test(
        "keeps every value, row number, table and index, and gives the file a header of its own",
        arguments: Rewrite.possible
    )
    func content(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format)
        let before = try DatabaseDump(folder)
        #expect(before.rows.count == 9)
        let old = try #require(folder.contents()["store.db"])

        let result = try await rewrite.run(on: folder.database)

        #expect(try DatabaseDump(folder, keyByte: rewrite.keyByte) == before)
        let new = try #require(folder.contents()["store.db"])
        #expect(Array(new[8..<16]) != Array(old[8..<16]))
        #expect(result.isRewritten)
        #expect(result.sizeBefore == Int64(old.count) && result.sizeAfter == Int64(new.count))
        #expect(result.formatBefore.number == Int(old[7] & 0x7F) && result.formatAfter.number == Int(new[7] & 0x7F))
        #expect((result.formatAfter > result.formatBefore) == (rewrite == .upgrade))
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
        #expect(try permissions(folder.database) == 0o600)

        let store = try await EncryptedStore.open(in: folder, SampleStore.tables, keyByte: rewrite.keyByte)
        for record in SampleStore.records {
            let found = try #require(try await store.read(table: "items", itemID: record.id))
            for (name, value) in record.fields { #expect(found[name] == value, "\(name)") }
        }
        #expect(try await store.read(table: "folding", itemID: "ABC")?["int"] == 5)
        #expect(try await store.read(table: "forgotten", itemID: "f")?["old"] == .decimal(DecimalText("1e5")!))
        await store.close()
    }

    @Test("of a store with many deletions makes the file smaller")
    func smaller() async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, rows: 20)
        let store = try await EncryptedStore.open(in: folder)
        let rows = (0..<2_000)
            .map { Record(id: .string("r\($0)"), ["bytes": .bytes(Array(repeating: 1, count: 1_000))]) }
        try await store.upsert(rows, table: "items")
        try await store.deleteItems(withIDs: rows.dropLast(10).map(\.id), table: "items")
        await store.close()
        let result = try await StoreFile(folder.database).compact(key: .testKey())
        #expect(result.sizeBefore > 2_000_000)
        #expect(result.sizeAfter < 300_000)
    }

    @Test(
        "leaves out an index for searching of another version, which the next opening makes anew",
        arguments: Rewrite.possible
    )
    func oldSearchIndex(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format)
        do {
            let database = try folder.openDatabaseForWriting()
            try database.dropSearchIndex(SearchIndex(table: "indexed", column: "a"))
            try database.createSearchIndex(#require(SearchIndex(storedName: "words0:indexed:a")))
        }
        let before = try DatabaseDump(folder)
        try await rewrite.run(on: folder.database)
        let after = try DatabaseDump(folder, keyByte: rewrite.keyByte)
        #expect(after.withoutSearching == before.withoutSearching)
        #expect(after.entries.filter { SearchIndex.version(of: $0.name) != nil }.map(\.name) == ["words0:indexed:a"])
        let store = try await EncryptedStore.open(in: folder, SampleStore.tables, keyByte: rewrite.keyByte)
        let search = Query("indexed").filtered(by: Column("a").matches(words: "ἄλφα"))
        #expect(try await store.read(search).records.count == 200)
        await store.close()
    }

    @Test("takes over what lies in a WAL that a killed process left", arguments: Rewrite.possible)
    func leftLog(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        let rows = (0..<200).map { Record(id: .string("r\($0)"), ["text": "in the WAL"]) }
        let killed = try await StoreLeftOpen(in: folder, records: rows, format: rewrite.format)
        #expect(try folder.contents()["store.db-wal"]?.isEmpty == false)
        let result = try await rewrite.run(on: folder.database)
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
        #expect(result.sizeBefore > result.sizeAfter)
        let store = try await EncryptedStore.open(in: folder, keyByte: rewrite.keyByte, mode: .openExisting)
        #expect(try await store.read(table: "items", itemID: "1")?["text"] == killed.text)
        #expect(try await store.read(Query("items")).records.count == 201)
        await store.close()
    }

    @Test("an upgrade of a store in the newest format does nothing, but tries the key")
    func newest() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        let before = try folder.contents()
        let result = try await StoreFile(folder.database).upgrade(key: .testKey())
        #expect(!result.isRewritten && result.formatBefore == result.formatAfter)
        #expect(result.sizeBefore == result.sizeAfter)
        #expect(try folder.contents() == before)
        #expect(try await code { _ = try await StoreFile(folder.database).upgrade(key: .testKey(8)) } == .wrongKey)
    }

    @Test("after a rekey the old key opens nothing")
    func oldKey() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        try await Rewrite.rekey.run(on: folder.database)
        #expect(try await code { _ = try await EncryptedStore.open(in: folder) } == .wrongKey)
        try await EncryptedStore.open(in: folder, keyByte: 9).close()
    }

    @Test("the progress rises through both phases to their ends", arguments: Rewrite.possible)
    func progress(rewrite: Rewrite) async throws {
        let folder = try TestFolder()
        try await SampleStore.make(in: folder, format: rewrite.format)
        let steps = Collected<StoreProgress>()
        try await rewrite.run(on: folder.database, progress: { steps.append($0) })
        for phase in StoreProgress.Phase.allCases {
            let found = steps.values.filter { $0.phase == phase }
            let total = try #require(found.first).total
            #expect(total > 0 && found.allSatisfy { $0.total == total })
            #expect(found.first?.completed == 0 && found.last?.completed == total)
            #expect(found.map(\.completed) == found.map(\.completed).sorted())
        }
        let phases = steps.values.map(\.phase)
        #expect(phases.drop { $0 == .copying }.allSatisfy { $0 == .verifying })
    }

    @Test("a store that was dropped without being closed is closed before its files are worked on")
    func dropped() async throws {
        let folder = try TestFolder()
        for round in 0..<5 {
            do {
                let store = try await EncryptedStore.open(in: folder)
                try await store.upsert([Record(id: .string("\(round)"))], table: "items")
            }
            try await Rewrite.compact.run(on: folder.database)
        }
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await store.read(Query("items")).records.count == 5)
        await store.close()
    }

    @Test("leftovers of a rewrite that was killed are removed by the next opening, and by the next rewrite")
    func leftovers() async throws {
        let folder = try TestFolder()
        try await EncryptedStore.open(in: folder).close()
        func leave() throws {
            for name in ["store.db.new", "store.db.new-wal", "store.db.new-journal", "store.db.new-shm"] {
                try Data("half".utf8).write(to: folder.url.appending(path: name))
            }
        }
        try leave()
        try await EncryptedStore.open(in: folder, mode: .openExisting).close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
        try leave()
        try await Rewrite.compact.run(on: folder.database)
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
    }
}

/// Collects what a handler is told.
final class Collected<Value: Sendable>: Sendable {
    private let storage = Mutex<[Value]>([])

    var values: [Value] { storage.withLock { $0 } }

    func append(_ value: Value) { storage.withLock { $0.append(value) } }
}

func permissions(_ url: URL) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
}
