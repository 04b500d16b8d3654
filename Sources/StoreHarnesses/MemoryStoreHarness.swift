package import ReferenceStore
package import StoreConformance
package import SyncContract

/// How the kit gets at ``MemoryStore``: it is made, and that is all.
package struct MemoryStoreHarness: StoreHarness {
    package let name = "MemoryStore"

    package init() {}

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MemoryStore {
        MemoryStore(schema)
    }
}
