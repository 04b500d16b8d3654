import Foundation
import SealedSync
import Testing

@Suite("A backup of a store folder that is in use")
struct StoreFolderBackupTests {
    @Test("opens with the same secret, and refuses a store that is another one's")
    func backup() async throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "SealedSync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer {
            do {
                try FileManager.default.removeItem(at: place)
            } catch {
                Issue.record(error)
            }
        }
        let unlocker = SecretFileUnlocker(at: place.appending(path: "secret"))
        let schema = try StoreSchema([TableDefinition("items", columns: [.init("text", .string)])])
        let folder = StoreFolder(place.appending(path: "store"))
        let store = try await folder.create(schema, unlocker: unlocker)
        try await store.upsert([Record(id: "1", ["text": "milk"])], table: "items")
        let copy = StoreFolder(place.appending(path: "copy"))
        try await folder.backUp(store, to: copy.url)

        let restored = try await copy.open(schema, unlocker: unlocker)
        #expect(try await restored.read(table: "items", itemID: "1")?["text"] == "milk")
        await #expect(throws: StoreError.self) {
            try await folder.backUp(restored, to: place.appending(path: "third"))
        }
        #expect(!FileManager.default.fileExists(atPath: place.appending(path: "third").path))
        await restored.close()
        await store.close()
    }
}
