import DurableFiles
import Foundation
import SealedSync
import Testing

@testable import SQLCipherStore
@testable import StoreKeys

@Suite("After a passphrase has leaked and the keyslot file was copied")
struct LeakTests {
    private let folder: UserFolder
    private let (leaked, new): (PassphraseUnlocker, PassphraseUnlocker)

    init() async throws {
        folder = try UserFolder()
        leaked = try .quick("leaked")
        new = try .quick("new")
        try await folder.create(notes: 100)
        try await folder.store.keyslots.add(leaked, authorizedBy: folder.unlocker)
    }

    private func writeNote(_ number: Int) async throws {
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        try await store.upsert([UserFolder.note(number)], table: "notes")
        await store.close()
    }

    private func leakedSlot() async throws -> Keyslot.ID {
        try #require(try await KeyslotFile.read(at: folder.store.keyslotsURL).slots.last).id
    }

    /// Lets the thief look at every durable step of the keyslot file and the database.
    private func watched(by thief: Thief) -> StoreFolder.RotationPlace {
        let look = { @Sendable in #expect(throws: Never.self) { try thief.look() } }
        var file = StoreFile(folder.store.databaseURL, keyIsVerified: true)
        file.fileSystem = FileSystem { _ in look() }
        return (Keyslots(folder.store.keyslotsURL, in: file.fileSystem), file)
    }

    @Test("a changed passphrase and a rotation of the data key alone leave the thief in, as their documentation says")
    func attack() async throws {
        let thief = try await Thief(in: folder.store, with: leaked)
        try await folder.store.keyslots.changePassphrase(from: leaked, to: new)
        #expect(try await thief.isIn())
        try await folder.store.rotateDataKey(new)
        try await writeNote(100)
        #expect(try await thief.isIn(), "the old root key unwraps the new data key")
        #expect(try await thief.readNotes() == 101)
        // Nor does the removal of the slot help by itself: the data key is known.
        try await folder.store.keyslots.remove(try await leakedSlot(), keeping: [folder.unlocker])
        #expect(try await thief.readNotes() == 101)
    }

    @Test("a rotation of the keys shuts the thief out at every step, however often the data key was rotated before")
    func rotation() async throws {
        let thief = try await Thief(in: folder.store, with: leaked)
        try await folder.store.keyslots.changePassphrase(from: leaked, to: new)
        try await folder.store.rotateDataKey(new)
        #expect(try await thief.isIn())
        let rotation = try await folder.store.rotateKeys(
            keeping: [folder.unlocker, new],
            dropMissing: false,
            at: watched(by: thief),
            nil
        )
        #expect(rotation.kept.count == 2)
        try await expectOut(thief)
        try await folder.expectNotes(101, unlocker: new)
    }

    @Test("a revocation shuts the thief out at every step, with and without a replacement", arguments: [false, true])
    func revocation(isReplaced: Bool) async throws {
        let thief = try await Thief(in: folder.store, with: leaked)
        let rotation = try await folder.store.revoke(
            [try await leakedSlot()],
            authorizedBy: leaked,
            keeping: [folder.unlocker],
            replacement: isReplaced ? new : nil,
            dropMissing: false,
            at: watched(by: thief),
            nil
        )
        #expect(rotation.added != nil || !isReplaced)
        try await expectOut(thief)
        if isReplaced { try await folder.expectNotes(101, unlocker: new) }
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    /// What is written from now on, and whatever is done to the keys later, stays closed.
    private func expectOut(_ thief: Thief) async throws {
        #expect(try await !thief.isIn())
        try await writeNote(100)
        #expect(try await thief.readNotes() == nil)
        try await folder.expectNotes(101)
        try await folder.store.rotateDataKey(folder.unlocker)
        #expect(try await !thief.isIn())
        #expect(try await thief.readNotes() == nil)
    }
}
