#if SecretService && KernelKeyring && TPM
import CKernelKeyring
import ChildProcesses
import Foundation
import KernelKeyringKeys
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("A slot whose secret is in the kernel's keyring")
struct KernelKeyringTests {
    private static let threadKeyring: Int32 = -1
    private static let userKeyring: Int32 = -4

    /// Does something to a key as one that possesses it, which its user does not without a link to the user's keyring.
    private func possessing(_ store: TestStore, _ body: (Int) -> Int) throws {
        let digits = store.slot.parameters.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
        let key = unsafe keyring_search(Self.userKeyring, "sealedsync:\(store.created.storeID):\(digits)")
        try #require(key >= 0)
        try #require(keyring_link(Self.threadKeyring, Int(Self.userKeyring)) == 0)
        defer { _ = keyring_unlink(Self.threadKeyring, Int(Self.userKeyring)) }
        try #require(body(key) == 0)
    }

    @Test("opens the store until the key is taken away")
    func opening() async throws {
        let unlocker = KernelKeyringUnlocker(label: "until the restart")
        let store = try await TestStore(unlocker)
        #expect(store.slot.kind == .kernelKeyring && store.slot.label == "until the restart")
        #expect(try await store.opens(with: unlocker))
        try unlocker.forget(store.slot, storeID: store.created.storeID)
        let error = await keyError { _ = try await store.open(unlocker) }
        #expect(error?.code == .secretUnavailable && error?.message.contains("started anew") == true)
        try unlocker.forget(store.slot, storeID: store.created.storeID)
        #expect(try await store.opens(with: store.file))
    }

    @Test("is not opened by the key of another store or slot")
    func otherStores() async throws {
        let unlocker = KernelKeyringUnlocker()
        let (one, other) = (try await TestStore(unlocker), try await TestStore(unlocker))
        defer { forget(one, other) }
        #expect(try await one.opens(with: unlocker))
        #expect(try await other.opens(with: unlocker))
        let error = await keyError { _ = try await unlocker.secret(of: one.slot, storeID: other.created.storeID) }
        #expect(error?.code == .secretUnavailable)
        let crafted = try slot(.kernelKeyring, [1, 2, 3])
        let malformed = await keyError { _ = try await unlocker.secret(of: crafted, storeID: one.created.storeID) }
        #expect(malformed?.code == .invalidParameters)
    }

    private func forget(_ stores: TestStore...) {
        for store in stores {
            #expect(throws: Never.self) {
                try KernelKeyringUnlocker().forget(store.slot, storeID: store.created.storeID)
            }
        }
    }

    @Test("never is the only way in")
    func survival() async throws {
        let folder = try TestFolder()
        let keyslots = folder.url.appending(path: "keyslots")
        let alone = await keyError {
            _ = try await StoreKeyring.create(at: keyslots, unlocker: KernelKeyringUnlocker())
        }
        #expect(alone?.code == .lastReliableSlot)
        let unlocker = KernelKeyringUnlocker()
        let store = try await TestStore(unlocker)
        defer { forget(store) }
        let last = await keyError { try await store.keyslots.remove(store.created.slots[0].id, keeping: [unlocker]) }
        #expect(last?.code == .lastReliableSlot)
    }

    @Test("says that the key was revoked")
    func revoked() async throws {
        let unlocker = KernelKeyringUnlocker()
        let store = try await TestStore(unlocker)
        defer { forget(store) }
        try possessing(store) { keyring_revoke($0) }
        let error = await keyError { _ = try await store.open(unlocker) }
        #expect(error?.code == .secretUnavailable && error?.message.contains("revoked") == true)
    }

    @Test("has as long to live as was asked for")
    func timeToLive() async throws {
        let storeID = try RandomSource.system.makeIdentifier()
        let unlocker = KernelKeyringUnlocker(timeToLive: 1)
        let brief = try slot(.kernelKeyring, try await unlocker.enroll(storeID: storeID).parameters)
        var error: KeyError?
        try await looking {
            error = await keyError { _ = try await unlocker.secret(of: brief, storeID: storeID) }
            return error != nil
        }
        #expect(error?.message.contains("expired") == true)
    }

    @Test("says that the key has expired, and lets another slot take its place")
    func expired() async throws {
        let unlocker = KernelKeyringUnlocker(timeToLive: 3600, label: "short")
        let store = try await TestStore(unlocker)
        #expect(try await store.opens(with: unlocker))
        try possessing(store) { keyring_set_timeout($0, 1) }
        // The kernel's clock is nobody's to turn.
        var error: KeyError?
        try await looking {
            error = await keyError { _ = try await store.open(unlocker) }
            return error != nil
        }
        #expect(error?.code == .secretUnavailable && error?.message.contains("expired") == true)

        let slot = try await store.keyslots.replace(
            store.slot.id,
            with: KernelKeyringUnlocker(),
            authorizedBy: store.file
        )
        #expect(slot.label == "short" && slot.id != store.slot.id)
        #expect(try await store.opens(with: unlocker))
        #expect(try await store.open(store.file).slots.map(\.id) == [store.created.slots[0].id, slot.id])
        try unlocker.forget(slot, storeID: store.created.storeID)
        let zero = await keyError {
            _ = try await KernelKeyringUnlocker(timeToLive: 0).enroll(storeID: store.created.storeID)
        }
        #expect(zero?.code == .invalidParameters)
    }
}
#endif
