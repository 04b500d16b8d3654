import ReferenceStore
import StoreConformance
import SyncContract

/// The store of an author who reads the pages of the kit: one in memory that is opened at a path.
typealias MyStore = FaultyStore<MemoryStore>

extension FaultyStore<MemoryStore> {
    convenience init(_ schema: StoreSchema, path: String) async throws { self.init(MemoryStore(schema)) { _ in nil } }

    func close() async {}
}
