import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A damaged file is refused, and never gives other data")
struct DamageTests {
    /// A closed store with 400 rows, large values among them.
    private func makeStore(in folder: TestFolder) async throws -> [Record] {
        let store = try await EncryptedStore.open(in: folder)
        let records = (0..<400)
            .map { index in
                let size = index.isMultiple(of: 20) ? 20_000 : 50
                return Record(
                    id: .string("row-\(index)"),
                    [
                        "text": .string("text \(index)"),
                        "bytes": .bytes(Array(repeating: UInt8(index & 255), count: size)),
                    ]
                )
            }
        try await store.upsert(records, table: "items")
        await store.close()
        return records
    }

    /// Opens the store and reads everything, in the way of a scan and by id.
    private func readAll(_ folder: TestFolder, keyIsVerified: Bool = true) async throws -> [Record] {
        let store = try await EncryptedStore.open(in: folder, mode: .openExisting, keyIsVerified: keyIsVerified)
        let result: Result<[Record], any Error>
        do {
            result = .success(try await store.read { try $0.records(Query("items")) })
        } catch {
            result = .failure(error)
        }
        await store.close()
        return try result.get()
    }

    @Test("by noise in any one page: the whole read fails, or the page held nothing that was read")
    func noise() async throws {
        let folder = try TestFolder()
        let records = try await makeStore(in: folder)
        let intact = try #require(folder.contents()["store.db"])
        let expected = Dictionary(uniqueKeysWithValues: records.map { ($0.id, $0["bytes"]) })
        let pages = intact.count / 4_096
        var refused = 0
        for page in 0..<pages {
            try folder.edit { data in
                data = Data(intact)
                for offset in 0..<64 { data[page * 4_096 + 1_000 + offset] ^= 0x5A }
            }
            do {
                let found = try await readAll(folder)
                #expect(found.count == records.count, "page \(page)")
                for record in found { #expect(record["bytes"] == expected[record.id], "page \(page)") }
            } catch let error as StoreError {
                #expect(error.code == .damaged, "page \(page): \(error)")
                refused += 1
            }
        }
        #expect(refused > pages / 2)
    }

    @Test("by a flipped bit in the last page of a large value, which the library hands out as zeros")
    func lastOverflowPage() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let value = FieldValue.bytes(Array(repeating: 9, count: 50_000))
        try await store.upsert([Record(id: "large", ["bytes": value])], table: "items")
        await store.close()
        let intact = try #require(folder.contents()["store.db"])
        var refused = 0
        for page in 1..<intact.count / 4_096 {
            try folder.edit { data in
                data = Data(intact)
                data[page * 4_096 + 50] ^= 1
            }
            do {
                let store = try await EncryptedStore.open(in: folder)
                let found = try await code {
                    let record = try await store.read(table: "items", itemID: "large")
                    #expect(record?["bytes"] == value, "page \(page)")
                }
                await store.close()
                #expect(found == nil || found == .damaged)
                refused += found == nil ? 0 : 1
            } catch let error as StoreError {
                #expect(error.code == .damaged, "page \(page): \(error)")
            }
        }
        #expect(refused >= 12)
    }

    @Test("a write that read a damaged page is not committed")
    func writing() async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        let intact = try #require(folder.contents()["store.db"])
        for page in 1..<intact.count / 4_096 {
            try folder.edit { data in
                data = Data(intact)
                data[page * 4_096 + 50] ^= 1
            }
            guard let store = try? await EncryptedStore.open(in: folder) else { continue }
            let found = try await code {
                try await store.write { transaction in
                    for record in try transaction.records(Query("items").ordered(by: "text")) {
                        try transaction.upsert([record], into: "items")
                    }
                }
            }
            let isIntact = try await code { _ = try await readAllRows(store) } == nil
            #expect(found == .damaged || isIntact, "page \(page)")
            await store.close()
        }
    }

    private func readAllRows(_ store: EncryptedStore) async throws -> Int {
        try await store.read { try $0.records(Query("items")).count }
    }

    @Test("by being cut short or made longer, at any place", arguments: [-1, -4_096, -8_192, -100_000, 1, 4_096])
    func length(change: Int) async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        try folder.edit { data in
            if change < 0 { data.removeLast(-change) } else { data.append(Data(count: change)) }
        }
        #expect(try await code { _ = try await readAll(folder, keyIsVerified: false) } == .damaged)
    }

    @Test("by being cut to less than a page", arguments: [0, 1, 15, 16, 100, 4_095])
    func stump(length: Int) async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        try folder.edit { $0 = $0.prefix(length) }
        #expect(try await code { _ = try await readAll(folder, keyIsVerified: false) } == .damaged)
    }

    @Test("other files are told apart: plain SQLite, a newer format, anything else")
    func otherFiles() async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        let cases: [([UInt8], StoreError.Code)] = [
            (Array("SQLite format 3\0".utf8), .unsupportedFormat),
            ([0xD3] + "SealDB".utf8 + [200], .unsupportedFormat),
            ([0xD3] + "SealDB".utf8 + [0], .unsupportedFormat),
            (Array("%PDF-1.4".utf8), .damaged),
            (Array(repeating: 0, count: 16), .damaged),
        ]
        for (start, expected) in cases {
            try folder.edit { $0.replaceSubrange(0..<start.count, with: start) }
            #expect(try await code { _ = try await readAll(folder) } == expected)
        }
    }

    @Test(
        "damage of the salt, of its random part or of what names the key, is not taken for another key",
        arguments: 8..<16
    )
    func salt(place: Int) async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        try folder.edit { $0[place] ^= 1 }
        #expect(try await code { _ = try await readAll(folder, keyIsVerified: false) } == .damaged)
        #expect(try await code { _ = try await readAll(folder, keyIsVerified: true) } == .damaged)
    }

    @Test("nor is the loss of what says that the header names one")
    func flag() async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        try folder.edit { $0[7] ^= 0x80 }
        #expect(try await code { _ = try await readAll(folder, keyIsVerified: false) } == .damaged)
    }

    @Test("a damaged first page is not taken for another key")
    func firstPage() async throws {
        let folder = try TestFolder()
        _ = try await makeStore(in: folder)
        try folder.edit { $0[2_000] ^= 1 }
        #expect(try await code { _ = try await readAll(folder, keyIsVerified: false) } == .damaged)
    }

    @Test("a first page that was torn while the WAL was written back is repaired from the WAL")
    func tornFirstPage() async throws {
        let folder = try TestFolder()
        let large = (0..<200)
            .map { Record(id: .string("r\($0)"), ["bytes": .bytes(Array(repeating: 1, count: 4_000))]) }
        _ = try await StoreLeftOpen(in: folder, records: large)
        try folder.edit { $0[2_000] ^= 0xFF }
        #expect(try await readAll(folder, keyIsVerified: false).count == 201)
    }
}
