import Foundation
import SealedSync
import Testing

/// Somebody with a copy of an old keyslot file and a secret that opened it, who finds the store's files again later.
struct KeyThief {
    private let store: StoreFolder
    private var rootKeys: [SecretBytes]
    private var dataKeys: [SecretBytes] = []

    /// Copies the keyslot file and opens the copy.
    init(in store: StoreFolder, with secret: some StoreUnlocker) async throws {
        self.store = store
        let copy = try Self.keyslots(of: store)
        rootKeys = []
        for slot in copy.slots where slot.kind == secret.slotKind {
            let slotSecret = try await secret.secret(of: slot, storeID: copy.storeID)
            if let rootKey = try copy.rootKey(in: slot, secret: slotSecret) { rootKeys.append(rootKey) }
        }
        try #require(!rootKeys.isEmpty, "the secret opens the copy")
    }

    private static func keyslots(of store: StoreFolder) throws -> KeyslotFile {
        try KeyslotFile(decoding: [UInt8](Data(contentsOf: store.keyslotsURL)))
    }

    /// Unwraps what the keyslot file has today with the root keys of the copy, and tries every data key that this has
    /// ever given on the database of today.
    mutating func opensDatabase() async throws -> Bool {
        let today = try Self.keyslots(of: store)
        for rootKey in rootKeys {
            for role in [WrappedDataKey.Role.current, .pending] {
                do {
                    if let key = try today.dataKey(role, rootKey: rootKey) { dataKeys.append(key) }
                } catch let error as KeyError {
                    #expect(error.code == .damagedFile, "another root key")
                }
            }
        }
        for key in dataKeys where try await StoreFile(store.databaseURL).isEncrypted(with: key) { return true }
        return false
    }

    /// Every text in the to-do list that one of the keys opens.
    func readTodos() async throws -> [String] {
        for key in dataKeys {
            do {
                let store = try await EncryptedStore.openWithStoredSchema(at: store.databaseURL, key: key)
                let todos = try await store.read(Query("TodoItem")).records
                await store.close()
                return todos.compactMap { $0["text"]?.stringValue }
            } catch let error as StoreError where error.code == .wrongKey {
                continue
            }
        }
        return []
    }
}
