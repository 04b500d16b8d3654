import Foundation
import SealedSync
import Testing

@Suite("Several users on one device")
struct SeveralUsersTests {
    private let (ada, ben): (UserFolder, UserFolder)

    init() throws { (ada, ben) = (try UserFolder(), try UserFolder()) }

    @Test("share nothing: neither opens the other's store, not even with the other's keyslot file or database")
    func separate() async throws {
        try await ada.create(notes: 3)
        try await ben.create(notes: 5)
        #expect(try await keyErrorCode { _ = try await ada.store.unlock(ben.unlocker) } == .wrongSecret)
        let (adas, bens) = (try await ada.store.unlock(ada.unlocker), try await ben.store.unlock(ben.unlocker))
        #expect(adas.storeID != bens.storeID)
        #expect(try adas.dataKey != bens.dataKey)
        let code = try await keyErrorCode { _ = try await ada.store.open(UserFolder.schema, keyring: bens) }
        #expect(code == .wrongSecret)

        let away = ada.parent.appending(path: "away")
        try FileManager.default.moveItem(at: ada.store.keyslotsURL, to: away)
        try FileManager.default.copyItem(at: ben.store.keyslotsURL, to: ada.store.keyslotsURL)
        let exchanged = try await keyErrorCode {
            _ = try await ada.store.open(UserFolder.schema, unlocker: ben.unlocker)
        }
        #expect(exchanged == .outdatedKeyslotFile, "whole, and not that of the database")
        try FileManager.default.removeItem(at: ada.store.keyslotsURL)
        try FileManager.default.moveItem(at: away, to: ada.store.keyslotsURL)
        try await ada.expectNotes(3)
        try await ben.expectNotes(5)
    }

    @Test("one signs out and locks while the other works on; the first signs in again")
    func signOutByLocking() async throws {
        try await ada.create(notes: 3)
        try await ben.create(notes: 5)
        let adas = try await ada.store.open(UserFolder.schema, unlocker: ada.unlocker)
        let bens = try await ben.store.open(UserFolder.schema, unlocker: ben.unlocker)
        await adas.lock()
        try await bens.upsert([UserFolder.note(5)], table: "notes")
        #expect(try await storeErrorCode { _ = try await adas.read(Query("notes")) } == .locked)
        try await ada.store.unlock(adas, with: ada.unlocker)
        await adas.close()
        await bens.close()
        try await ada.expectNotes(3)
        try await ben.expectNotes(6)
    }

    @Test(
        "one signs out and destroys; the other's store is untouched, and a copy made before still opens with the secret"
    )
    func signOutByDestroying() async throws {
        try await ada.create(notes: 3)
        try await ben.create(notes: 5)
        let before = try ben.contents()
        let copy = ada.parent.appending(path: "copy")
        try FileManager.default.copyItem(at: ada.store.url, to: copy)

        let open = try await ada.store.open(UserFolder.schema, unlocker: ada.unlocker)
        #expect(try await storeErrorCode { try await ada.store.wipe() } == .inUse)
        await open.close()
        try await ada.store.wipe()
        #expect(try FileManager.default.contentsOfDirectory(atPath: ada.store.url.path) == [])
        #expect(try await storeErrorCode { _ = try await ada.store.unlock(ada.unlocker) } == .notFound)
        #expect(try ben.contents() == before)
        try await ben.expectNotes(5)

        // What destroying says that it cannot undo.
        let backup = try await StoreFolder(copy).open(UserFolder.schema, unlocker: ada.unlocker)
        #expect(try await backup.read(Query("notes")).records.count == 3)
        await backup.close()
    }
}
