import Foundation
package import StoreConformance
package import SyncContract

/// How the kit gets at ``FileStore``, right or wrong.
package struct FileStoreHarness: StoreHarness {
    package let name: String
    private let faults: FileStore.Faults

    package init(name: String = "FileStore", _ faults: FileStore.Faults = FileStore.Faults()) {
        self.name = name
        self.faults = faults
    }

    package func makeStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> FileStore {
        try FileStore(schema, at: url(place), key: "\(place.key)", creating: true, faults)
    }

    package func reopenStore(_ schema: StoreSchema, at place: StoreLocation) async throws -> FileStore {
        try FileStore(schema, at: url(place), key: "\(place.key)", creating: false, faults)
    }

    package func reopenStore(
        _ schema: StoreSchema,
        translating translation: any QueueTranslation,
        at place: StoreLocation
    ) async throws -> FileStore {
        try FileStore(
            schema,
            at: url(place),
            key: "\(place.key)",
            creating: false,
            translating: translation,
            faults
        )
    }

    package func closeStore(_ store: FileStore) async throws { try await store.close() }

    package func changeKey(ofStoreAt place: StoreLocation, to key: StoreLocation.Key) async throws {
        var tables = try FileTables(reading: url(place), faults)
        tables.key = "\(key)"
        if faults.losesOperationsOnKeyChange { tables.tables["MS_TableOperations"] = [:] }
        try tables.save(to: url(place), faults)
    }

    private func url(_ place: StoreLocation) -> URL {
        let folder = URL(fileURLWithPath: place.folder)
        return (faults.sharesPlaces ? folder.deletingLastPathComponent() : folder).appendingPathComponent("store.json")
    }
}
