public import ConformanceRunner
internal import Foundation
internal import SyncContract

/// A store as the rules see it.
public struct StoreSubject: ConformanceSubject {
    /// What reports call the store.
    public let name: String

    let make: @Sendable (StoreSchema, StoreLocation) async throws -> any SyncContextDataSource
    let reopen: @Sendable (StoreSchema, StoreLocation) async throws -> any SyncContextDataSource
    let reopenTranslating:
        @Sendable (StoreSchema, any QueueTranslation, StoreLocation) async throws -> any SyncContextDataSource
    let close: @Sendable (any SyncContextDataSource) async throws -> Void
    let changeKey: @Sendable (StoreLocation, StoreLocation.Key) async throws -> Void
    let lock: @Sendable (any SyncContextDataSource) async throws -> Void
    let unlock: @Sendable (any SyncContextDataSource, StoreLocation) async throws -> Void
    let files: @Sendable (StoreLocation) async throws -> [String: [UInt8]]

    /// The store behind a harness.
    public init<Harness: StoreHarness>(_ harness: Harness) {
        name = harness.name
        make = { try await harness.makeStore($0, at: $1) }
        reopen = { try await harness.reopenStore($0, at: $1) }
        reopenTranslating = { try await harness.reopenStore($0, translating: $1, at: $2) }
        close = { store in
            // Only stores that this harness made come back to it.
            guard let store = store as? Harness.Store else { return }
            try await harness.closeStore(store)
        }
        changeKey = { try await harness.changeKey(ofStoreAt: $0, to: $1) }
        lock = { store in
            guard let store = store as? Harness.Store else { return }
            try await harness.lockStore(store)
        }
        unlock = { store, place in
            guard let store = store as? Harness.Store else { return }
            try await harness.unlockStore(store, at: place)
        }
        files = { try await harness.files(ofStoreAt: $0) }
    }

    /// The capabilities that a store declares which is made for the purpose.
    public func capabilities() async throws -> Set<String> {
        let folder = NSTemporaryDirectory() + "conformance-probe-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { remove(folder) }
        let store = try await make(try StoreSchema([.items]), StoreLocation(folder: folder))
        let names = store.capabilities.names
        do {
            try await close(store)
        } catch is Unsupported {
            // A store that cannot be closed ends with its last reference.
        }
        return names
    }

    private func remove(_ folder: String) {
        do {
            try FileManager.default.removeItem(atPath: folder)
        } catch {
            // What cannot be removed from the folder of temporary files says nothing about the store.
        }
    }
}

extension StoreCapabilities {
    /// The names of the capabilities, as rules and reports give them.
    var names: Set<String> {
        let all: [(StoreCapabilities, String)] = [
            (.durable, "durable"), (.unknownColumns, "unknownColumns"), (.encrypted, "encrypted"),
            (.syncStates, "syncStates"), (.migrations, "migrations"), (.sql, "sql"),
        ]
        return Set(all.filter { contains($0.0) }.map(\.1))
    }
}
