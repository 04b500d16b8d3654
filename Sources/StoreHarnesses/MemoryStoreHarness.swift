package import ReferenceStore
package import StoreConformance
internal import Synchronization
package import SyncContract

/// How the kit gets at ``MemoryStore``: it is made, and one that is opened again takes over what the one before had.
package final class MemoryStoreHarness: StoreHarness {
    package let name: String
    private let make: @Sendable (StoreSchema) -> MemoryStore
    private let stores = Mutex<[StoreLocation: MemoryStore]>([:])

    package init(name: String = "MemoryStore", _ make: @escaping @Sendable (StoreSchema) -> MemoryStore) {
        self.name = name
        self.make = make
    }

    package convenience init() { self.init { MemoryStore($0) } }

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MemoryStore {
        keep(make(schema), place)
    }

    package func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MemoryStore {
        try await reopen(schema, nil, place)
    }

    package func reopenStore(
        _ schema: StoreSchema,
        translating translation: any QueueTranslation,
        at place: StoreLocation
    ) async throws -> MemoryStore {
        try await reopen(schema, translation, place)
    }

    private func reopen(
        _ schema: StoreSchema,
        _ translation: (any QueueTranslation)?,
        _ place: StoreLocation
    ) async throws -> MemoryStore {
        guard let before = stores.withLock({ $0[place] }) else {
            throw StoreError(.notFound, "There is no store at this place; make one first.")
        }
        return keep(try await before.reopened(with: schema, translating: translation), place)
    }

    private func keep(_ store: MemoryStore, _ place: StoreLocation) -> MemoryStore {
        stores.withLock { $0[place] = store }
        return store
    }
}
