package import StoreConformance
package import SyncContract

/// How the kit gets at ``LogStore``.
package struct LogStoreHarness: StoreHarness {
    package let name = "LogStore"

    package init() {}

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> LogStore {
        try LogStore(schema, at: place.folder + "/rows.log", creating: true)
    }

    package func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> LogStore {
        try LogStore(schema, at: place.folder + "/rows.log", creating: false)
    }

    package func closeStore(_ store: LogStore) async throws { await store.close() }
}
