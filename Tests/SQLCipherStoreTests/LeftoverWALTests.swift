import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("A log that was left behind")
struct LeftoverWALTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A store that is closed, with one row.
    private func makeStore() async throws {
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1", ["text": "sound"])], table: "items")
        await store.close()
    }

    private func text() async throws -> FieldValue? {
        let store = try await EncryptedStore.open(in: folder)
        let text = try await store.read { try $0.record("1", in: "items")?["text"] }
        await store.close()
        return text
    }

    @Test("of another database is refused, and not played into the one beside it")
    func ofAnotherDatabase() async throws {
        try await makeStore()
        let other = try TestFolder()
        _ = try await StoreLeftOpen(in: other)
        let wal = try #require(other.contents()["store.db-wal"])
        try Data(wal).write(to: folder.url.appending(path: "store.db-wal"))
        let before = try folder.contentsWithoutLock()
        for keyIsVerified in [false, true] {
            let error = await #expect(throws: StoreError.self) {
                _ = try await EncryptedStore.open(in: folder, keyIsVerified: keyIsVerified)
            }
            #expect(error?.code == .damaged)
            #expect(error?.message.contains("move the log away") ?? false)
            #expect(try folder.contentsWithoutLock() == before)
        }
        try FileManager.default.removeItem(at: folder.url.appending(path: "store.db-wal"))
        #expect(try await text() == "sound")
    }

    @Test("of its own is played back")
    func ofItsOwn() async throws {
        let left = try await StoreLeftOpen(in: folder)
        #expect(try await text() == left.text)
    }
}
