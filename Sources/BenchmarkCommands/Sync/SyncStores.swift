internal import Foundation
internal import OfflineSync
internal import RemoteContract
internal import SQLCipherStore
internal import SecretMemory
internal import SyncContract

/// How much a store holds before something is measured.
struct StoreSize: Sendable, Hashable {
    /// Rows that a pull brings.
    var served = 0
    /// Rows that no pull brings, and for which nothing waits.
    var settled = 0
    /// Rows that were inserted here and wait to be sent.
    var waiting = 0
    /// How many of these were inserted together, in one group each; nil for one by one.
    var group: Int?
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

    /// Lends the closed file of a twin of a size, and removes it afterwards.
    nonisolated func withTwinFile<Value>(
        _ size: StoreSize,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        try await withCopy(of: try await twin(size), body)
    }

    /// Lends an open twin of a size, durably, and removes its database afterwards.
    nonisolated func withTwin<Value>(
        _ size: StoreSize,
        _ body: (Twin) async throws -> Value
    ) async throws -> Value {
        try await withTwinFile(size) { file in
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

    /// Makes a store of a size, closed.
    func store(_ size: StoreSize) async throws -> URL {
        if let made = stores[size] { return made }
        let file = folder.newFile()
        let store = try await open(file, tables: size.tables, durability: .normal)
        let name = SyncWorkload.table().name
        for (count, kind) in [(size.served, ItemSource.Kind.served), (size.settled, .settled)] {
            try await ItemSource.forEachPage(of: count, kind) { items, first in
                let records = items.enumerated().map { SyncWorkload.serverRecord($1, first + $0) }
                try await store.write { try $0.upsert(records, into: name) }
            }
        }
        if let group = size.group { try await insert(size.waiting, inGroupsOf: group, into: store) }
        try await ItemSource.forEachPage(of: size.group == nil ? size.waiting : 0, .waiting) { items, first in
            let records = items.map(Workload.record)
            let operations = items.enumerated().map { SyncWorkload.operation(first + $0 + 1, on: $1.id) }
            try await store.write { transaction in
                try transaction.upsert(records, into: name)
                try transaction.upsert(operations, into: SystemTables.operations.name)
            }
        }
        await store.close()
        stores[size] = file
        return file
    }

    /// Inserts items as an app does, which is how their groups come to be known.
    private nonisolated func insert(_ count: Int, inGroupsOf group: Int, into store: EncryptedStore) async throws {
        let remote = UnavailableRemote(RemoteError(.unreachable, "There is no server while a store is made."))
        let context = SyncContext(store: store, remote: remote)
        let table = try context.table(SyncWorkload.table().name, of: Workload.Item.self)
        try await ItemSource.forEachPage(of: count, .waiting) { items, _ in
            for first in stride(from: 0, to: items.count, by: group) {
                let together = Array(items[first..<min(first + group, items.count)])
                try await context.write { try $0.insert(contentsOf: together, into: table) }
            }
        }
    }

    /// Makes a twin's database of a size, closed.
    func twin(_ size: StoreSize) async throws -> URL {
        if let made = twins[size] { return made }
        let file = folder.newFile()
        let twin = try Twin(file, .encrypted)
        for (count, kind) in [(size.served, ItemSource.Kind.served), (size.settled, .settled)] {
            try await ItemSource.forEachPage(of: count, kind) { items, first in
                try twin.upsert(SyncArrays(items, first: first), page: items.count)
            }
        }
        try await ItemSource.forEachPage(of: size.waiting, .waiting) { items, first in
            try twin.change(SyncArrays(items, operation: first + 1), page: items.count)
        }
        twins[size] = file
        return file
    }
}
