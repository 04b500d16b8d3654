internal import Foundation
internal import SecretMemory
internal import SQLCipherMaintenance
package import SQLCipherStore
package import StoreConformance
package import SyncContract

/// How the kit gets at ``EncryptedStore``.
package struct EncryptedStoreHarness: StoreHarness {
    package let name = "EncryptedStore"

    package init() {}

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> EncryptedStore {
        try await open(schema, place, .createNew)
    }

    package func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> EncryptedStore {
        try await open(schema, place, .openExisting)
    }

    package func reopenStore(
        _ schema: StoreSchema,
        translating translation: any QueueTranslation,
        at place: StoreLocation
    ) async throws -> EncryptedStore {
        try await open(schema, place, .openExisting, translation)
    }

    package func closeStore(_ store: EncryptedStore) async throws { await store.close() }

    package func changeKey(ofStoreAt place: StoreLocation, to key: StoreLocation.Key) async throws {
        let file = StoreFile(url(place))
        try await file.rekey(from: bytes(of: place.key), to: bytes(of: key))
    }

    package func lockStore(_ store: EncryptedStore) async throws { await store.lock() }

    package func unlockStore(_ store: EncryptedStore, at place: StoreLocation) async throws {
        try await store.unlock(key: bytes(of: place.key))
    }

    private func open(
        _ schema: StoreSchema,
        _ place: StoreLocation,
        _ mode: OpenMode,
        _ translation: (any QueueTranslation)? = nil
    ) async throws -> EncryptedStore {
        try await EncryptedStore.open(
            at: url(place),
            key: bytes(of: place.key),
            schema: schema,
            translating: translation,
            mode: mode
        )
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
