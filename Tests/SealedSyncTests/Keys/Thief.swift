import Foundation
import SealedSync
import Synchronization
import Testing

@testable import StoreKeys

/// Somebody with a copy of an old keyslot file and a secret that opened it, who looks at every later state of the folder.
///
/// Whatever a copy and the secret give away is kept: root keys, and the data keys that these unwrap.
final class Thief: Sendable {
    private struct Loot {
        var rootKeys: [SecretBytes]
        var dataKeys: [SecretBytes]
    }

    private let store: StoreFolder
    private let secret: any StoreUnlocker
    private let loot: Mutex<Loot>

    /// Copies the keyslot file and opens the copy.
    init(in store: StoreFolder, with secret: any StoreUnlocker) async throws {
        let copy = try KeyslotFile(decoding: [UInt8](Data(contentsOf: store.keyslotsURL)))
        self.store = store
        self.secret = secret
        loot = Mutex(Loot(rootKeys: [try await copy.openSlot(with: secret).rootKey], dataKeys: []))
        try look()
        #expect(try await opensDatabase())
    }

    /// Copies the keyslot file as it is now, and unwraps with every root key at hand what lies in it.
    func look() throws {
        let copy = try KeyslotFile(decoding: [UInt8](Data(contentsOf: store.keyslotsURL)))
        loot.withLock { loot in
            for rootKey in loot.rootKeys {
                for role in [WrappedDataKey.Role.current, .pending] {
                    do {
                        if let key = try copy.dataKey(role, rootKey: rootKey) { loot.dataKeys.append(key) }
                    } catch {
                        // It is under a root key that the thief does not have.
                    }
                }
            }
        }
    }

    /// Tries the secret on the keyslot file as it is now.
    func trySecret() async throws {
        do {
            let rootKey = try await KeyslotFile.read(at: store.keyslotsURL).openSlot(with: secret).rootKey
            loot.withLock { $0.rootKeys.append(rootKey) }
        } catch let error as KeyError {
            #expect(error.code == .wrongSecret || error.code == .secretUnavailable)
        }
    }

    /// Whether one of the data keys opens the database as it is now.
    func opensDatabase() async throws -> Bool {
        for key in loot.withLock({ $0.dataKeys }) {
            guard try await StoreFile(store.databaseURL).isEncrypted(with: key) else { continue }
            return true
        }
        return false
    }

    /// Looks at what there is now in every way, and tells whether the thief reads what is written today.
    func isIn() async throws -> Bool {
        try await trySecret()
        try look()
        return try await opensDatabase()
    }

    /// The notes that the thief reads in the database as it is now; nil when no key opens it.
    func readNotes() async throws -> Int? {
        for key in loot.withLock({ $0.dataKeys }) {
            do {
                let store = try await EncryptedStore.open(at: store.databaseURL, key: key, schema: UserFolder.schema)
                let count = try await store.read(Query("notes")).records.count
                await store.close()
                return count
            } catch let error as StoreError where error.code == .wrongKey {
                continue
            }
        }
        return nil
    }
}
