import StoreConformance
import SyncContract

struct MyHarness: StoreHarness {
    let name = "MyStore"

    // An empty store with these tables, in a folder of its own.
    func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MyStore {
        try await MyStore(schema, path: place.folder + "/my.db")
    }

    // The same store again, after it was closed or its process was killed. The schema may differ.
    func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> MyStore {
        try await MyStore(schema, path: place.folder + "/my.db")
    }

    func closeStore(_ store: MyStore) async throws { await store.close() }
}

private func judging() async {
    await ConformanceMain.run(MyHarness())
}
