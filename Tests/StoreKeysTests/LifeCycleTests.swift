import Foundation
import SecretMemory
import Synchronization
import Testing

@testable import StoreKeys

@Suite("Changing the slots of a keyslot file")
struct LifeCycleTests {
    private let folder: TemporaryFolder
    private let file: SecretFileUnlocker
    private let keyslots: Keyslots

    init() throws {
        folder = try TemporaryFolder()
        file = SecretFileUnlocker(at: folder.secretFile, label: "machine")
        keyslots = Keyslots(folder.keyslots)
    }

    private func opens(_ unlocker: any StoreUnlocker) async throws -> StoreKeyring {
        try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
    }

    private func code(_ unlocker: any StoreUnlocker) async -> KeyError.Code? {
        await keyErrorCode { _ = try await opens(unlocker) }
    }

    @Test("an added unlocker opens the same keys, and the ones before still do")
    func add() async throws {
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let passphrase = try PassphraseUnlocker.quick("second", label: "Ada's")
        let slot = try await keyslots.add(passphrase, authorizedBy: file)
        #expect(slot.label == "Ada's")
        for unlocker in [file, passphrase] as [any StoreUnlocker] {
            let opened = try await opens(unlocker)
            #expect(try opened.dataKey == created.dataKey)
            #expect(opened.slots.map(\.label) == ["machine", "Ada's"])
            #expect(opened.revision == 2)
        }
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.keyslots.path())
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test("without a right secret nothing is added, replaced, removed or renewed, and the file stays byte for byte")
    func unauthorized() async throws {
        let right = try PassphraseUnlocker.quick("right")
        let wrong = try PassphraseUnlocker.quick("wrong")
        let slotID = try await StoreKeyring.create(at: folder.keyslots, unlockers: [right, file]).slots[1].id
        let before = try Data(contentsOf: folder.keyslots)
        #expect(await keyErrorCode { try await keyslots.add(file, authorizedBy: wrong) } == .wrongSecret)
        #expect(await keyErrorCode { try await keyslots.replace(wrong, with: file) } == .wrongSecret)
        #expect(await keyErrorCode { try await keyslots.remove(slotID, keeping: [wrong]) } == .wrongSecret)
        #expect(await keyErrorCode { try await keyslots.remove(slotID, keeping: [right, wrong]) } == .wrongSecret)
        #expect(await keyErrorCode { try await keyslots.renewRootKey(keeping: [wrong]) } == .wrongSecret)
        let code = await keyErrorCode {
            _ = try await keyslots.rotateDataKey(authorizedBy: wrong) { _, _ in Issue.record("re-encrypted") }
        }
        #expect(code == .wrongSecret)
        #expect(try Data(contentsOf: folder.keyslots) == before)
    }

    @Test("a changed passphrase opens, the old one does not, and every other unlocker and the keys stay")
    func changePassphrase() async throws {
        let (old, new) = (try PassphraseUnlocker.quick("old"), try PassphraseUnlocker.quick("new"))
        let created = try await StoreKeyring.create(at: folder.keyslots, unlockers: [old, file])
        try await keyslots.changePassphrase(from: old, to: new)
        #expect(await code(old) == .wrongSecret)
        #expect(try await opens(new).dataKey == created.dataKey)
        #expect(try await opens(file).dataKey == created.dataKey)
        #expect(try await opens(file).slots.count == 2)
    }

    @Test("a removed slot opens nothing any more, and slots without an unlocker at hand are dropped and named")
    func remove() async throws {
        let unlockers = try ["stays", "goes", "forgotten"].map { try PassphraseUnlocker.quick($0, label: $0) }
        let created = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers + [file])
        let before = try await KeyslotFile.read(at: folder.keyslots)
        let removal = try await keyslots.remove(created.slots[1].id, keeping: [file, unlockers[0]])
        #expect(removal.removed?.label == "goes")
        #expect(removal.dropped.map(\.label) == ["forgotten"])
        #expect(removal.kept.map(\.label) == ["stays", "machine"])
        #expect(await code(unlockers[1]) == .wrongSecret)
        #expect(await code(unlockers[2]) == .wrongSecret)
        #expect(try await opens(unlockers[0]).dataKey == created.dataKey)
        #expect(try await opens(file).dataKey == created.dataKey)

        // Whoever kept the old file has the old root key, which is of no use with the new one.
        let after = try await KeyslotFile.read(at: folder.keyslots)
        let oldRootKey = try await before.openSlot(with: unlockers[1]).rootKey
        #expect(try !after.isAuthentic(under: oldRootKey))
        #expect(await keyErrorCode { _ = try after.dataKey(.current, rootKey: oldRootKey) } == .damagedFile)
    }

    @Test("the last reliable slot cannot go, and nothing is written when it is tried")
    func lastReliableSlot() async throws {
        let fleeting = try KeyServiceUnlocker.fleeting
        let code = await keyErrorCode { _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: fleeting) }
        #expect(code == .lastReliableSlot)
        #expect(try folder.names() == [])

        let slot = try await StoreKeyring.create(at: folder.keyslots, unlockers: [file, fleeting]).slots[0]
        let before = try Data(contentsOf: folder.keyslots)
        for kept in [[], [fleeting]] as [[any StoreUnlocker]] {
            #expect(await keyErrorCode { try await keyslots.remove(slot.id, keeping: kept) } == .lastReliableSlot)
        }
        #expect(await keyErrorCode { try await keyslots.replace(file, with: fleeting) } == .lastReliableSlot)
        // The one to be removed does not count among those that stay.
        for kept in [[file], [file, fleeting]] as [[any StoreUnlocker]] {
            #expect(await keyErrorCode { try await keyslots.remove(slot.id, keeping: kept) } == .lastReliableSlot)
        }
        #expect(try Data(contentsOf: folder.keyslots) == before)
        #expect(try await opens(fleeting).slots.count == 2)
    }

    @Test("a slot that is not there, and a thirty-third one, are refused")
    func limits() async throws {
        let unlockers = Array(repeating: try PassphraseUnlocker.quick("many"), count: 32)
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers)
        #expect(await keyErrorCode { try await keyslots.add(file, authorizedBy: unlockers[0]) } == .invalidParameters)
        let other = try RandomSource.system.makeIdentifier()
        #expect(await keyErrorCode { try await keyslots.remove(other, keeping: [unlockers[0]]) } == .invalidParameters)
    }

    @Test("an unlocker that gives another secret when asked again gets no slot")
    func unreliable() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let before = try Data(contentsOf: folder.keyslots)
        let moody = KeyServiceUnlocker(
            kind: try SlotKind("moody"),
            wrap: { _ in [1] },
            unwrap: { _ in try .random(count: 32) }
        )
        #expect(await keyErrorCode { try await keyslots.add(moody, authorizedBy: file) } == .unreliableUnlocker)
        #expect(await keyErrorCode { try await keyslots.replace(file, with: moody) } == .unreliableUnlocker)
        #expect(try Data(contentsOf: folder.keyslots) == before)
    }

    @Test("unlocking raises a slot's cost to what is asked for today, never lowers it, and keeps every other slot")
    func raisedCost() async throws {
        let passphrase = try SecretBytes(text: "passphrase")
        func unlocker(_ log2N: Int, label: String = "") -> PassphraseUnlocker {
            PassphraseUnlocker(
                passphrase: passphrase,
                cost: .insecureForTests(log2N: log2N, blockSize: 8, parallelization: 1),
                label: label
            )
        }
        func cost() async throws -> Int {
            try await ScryptSlotParameters(decoding: KeyslotFile.read(at: folder.keyslots).slots[0].parameters).cost
                .log2N
        }
        let created = try await StoreKeyring.create(at: folder.keyslots, unlockers: [unlocker(4, label: "L"), file])
        guard case .notNeeded = try await opens(unlocker(4)).slotRenewal else { throw Unexpected() }
        guard case .done = try await opens(unlocker(6)).slotRenewal else { throw Unexpected() }
        #expect(try await cost() == 6)
        let before = try Data(contentsOf: folder.keyslots)
        guard case .notNeeded = try await opens(unlocker(5)).slotRenewal else { throw Unexpected() }
        #expect(try Data(contentsOf: folder.keyslots) == before)
        for unlocker in [unlocker(6), file] as [any StoreUnlocker] {
            #expect(try await opens(unlocker).dataKey == created.dataKey)
        }
        let slots = try await opens(file).slots
        #expect(slots.map(\.label) == ["L", "machine"])
        #expect(slots.map(\.created) == created.slots.map(\.created), "the secret is as old as it was")
    }

    @Test("a replaced slot keeps its label, unless the new unlocker has one of its own")
    func label() async throws {
        let passphrases = try ["first", "second"].map { try PassphraseUnlocker.quick($0) }
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: PassphraseUnlocker.quick("zero", label: "L"))
        #expect(try await keyslots.changePassphrase(from: .quick("zero"), to: passphrases[0]).label == "L")
        #expect(try await keyslots.replace(passphrases[0], with: file).label == "machine")
        #expect(try await keyslots.replace(file, with: passphrases[1]).label == "machine")
        #expect(try await opens(passphrases[1]).slots.map(\.label) == ["machine"])
    }

    @Test("a slot whose cost cannot be raised opens all the same, and says why it was not")
    func costNotRaised() async throws {
        let passphrase = try SecretBytes(text: "passphrase")
        let weak = PassphraseUnlocker(passphrase: passphrase, cost: .quick)
        let strong = PassphraseUnlocker(
            passphrase: passphrase,
            cost: .insecureForTests(log2N: 5, blockSize: 8, parallelization: 1)
        )
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: weak)
        let lock = try PrivateFile(folder.keyslots, role: "keyslot file").lock(maximum: KeyslotFile.maximumSize)
        let opened = try await opens(strong)
        guard case .failed(let error) = opened.slotRenewal else { throw Unexpected() }
        #expect(error.code == .inUse)
        #expect(try opened.dataKey == created.dataKey)
        _ = consume lock
    }

    /// Asks for a dearer slot, and renews the root key while it is asked for its secret first.
    private final class Restless: StoreUnlocker {
        private let inner: PassphraseUnlocker
        private let keyslots: Keyslots
        private let hasRenewed = Atomic(false)

        init(_ inner: PassphraseUnlocker, _ keyslots: Keyslots) { (self.inner, self.keyslots) = (inner, keyslots) }

        var slotKind: SlotKind { inner.slotKind }
        func wantsRenewal(of slot: Keyslot) -> Bool { true }
        func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment {
            try await inner.enroll(storeID: storeID)
        }
        func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
            if !hasRenewed.exchange(true, ordering: .relaxed) { try await keyslots.renewRootKey(keeping: [inner]) }
            return try await inner.secret(of: slot, storeID: storeID)
        }
    }

    @Test("a slot is not made anew when the root key was renewed meanwhile: the file would be under the one of before")
    func renewalOverAnotherRootKey() async throws {
        let passphrase = try PassphraseUnlocker.quick("passphrase")
        let created = try await StoreKeyring.create(at: folder.keyslots, unlocker: passphrase)
        let restless = Restless(passphrase, keyslots)
        guard case .failed(let error) = try await opens(restless).slotRenewal else { throw Unexpected() }
        #expect(error.code == .inUse)
        let opened = try await opens(passphrase)
        #expect(try opened.dataKey == created.dataKey)
        #expect(opened.revision == 2)
    }

    @Test("a change is refused while another one is under way, in this process as well, and succeeds afterwards")
    func competingChange() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let slow = KeyServiceUnlocker(
            kind: try SlotKind("slow"),
            wrap: { [keyslots, file] secret in
                // The first change has the lock while it waits for this unlocker.
                let code = await keyErrorCode {
                    try await keyslots.add(PassphraseUnlocker.quick("late"), authorizedBy: file)
                }
                #expect(code == .inUse)
                return secret.revealed
            },
            unwrap: { try SecretBytes(bytes: $0) }
        )
        try await keyslots.add(slow, authorizedBy: file)
        try await keyslots.add(PassphraseUnlocker.quick("late"), authorizedBy: file)
        #expect(try await opens(PassphraseUnlocker.quick("late")).slots.count == 3)
    }

    @Test("a file that was exchanged underneath is left as it is")
    func changedUnderneath() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let other = folder.url.appending(path: "other")
        _ = try await StoreKeyring.create(at: other, unlocker: file)
        for exchange in [true, false] {
            let meddling = KeyServiceUnlocker(
                kind: try SlotKind("meddling"),
                wrap: { [folder] secret in
                    // Once as another file under the same name, once into the same file.
                    if exchange {
                        try #require(unsafe rename(other.path(), folder.keyslots.path()) == 0)
                    } else {
                        let handle = try FileHandle(forWritingTo: folder.keyslots)
                        try handle.write(contentsOf: [0])
                        try handle.close()
                    }
                    return secret.revealed
                },
                unwrap: { try SecretBytes(bytes: $0) }
            )
            #expect(await keyErrorCode { try await keyslots.add(meddling, authorizedBy: file) } == .inUse)
        }
        #expect(try folder.names() == ["store.keyslots", "store.secret"])
        #expect(try Data(contentsOf: folder.keyslots).first == 0)
    }

    @Test("a file that has become longer meanwhile was changed, and is not taken for damaged")
    func grownUnderneath() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        let meddling = KeyServiceUnlocker(
            kind: try SlotKind("meddling"),
            wrap: { [folder] secret in
                let handle = try FileHandle(forWritingTo: folder.keyslots)
                try handle.seekToEnd()
                try handle.write(contentsOf: [0])
                try handle.close()
                return secret.revealed
            },
            unwrap: { try SecretBytes(bytes: $0) }
        )
        #expect(await keyErrorCode { try await keyslots.add(meddling, authorizedBy: file) } == .inUse)
    }

    @Test("a locked keyring gives no keys, and the file opens again")
    func lockedKeyring() async throws {
        let keyring = try await StoreKeyring.create(at: folder.keyslots, unlocker: file)
        keyring.lock()
        keyring.lock()
        #expect(await keyErrorCode { _ = try keyring.dataKey } == .locked)
        #expect(await keyErrorCode { _ = try keyring.pendingDataKey } == .locked)
        #expect(keyring.slots.count == 1)
        _ = try await opens(file).dataKey
    }

    @Test(
        "a policy reports the age of the data key and the slots that are due, and takes a key from the future for new"
    )
    func keyAge() async throws {
        let unlockers = [try PassphraseUnlocker.quick("a", label: "a"), try PassphraseUnlocker.quick("b", label: "b")]
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers)
        let file = try await KeyslotFile.read(at: folder.keyslots)
        let (made, day) = (file.dataKeyCreated, 24.0 * 60 * 60)
        let young = KeyAgePolicy.standard.report(on: file, at: made + 300 * day)
        #expect(young.dataKeyAge == 300 * day)
        #expect(!young.isDataKeyRotationDue)
        #expect(young.slotsDue.isEmpty)
        let middle = KeyAgePolicy.standard.report(on: file, at: made + 365 * day)
        #expect(!middle.isDataKeyRotationDue)
        #expect(middle.slotsDue.map(\.label) == ["a", "b"])
        #expect(KeyAgePolicy.standard.report(on: file, at: made + 730 * day).isDataKeyRotationDue)
        let past = KeyAgePolicy.standard.report(on: file, at: made - 1000 * day)
        #expect(past.dataKeyAge == 0)
        #expect(!past.isDataKeyRotationDue)
    }
}

private struct Unexpected: Error {}

extension KeyServiceUnlocker {
    /// A service that has forgotten its key after a restart; here it is none at all.
    static var fleeting: KeyServiceUnlocker {
        get throws {
            KeyServiceUnlocker(
                kind: try SlotKind("fleeting"),
                survivesRestart: false,
                wrap: { $0.revealed },
                unwrap: { try SecretBytes(bytes: $0) }
            )
        }
    }
}
