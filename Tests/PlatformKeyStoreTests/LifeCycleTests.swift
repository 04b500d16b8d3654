#if SecretService && KernelKeyring && TPM
import Foundation
import KernelKeyringKeys
import PlatformKeyStores
import SecretMemory
import StoreKeys
import Testing

@Suite("Slots of the platform's key stores go the way of all slots")
struct LifeCycleTests {
    /// One of the key stores, and what has to run for it.
    final class World: Sendable {
        let unlocker: any StoreUnlocker
        private let running: any Sendable

        init(_ kind: PlatformKeyStore) async throws {
            switch kind {
            case .secretService:
                let session = try await SecretServiceSession()
                (unlocker, running) = (session.unlocker(), session)
            case .keyring:
                (unlocker, running) = (KernelKeyringUnlocker(timeToLive: 600), ())
            case .tpm:
                let tpm = try await SoftwareTPM(in: TestFolder())
                (unlocker, running) = (tpm.unlocker, tpm)
            }
        }
    }

    @Test("through rotations of one key and of both", arguments: PlatformKeyStore.allCases)
    func rotation(_ kind: PlatformKeyStore) async throws {
        let world = try await World(kind)
        let store = try await TestStore(world.unlocker)
        let rotated = try await store.keyslots.rotateDataKey(authorizedBy: world.unlocker) { _, _ in }
        #expect(try await store.open(world.unlocker).dataKey == rotated.dataKey)
        let missing = await keyError {
            _ = try await store.keyslots.rotateKeys(keeping: [store.file], isEncryptedWith: { _ in true }) { _, _, _ in
            }
        }
        #expect(missing?.code == .missingUnlocker)
        let rotation = try await store.keyslots.rotateKeys(
            keeping: [world.unlocker, store.file],
            isEncryptedWith: { _ in true },
            reencrypt: { _, _, commit in try commit() }
        )
        #expect(rotation.kept.map(\.id) == store.created.slots.map(\.id))
        #expect(try await store.open(world.unlocker).dataKey == rotation.keyring.dataKey)
        #expect(try await store.open(store.file).dataKey == rotation.keyring.dataKey)
    }

    @Test("through a rotation that was interrupted", arguments: PlatformKeyStore.allCases)
    func recovery(_ kind: PlatformKeyStore) async throws {
        struct Interruption: Error {}
        let world = try await World(kind)
        let store = try await TestStore(world.unlocker)
        await #expect(throws: Interruption.self) {
            try await store.keyslots.rotateKeys(
                keeping: [world.unlocker, store.file],
                isEncryptedWith: { _ in true },
                reencrypt: { _, _, commit in
                    try commit()
                    throw Interruption()
                }
            )
        }
        let old = try store.created.dataKey
        let recovered = try await store.keyslots.recoverRotation(authorizedBy: world.unlocker) { $0 == old }
        #expect(try recovered.dataKey == old)
        #expect(try await store.opens(with: world.unlocker))
    }

    @Test(
        "through a revocation, which shuts them out, also with the secret that is left",
        arguments: PlatformKeyStore.allCases
    )
    func revocation(_ kind: PlatformKeyStore) async throws {
        let world = try await World(kind)
        let store = try await TestStore(world.unlocker)
        // A second slot of the same kind has a secret of its own, and stays.
        let second = try await store.keyslots.add(world.unlocker, authorizedBy: world.unlocker)
        let rotation = try await store.keyslots.revoke(
            [store.slot.id],
            authorizedBy: store.file,
            keeping: [world.unlocker],
            isEncryptedWith: { _ in true },
            reencrypt: { _, _, commit in try commit() }
        )
        #expect(rotation.revoked.map(\.id) == [store.slot.id])
        #expect(try await store.open(world.unlocker).dataKey == rotation.keyring.dataKey)
        let last = try await store.keyslots.revoke(
            [second.id],
            authorizedBy: world.unlocker,
            keeping: [store.file],
            isEncryptedWith: { _ in true },
            reencrypt: { _, _, commit in try commit() }
        )
        #expect(last.kept.count == 1)
        #expect(await keyError { _ = try await store.open(world.unlocker) }?.code == .secretUnavailable)
    }

    @Test("the tool makes unlockers of these kinds", arguments: PlatformKeyStore.allCases)
    func tool(_ kind: PlatformKeyStore) throws {
        let unlocker = try #require(kind.unlocker(label: "name"))
        #expect(unlocker.slotKind == kind.slotKind && unlocker.slotLabel == "name")
    }
}
#endif
