import Foundation
import SQLCipherStore
import SQLCipherStoreTestSupport
import SecretMemory
import SeededNumbers
import SyncContract
import Testing

@testable import SQLCipherMaintenance

@Suite("The indexes of searchable columns")
struct SearchIndexTests {
    @Test("come along when a store is compacted, backed up, upgraded, or exported, and are used and kept there")
    func maintenance() async throws {
        let seed = SeededGenerator.seed()
        var texts = SearchTexts(seed: seed)
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.searchable("T")])
        for _ in 0..<20 { try await texts.change(store, "T") }
        try await store.upsert([Record(id: "0", ["shop": "Łódź"])], table: "T")
        let copy = try TestFolder()
        try await store.backUp(to: copy.database)
        await store.close()
        #expect(try copy.searchIndexProblems() == [])
        for rewrite in Rewrite.possible where rewrite != .rekey {
            try await rewrite.run(on: folder.database)
            #expect(try folder.searchIndexProblems() == [])
        }
        let plain = folder.url.appending(path: "plain.sqlite")
        try await StoreFile(folder.database).exportPlaintext(to: plain, key: .testKey())
        let other = try TestFolder()
        _ = try await StoreFile.encrypt(plaintext: plain, into: other.database, key: .testKey())
        #expect(try other.searchIndexProblems() == [])

        let again = try await EncryptedStore.open(in: folder, [.searchable("T")])
        let query = Query("T").filtered(by: Column("shop").matches(words: "lodz", .wholeWords))
        #expect(try await again.read(query).records.contains { $0.id == "0" })
        for _ in 0..<20 { try await texts.change(again, "T") }
        await again.close()
        #expect(try folder.searchIndexProblems() == [])
    }
}
