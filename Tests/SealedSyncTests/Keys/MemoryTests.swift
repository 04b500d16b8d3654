#if os(Linux)
import Foundation
import SealedSync
import Testing

@testable import StoreKeys

@Suite("Traces of secrets in the memory of the process")
struct MemoryTests {
    private let folder: UserFolder
    private let scan: MemoryScan

    init() throws {
        folder = try UserFolder()
        scan = try MemoryScan()
    }

    /// What ends the use of a store.
    enum End: CaseIterable {
        case lock
        case close
    }

    @Test("after locking or closing a store there is none, while it is open there are", arguments: End.allCases)
    func store(end: End) async throws {
        let passphrase = try SecretBytes.random(count: 24)
        scan.look(for: "the passphrase", passphrase)
        let store = try await folder.store.create(
            UserFolder.schema,
            unlocker: PassphraseUnlocker(
                passphrase: passphrase,
                cost: .insecureForTests(log2N: 10, blockSize: 8, parallelization: 1)
            )
        )
        try await rememberKeys(passphrase)
        // Both kinds of connections have been used, and the cache has been filled and spilled.
        try await store.upsert((0..<2000).map(UserFolder.note), table: "notes")
        #expect(try await store.read(Query("notes")).records.count == 2000)
        let open = try scan.findings()
        #expect(open.contains { $0.hasPrefix("the data key at") })

        switch end {
        case .lock: await store.lock()
        case .close: await store.close()
        }
        let unlocked = try scan.findings().filter { !$0.hasPrefix("the passphrase") }
        #expect(unlocked == [], "the store object is still there")
        withExtendedLifetime(store) {}
        withExtendedLifetime(passphrase) {}
    }

    @Test("after the last use of a passphrase there is none of it either, nor of what a rotation has used")
    func rotation() async throws {
        do {
            let passphrase = try SecretBytes.random(count: 24)
            scan.look(for: "the passphrase", passphrase)
            let unlocker = PassphraseUnlocker(
                passphrase: passphrase,
                cost: .insecureForTests(log2N: 10, blockSize: 8, parallelization: 1)
            )
            let store = try await folder.store.create(UserFolder.schema, unlocker: unlocker)
            try await store.upsert((0..<500).map(UserFolder.note), table: "notes")
            await store.close()
            try await rememberKeys(passphrase)
            try await folder.store.rotateDataKey(unlocker).lock()
            try await rememberKeys(passphrase)
            #expect(try scan.findings().contains { $0.hasPrefix("the passphrase") })
        }
        #expect(try scan.findings() == [])
    }

    /// Every key that opening the store derives or unwraps.
    private func rememberKeys(_ passphrase: SecretBytes) async throws {
        let unlocker = PassphraseUnlocker(passphrase: passphrase)
        let file = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        let slot = file.slots[0]
        let secret = try await unlocker.secret(of: slot, storeID: file.storeID)
        scan.look(for: "the slot's secret", secret)
        scan.look(
            for: "the slot's wrapping key",
            try KeyslotFile.slotWrappingKey(from: secret, storeID: file.storeID, slotID: slot.id)
        )
        let rootKey = try #require(try file.rootKey(in: slot, secret: secret))
        scan.look(for: "the root key", rootKey)
        scan.look(
            for: "the wrapping key of the data keys",
            try KeyslotFile.dataKeyWrappingKey(from: rootKey, storeID: file.storeID)
        )
        scan.look(
            for: "the file's authentication key",
            try KeyslotFile.authenticationKey(from: rootKey, storeID: file.storeID)
        )
        let dataKey = try #require(try file.dataKey(.current, rootKey: rootKey))
        scan.look(for: "the data key", dataKey)
        scan.lookForHexadecimal(of: "the data key", dataKey)
    }
}
#endif
