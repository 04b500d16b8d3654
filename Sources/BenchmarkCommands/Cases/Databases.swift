internal import Foundation
internal import SQLCipherStore
internal import SecretMemory
internal import SyncContract

/// Makes the databases that the cases work on: fresh ones, and one per engine that holds all rows and is only read.
actor Databases {
    nonisolated let workload: Workload
    nonisolated let folder: TemporaryFolder
    private var filledStore: URL?
    private var filledTwins: [Encryption: URL] = [:]

    private nonisolated let key: SecretBytes
    private nonisolated let schema: StoreSchema

    init(workload: Workload, folder: TemporaryFolder) throws {
        self.workload = workload
        self.folder = folder
        schema = try StoreSchema([Workload.table])
        // The key of stores that hold nothing but made-up rows.
        key = unsafe try SecretBytes(count: 32) { bytes in
            for index in bytes.indices { unsafe bytes[index] = UInt8(index) }
        }
    }

    /// Opens a store, or creates it.
    nonisolated func openStore(
        _ file: URL,
        durability: EncryptedStoreOptions.Durability = .normal
    ) async throws -> EncryptedStore {
        var options = EncryptedStoreOptions()
        options.durability = durability
        return try await EncryptedStore.open(at: file, key: key, schema: schema, options: options)
    }

    /// Lends an empty store, and removes it afterwards.
    nonisolated func withNewStore<Value>(
        durability: EncryptedStoreOptions.Durability = .normal,
        _ body: (EncryptedStore) async throws -> Value
    ) async throws -> Value {
        let file = folder.newFile()
        let store = try await openStore(file, durability: durability)
        let value = try await body(store)
        await store.close()
        try folder.removeDatabase(file)
        return value
    }

    /// Lends an empty twin, and removes its database afterwards.
    nonisolated func withNewTwin<Value>(
        _ encryption: Encryption,
        durability: EncryptedStoreOptions.Durability = .normal,
        _ body: (Twin) async throws -> Value
    ) async throws -> Value {
        let file = folder.newFile()
        let value = try await body(Twin(file, encryption, durability: durability))
        try folder.removeDatabase(file)
        return value
    }

    /// A store that holds all rows, and operations for some, closed.
    func filledStore() async throws -> URL {
        if let filledStore { return filledStore }
        let file = folder.newFile()
        let store = try await openStore(file)
        let records = workload.records
        try await store.write { try $0.upsert(records, into: Workload.table.name) }
        let operations = Array(workload.operations.prefix(workload.waitingCount))
        try await store.write { try $0.upsert(operations, into: SystemTables.operations.name) }
        await store.close()
        filledStore = file
        return file
    }

    /// A database of the twin that holds all rows, and operations for some, closed.
    func filledTwin(_ encryption: Encryption) throws -> URL {
        if let filled = filledTwins[encryption] { return filled }
        let file = folder.newFile()
        let twin = try Twin(file, encryption)
        try twin.upsert(workload.arrays, page: workload.items.count)
        try twin.writeWithOperations(workload.arrays, count: workload.waitingCount)
        filledTwins[encryption] = file
        return file
    }
}

/// Stops a case that did not do its work.
func expect(_ condition: Bool, _ what: String) throws {
    guard condition else { throw BenchmarkFailure("\(what): the work was not done") }
}
