internal import Foundation
internal import ReferenceStore
internal import SealedSync
internal import StoreConformance

/// How the kit gets at ``MemoryStore``: it is made, and that is all.
struct MemoryStoreHarness: StoreHarness {
    let name = "MemoryStore"

    func makeStore(_ schema: StoreSchema, at place: StorePlace) async throws -> MemoryStore { MemoryStore(schema) }
}

/// How the kit gets at ``EncryptedStore``.
struct EncryptedStoreHarness: StoreHarness {
    let name = "EncryptedStore"

    func makeStore(_ schema: StoreSchema, at place: StorePlace) async throws -> EncryptedStore {
        try await open(schema, place, .createNew)
    }

    func reopenStore(_ schema: StoreSchema, at place: StorePlace) async throws -> EncryptedStore {
        try await open(schema, place, .openExisting)
    }

    func closeStore(_ store: EncryptedStore) async throws { await store.close() }

    private func open(_ schema: StoreSchema, _ place: StorePlace, _ mode: OpenMode) async throws -> EncryptedStore {
        // Two keys for stores that nobody will ever need again.
        let byte: UInt8 = place.key == .first ? 0x17 : 0x2A
        let key = unsafe try SecretBytes(count: 32) { buffer in
            for index in 0..<32 { unsafe buffer[index] = byte &+ UInt8(index) }
        }
        let url = URL(fileURLWithPath: place.folder).appendingPathComponent("store.db")
        return try await EncryptedStore.open(at: url, key: key, schema: schema, mode: mode)
    }
}
