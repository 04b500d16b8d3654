import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Putting a slot in the place of one that nothing opens any more")
struct SlotReplacementTests {
    private let folder: TemporaryFolder
    private let file: SecretFileUnlocker
    private let keyslots: Keyslots

    init() throws {
        folder = try TemporaryFolder()
        file = SecretFileUnlocker(at: folder.secretFile, label: "machine")
        keyslots = Keyslots(folder.keyslots)
    }

    private func opens(_ unlocker: any StoreUnlocker) async -> Bool {
        await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) } == nil
    }

    private func service(survivesRestart: Bool) throws -> KeyServiceUnlocker {
        KeyServiceUnlocker(
            kind: try SlotKind("service"),
            survivesRestart: survivesRestart,
            wrap: { $0.revealed.map { $0 ^ 1 } },
            unwrap: { try SecretBytes(bytes: $0.map { $0 ^ 1 }) }
        )
    }

    @Test("keeps its place, its label and the other slots; the old secret opens nothing")
    func replacement() async throws {
        let (lost, new) = (try PassphraseUnlocker.quick("lost", label: "Ada's"), try PassphraseUnlocker.quick("new"))
        let last = try service(survivesRestart: true)
        let before = try await StoreKeyring.create(at: folder.keyslots, unlockers: [file, lost, last])
        let slot = try await keyslots.replace(before.slots[1].id, with: new, authorizedBy: file)
        #expect(slot.label == "Ada's" && slot.id != before.slots[1].id)
        let after = try await StoreKeyring.open(at: folder.keyslots, unlocker: new)
        #expect(after.slots.map(\.id) == [before.slots[0].id, slot.id, before.slots[2].id])
        #expect(try after.dataKey == before.dataKey)
        #expect(await opens(file))
        #expect(await opens(last))
        #expect(await !opens(lost))
    }

    @Test("is refused without an authorizer, without the slot, and where nothing would be left after a restart")
    func refusals() async throws {
        let (reliable, forgetful) = (try service(survivesRestart: true), try service(survivesRestart: false))
        let slots = try await StoreKeyring.create(at: folder.keyslots, unlockers: [file, reliable]).slots
        let before = try Data(contentsOf: folder.keyslots)
        let other = SecretFileUnlocker(at: folder.url.appending(path: "other"))
        _ = try await other.enroll(storeID: slots[0].id)
        let attempts: [(Keyslot.ID, new: any StoreUnlocker, authorizer: any StoreUnlocker, KeyError.Code)] = [
            (slots[1].id, reliable, other, .wrongSecret),
            (try RandomSource.system.makeIdentifier(), reliable, file, .invalidParameters),
            (slots[0].id, forgetful, file, .lastReliableSlot),
            (slots[0].id, forgetful, forgetful, .lastReliableSlot),
        ]
        for (slot, new, authorizer, code) in attempts {
            #expect(
                await keyErrorCode { try await keyslots.replace(slot, with: new, authorizedBy: authorizer) } == code
            )
        }
        #expect(try Data(contentsOf: folder.keyslots) == before)
        // The authorizer's own slot may be replaced by something as reliable.
        try await keyslots.replace(slots[0].id, with: try PassphraseUnlocker.quick("new"), authorizedBy: file)
        #expect(await !opens(file))
        try await keyslots.replace(slots[1].id, with: forgetful, authorizedBy: try PassphraseUnlocker.quick("new"))
        #expect(await opens(forgetful))
    }
}
