internal import Foundation
internal import ReferenceStore
internal import SealedSync
internal import StoreConformance

/// How the kit gets at ``MemoryStore``: it is made, and that is all.
struct MemoryStoreHarness: StoreHarness {
    let name = "MemoryStore"

    func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MemoryStore { MemoryStore(schema) }
}

/// How the kit gets at ``EncryptedStore``.
struct EncryptedStoreHarness: StoreHarness {
    let name = "EncryptedStore"

    func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> EncryptedStore {
        try await open(schema, place, .createNew)
    }

    func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> EncryptedStore {
        try await open(schema, place, .openExisting)
    }

    func closeStore(_ store: EncryptedStore) async throws { await store.close() }

    func changeKey(ofStoreAt place: StoreLocation, to key: StoreLocation.Key) async throws {
        let file = StoreFile(url(place))
        try await file.rekey(from: bytes(of: place.key), to: bytes(of: key))
    }

    private func open(_ schema: StoreSchema, _ place: StoreLocation, _ mode: OpenMode) async throws -> EncryptedStore {
        try await EncryptedStore.open(at: url(place), key: bytes(of: place.key), schema: schema, mode: mode)
    }

    private func url(_ place: StoreLocation) -> URL {
        URL(fileURLWithPath: place.folder).appendingPathComponent("store.db")
    }

    /// Two keys, for stores that nobody will ever need again.
    private func bytes(of key: StoreLocation.Key) throws -> SecretBytes {
        let byte: UInt8 = key == .first ? 0x17 : 0x2A
        return unsafe try SecretBytes(count: 32) { buffer in
            for index in 0..<32 { unsafe buffer[index] = byte &+ UInt8(index) }
        }
    }
}
