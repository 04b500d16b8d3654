import Dispatch
import DurableFiles
import Foundation
import QueryGenerator
import SQLCipherStoreTestSupport
import SecretMemory
import SeededNumbers
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore

@Suite("Verifying a store")
struct VerificationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A closed store with pages of every kind: inner and leaf pages of tables and indexes, long values, free pages.
    private func makeStore() async throws {
        let store = try await EncryptedStore.open(in: folder)
        let records = (0..<300)
            .map { index in
                Record(
                    id: .string("row-\(index)"),
                    [
                        "text": .string("text \(index)"), "decimal": .decimal(DecimalText("1.50")!),
                        "bytes": .bytes(Array(repeating: UInt8(index & 255), count: index % 60 == 0 ? 20_000 : 100)),
                        "beyond": .string("kept"),
                    ]
                )
            }
        try await store.upsert(records, table: "items")
        try await store.deleteItems(withIDs: (100..<170).map { .string("row-\($0)") }, table: "items")
        await store.close()
    }

    private func verify(keyByte: UInt8 = 7, keyIsVerified: Bool = true) async throws -> StoreVerification {
        try await StoreFile(folder.database, keyIsVerified: keyIsVerified).verify(key: .testKey(keyByte))
    }

    @Test("finds nothing in a store after any work, and says how much it looked at")
    func soundStore() async throws {
        let seed = SeededGenerator.seed()
        var rows = [TableDefinition.items, .folding].map { RandomQueries($0, .everything, seed: seed) }
        var random = SeededGenerator(seed: seed)
        for round in 0..<6 {
            let store = try await EncryptedStore.open(in: folder, [.items, .folding])
            for _ in 0..<10 {
                let index = Int.random(in: 0...1, using: &random)
                let table: TableDefinition = index == 0 ? .items : .folding
                let records = (0..<([1, 20, 200].randomElement(using: &random) ?? 1))
                    .map { _ in rows[index].record(.string("r\(Int.random(in: 0..<400, using: &random))")) }
                let deletes = Int.random(in: 0..<100, using: &random) < 40
                try await store.write { transaction in
                    try transaction.upsert(records, into: table.name)
                    // Pages that are taken and given back within one transaction are never written.
                    if deletes { try transaction.delete(Query(table.name)) }
                }
            }
            await store.close()
            let result = try await verify(keyIsVerified: false)
            #expect(result.isSound, "seed \(seed), round \(round): \(result.findings)")
            #expect(result.pages == (FileSystem.size(of: folder.database.path) ?? 0) / FileHeader.pageSize)
            let content = try await StoreFile(folder.database).inspect(key: .testKey())
            #expect(result.rows == content.tables.reduce(0) { $0 + $1.rows })
        }
    }

    @Test("takes pages that were never written for what they are: free")
    func unwrittenPages() async throws {
        try await makeStore()
        // Under a rollback journal, pages that are taken and given back within one transaction are left out.
        try folder.alter(
            "PRAGMA journal_mode = DELETE",
            "PRAGMA secure_delete = OFF",
            "BEGIN",
            "INSERT INTO \"items\" (\"id\", \"bytes\") VALUES ('large', zeroblob(2000000))",
            "INSERT INTO \"items\" (\"id\", \"bytes\") VALUES ('last', zeroblob(20000))",
            "DELETE FROM \"items\" WHERE \"id\" = 'large'",
            "COMMIT",
            "PRAGMA journal_mode = WAL"
        )
        let bytes = try #require(folder.contents()["store.db"])
        let isUnwritten = (0..<bytes.count / 4_096)
            .filter { bytes[$0 * 4_096..<($0 + 1) * 4_096].allSatisfy { $0 == 0 } }
        #expect(isUnwritten.count > 100)
        let result = try await verify()
        #expect(result.isSound, "\(result.findings)")
    }

    @Test(
        "names the page in which a byte was changed, whatever the page holds",
        arguments: [0, 16, 100, 2_000, 4_047, 4_095]
    )
    func changedByte(offset: Int) async throws {
        try await makeStore()
        let intact = Data(try #require(folder.contents()["store.db"]))
        var hasUnreadableRows = false
        for page in 1...intact.count / 4_096 {
            // The first bytes of the file are the header, which is the salt; the last ones of a page are not used.
            if page == 1, offset < 16 { continue }
            try folder.edit { data in
                data = intact
                data[(page - 1) * 4_096 + offset] ^= 0x40
            }
            let result = try await verify()
            if isUnused(offset) {
                #expect(result.isSound, "page \(page), byte \(offset): \(result.findings)")
            } else {
                let pages = result.findings.filter { $0.kind == .damagedPage }.map(\.place)
                #expect(pages == [.page(page)], "page \(page), byte \(offset): \(result.findings)")
            }
            if result.findings.contains(where: { $0.kind == .unreadableRows }) { hasUnreadableRows = true }
        }
        #expect(hasUnreadableRows != isUnused(offset))
    }

    /// With SQLCipher 3's format 12 bytes at the end of a page round the reserve up to whole blocks.
    private func isUnused(_ offset: Int) -> Bool {
        offset >= 4_084
            && (try? FileHeader(reading: FileSystem.prefix(of: folder.database.path, count: 16), of: ""))?
                .format == .sqlcipher3
    }

    @Test("names every damaged page, however many there are, and the rows on both sides of them")
    func manyPages() async throws {
        try await makeStore()
        let intact = Data(try #require(folder.contents()["store.db"]))
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let pages = Set((2...intact.count / 4_096).shuffled(using: &random).prefix(12))
        try folder.edit { data in
            for page in pages { data[(page - 1) * 4_096 + Int.random(in: 0..<4_080, using: &random)] ^= 1 }
        }
        let result = try await verify()
        let named = result.findings.compactMap { if case .page(let page) = $0.place { page } else { nil } }
        #expect(Set(named) == pages, "seed \(seed)")
        #expect(result.omittedFindings == 0)
    }

    @Test("what a check of the queue meets does not hide what was found before")
    func queueCheckOfDamagedStore() async throws {
        try await makeStore()
        let intact = Data(try #require(folder.contents()["store.db"]))
        for page in 2...intact.count / 4_096 {
            try folder.edit { data in
                data = intact
                data[(page - 1) * 4_096 + 60] ^= 1
            }
            let result = try await StoreFile(folder.database, keyIsVerified: true)
                .verify(key: .testKey(), progress: nil) { reader, schema in
                    for table in schema.allTables { try reader.forEach(Query(table.name)) { _ in } }
                    return []
                }
            #expect(result.findings.contains { $0.place == .page(page) }, "page \(page): \(result.findings)")
        }
    }

    @Test("names a page in use that holds nothing but zeros, which the library takes for an empty one")
    func zeroedPages() async throws {
        try await makeStore()
        let intact = Data(try #require(folder.contents()["store.db"]))
        let free = try await StoreFile(folder.database).inspect(key: .testKey()).freePages
        var accepted = 0
        for page in 2...intact.count / 4_096 {
            try folder.edit { data in
                data = intact
                data.replaceSubrange((page - 1) * 4_096..<page * 4_096, with: Data(count: 4_096))
            }
            let result = try await verify()
            if result.isSound {
                accepted += 1
            } else {
                #expect(result.findings.contains { $0.place == .page(page) }, "page \(page): \(result.findings)")
            }
        }
        // A free page holds nothing to lose, unless it lists others.
        #expect(accepted <= free, "\(accepted) of \(free) free pages")
    }

    @Test("names a page that was exchanged for another one of the same store")
    func exchangedPages() async throws {
        try await makeStore()
        try folder.edit { data in
            let (first, second) = (data[4_096..<8_192], data[8_192..<12_288])
            data.replaceSubrange(4_096..<8_192, with: second)
            data.replaceSubrange(8_192..<12_288, with: first)
        }
        let places = try await verify().findings.filter { $0.kind == .damagedPage }.map(\.place)
        #expect(places == [.page(2), .page(3)])
    }

    @Test("reports an end that is lost, and bytes behind the end", arguments: [-1, -4_096, -40_000, 1, 100])
    func length(change: Int) async throws {
        try await makeStore()
        try folder.edit { data in
            if change < 0 { data.removeLast(-change) } else { data.append(Data(count: change)) }
        }
        let result = try await verify()
        #expect(result.findings.contains { $0.kind == .damagedFile }, "\(result.findings)")
    }

    @Test("reports a start that is not a store's, and one that is cut off", arguments: [0, 3, 15, 100, 4_095])
    func start(length: Int) async throws {
        try await makeStore()
        try folder.edit { $0 = $0.prefix(length) }
        #expect(try await verify().findings.first?.kind == .damagedFile)
        try folder.write(Array("no store, but long enough to be one".utf8))
        #expect(try await verify().findings.map(\.kind) == [.damagedFile])
    }

    @Test("tells a wrong key from damage, also where the caller takes it for the right one")
    func wrongKey() async throws {
        try await makeStore()
        #expect(try await code { _ = try await verify(keyByte: 8, keyIsVerified: false) } == .wrongKey)
        #expect(try await code { _ = try await verify(keyByte: 8) } == .wrongKey)
        try folder.edit { $0[1_000] ^= 1 }
        let result = try await verify(keyIsVerified: false)
        #expect(result.findings.first?.place == .page(1), "only the first page is damaged: the key is right")
    }

    @Test(
        "of a header with one damaged byte says that it is damaged, and never that the key is another",
        arguments: 0..<16,
        [false, true]
    )
    func damagedHeader(place: Int, keyIsVerified: Bool) async throws {
        try await makeStore()
        try folder.edit { $0[place] ^= 1 }
        // A byte that says what format the store has makes it one of another version.
        guard place != 7 else { return }
        let result = try await verify(keyIsVerified: keyIsVerified)
        #expect(result.findings.first?.kind == ((8..<12).contains(place) ? .damagedPage : .damagedFile))
        let file = StoreFile(folder.database, keyIsVerified: keyIsVerified)
        #expect(try await code { _ = try await file.inspect(key: .testKey()) } == .damaged)
        // Another key is another key all the same, where the header can be read and what names the key is whole.
        guard (8..<12).contains(place) else { return }
        #expect(try await code { _ = try await verify(keyByte: 8, keyIsVerified: keyIsVerified) } == .wrongKey)
        #expect(try await code { _ = try await file.inspect(key: .testKey(8)) } == .wrongKey)
    }

    @Test("changes no byte, of a damaged store neither, and is refused while the store is open")
    func untouched() async throws {
        try await makeStore()
        try folder.edit { $0[20_000] ^= 1 }
        let before = try folder.contents()
        #expect(try await verify().isSound == false)
        #expect(try folder.contents() == before)
        try folder.edit { $0[20_000] ^= 1 }
        let store = try await EncryptedStore.open(in: folder)
        #expect(try await code { _ = try await verify() } == .inUse)
        await store.close()
        #expect(
            try await code { _ = try await StoreFile(folder.url.appending(path: "no")).verify(key: .testKey()) }
                == .notFound
        )
    }

    @Test("ends when its task is cancelled, and leaves the store free")
    func cancelled() async throws {
        try await makeStore()
        let file = StoreFile(folder.database)
        let key = try SecretBytes.testKey()
        let (began, mayGoOn) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        let task = Task {
            try await file.verify(key: key) { progress in
                guard progress.completed == 0 else { return }
                began.continuation.yield()
                mayGoOn.wait()
            }
        }
        for await _ in began.stream { break }
        task.cancel()
        mayGoOn.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await verify().isSound)
    }

    @Test("tells its progress in one phase that never goes back and ends at its total")
    func progress() async throws {
        try await makeStore()
        let told = Mutex<[StoreProgress]>([])
        _ = try await StoreFile(folder.database).verify(key: .testKey()) { news in told.withLock { $0.append(news) } }
        let news = told.withLock { $0 }
        #expect(news.first?.completed == 0 && news.count > 10)
        #expect(news.last.map { $0.completed == $0.total } == true)
        #expect(zip(news, news.dropFirst()).allSatisfy { $0.completed < $1.completed && $0.total == $1.total })
    }
}
