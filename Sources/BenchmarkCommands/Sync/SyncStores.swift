internal import Foundation
internal import SQLCipherStore
internal import SecretMemory
internal import SyncContract

/// How much a store holds before something is measured.
struct StoreSize: Sendable, Hashable {
    /// Rows that the server has as well.
    var rows = 0
    /// Rows that were inserted here and wait to be sent.
    var waiting = 0
    /// How many tables are declared.
    var tables = 1
}

/// Makes the stores and twins that are measured: each is made once per size, and copied for each run.
actor SyncStores {
    nonisolated let folder: TemporaryFolder
    private nonisolated let key: SecretBytes
    private var stores: [StoreSize: URL] = [:]
    private var twins: [StoreSize: URL] = [:]

    init(folder: TemporaryFolder) throws {
        self.folder = folder
        // The key of stores that hold nothing but made-up rows.
        key = unsafe try SecretBytes(count: 32) { bytes in
            for index in bytes.indices { unsafe bytes[index] = UInt8(index) }
        }
    }

    /// Opens a store, durably unless told otherwise.
    nonisolated func open(
        _ file: URL,
        tables: Int = 1,
        durability: EncryptedStoreOptions.Durability = .full
    ) async throws -> EncryptedStore {
        var options = EncryptedStoreOptions()
        options.durability = durability
        let schema = try StoreSchema((0..<tables).map { SyncWorkload.table($0) })
        return try await EncryptedStore.open(at: file, key: key, schema: schema, options: options)
    }

    /// Lends an open store of a size, and removes it afterwards.
    nonisolated func withStore<Value>(
        _ size: StoreSize,
        _ body: (EncryptedStore) async throws -> Value
    ) async throws -> Value {
        try await withStoreFile(size) { file in
            let store = try await open(file, tables: size.tables)
            let value = try await body(store)
            await store.close()
            return value
        }
    }

    /// Lends the closed file of a store of a size, and removes it afterwards.
    nonisolated func withStoreFile<Value>(
        _ size: StoreSize,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        try await withCopy(of: try await store(size), body)
    }

    /// Lends an open twin of a size, durably, and removes its database afterwards.
    nonisolated func withTwin<Value>(
        _ size: StoreSize,
        _ body: (Twin) async throws -> Value
    ) async throws -> Value {
        try await withCopy(of: try await twin(size)) { file in
            try await body(Twin(file, .encrypted, durability: .full))
        }
    }

    private nonisolated func withCopy<Value>(
        of original: URL,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        let file = folder.newFile()
        try FileManager.default.copyItem(at: original, to: file)
        let value = try await body(file)
        try folder.removeDatabase(file)
        return value
    }

    private func store(_ size: StoreSize) async throws -> URL {
        if let made = stores[size] { return made }
        let file = folder.newFile()
        let store = try await open(file, tables: size.tables, durability: .normal)
        let name = SyncWorkload.table().name
        let rows = SyncWorkload.serverItems(size.rows)
        for page in Self.pages(of: rows.count) {
            let records = page.map { SyncWorkload.serverRecord(rows[$0], $0) }
            try await store.write { try $0.upsert(records, into: name) }
        }
        let waiting = SyncWorkload.waitingItems(size.waiting)
        for page in Self.pages(of: waiting.count) {
            let records = page.map { Workload.record(waiting[$0]) }
            let operations = page.map { SyncWorkload.operation($0 + 1, on: waiting[$0].id) }
            try await store.write { transaction in
                try transaction.upsert(records, into: name)
                try transaction.upsert(operations, into: SystemTables.operations.name)
            }
        }
        await store.close()
        stores[size] = file
        return file
    }

    private func twin(_ size: StoreSize) throws -> URL {
        if let made = twins[size] { return made }
        let file = folder.newFile()
        let twin = try Twin(file, .encrypted)
        try twin.upsert(SyncedArray(SyncWorkload.serverItems(size.rows)), page: 1_000)
        let waiting = TwinArrays(SyncWorkload.waitingItems(size.waiting), table: SyncWorkload.table().name)
        try twin.change(waiting, page: 1_000)
        twins[size] = file
        return file
    }

    private static func pages(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: count, by: 1_000).map { $0..<min($0 + 1_000, count) }
    }
}
