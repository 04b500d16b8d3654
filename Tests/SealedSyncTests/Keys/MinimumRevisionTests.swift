import Foundation
import SealedSync
import Testing

@Suite("A folder that asks for a revision of its keyslot file")
struct MinimumRevisionTests {
    private let folder: UserFolder
    /// The folder, which has seen revision 2.
    private let store: StoreFolder

    init() throws {
        folder = try UserFolder()
        var store = folder.store
        store.minimumRevision = 2
        self.store = store
    }

    private func put(_ keyslots: Data) throws {
        try keyslots.write(to: store.keyslotsURL)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: store.keyslotsURL.path)
    }

    @Test("has an older one refused by every call, those of a context among them, and nothing is written")
    func everyCall() async throws {
        let (store, unlocker) = (store, folder.unlocker)
        try await folder.create(notes: 1)
        let old = try Data(contentsOf: store.keyslotsURL)
        let slot = try await folder.store.keyslots.add(PassphraseUnlocker.quick("other"), authorizedBy: unlocker)
        let new = try Data(contentsOf: store.keyslotsURL)
        let context = try await SyncContext.open(store, schema: UserFolder.schema, unlocker: unlocker)
        let open = try #require(context.store as? EncryptedStore)
        await context.lock()

        try put(old)
        let before = try folder.contents()
        let calls: [String: () async throws -> Void] = [
            "context": { try await context.unlock(with: unlocker) },
            "store": { try await store.unlock(open, with: unlocker) },
            "keys": { _ = try await store.unlock(unlocker) },
            "open": { _ = try await store.open(UserFolder.schema, unlocker: unlocker) },
            "openOrCreate": { _ = try await store.openOrCreate(UserFolder.schema, unlocker: unlocker) },
            "rotateDataKey": { _ = try await store.rotateDataKey(unlocker) },
            "rotateKeys": { _ = try await store.rotateKeys(keeping: [unlocker]) },
            "revoke": { _ = try await store.revoke([slot.id], keeping: [unlocker]) },
            "keyslots": { _ = try await store.keyslots.add(PassphraseUnlocker.quick("x"), authorizedBy: unlocker) },
        ]
        for (name, call) in calls {
            #expect(try await keyErrorCode { try await call() } == .outdatedKeyslotFile, "\(name)")
        }
        #expect(try folder.contents() == before)
        try put(new)
        try await context.unlock(with: unlocker)
        #expect(try await open.read(Query("notes")).records.count == 1)
        await context.close()
    }

    @Test("has it asked for with attachments, and when a creation is gone on with", arguments: [true, false])
    func beginnings(isThere: Bool) async throws {
        let (store, unlocker) = (store, folder.unlocker)
        guard isThere else {
            try FileManager.default.createDirectory(at: store.url, withIntermediateDirectories: true)
            _ = try await StoreKeyring.create(at: store.keyslotsURL, unlocker: unlocker)
            for call in [
                { _ = try await store.openOrCreate(UserFolder.schema, unlocker: unlocker) },
                { _ = try await store.create(UserFolder.schema, unlocker: unlocker) },
            ] as [() async throws -> Void] {
                #expect(try await keyErrorCode { try await call() } == .outdatedKeyslotFile)
            }
            #expect(try folder.contents().keys.sorted() == ["store.keys"])
            return
        }
        try await folder.create(notes: 1)
        let old = try Data(contentsOf: store.keyslotsURL)
        try await folder.store.keyslots.add(PassphraseUnlocker.quick("other"), authorizedBy: unlocker)
        let options = SyncOptions(attachments: AttachmentOptions())
        let context = try await SyncContext.open(
            store,
            schema: UserFolder.schema,
            unlocker: unlocker,
            options: options
        )
        await context.lock()
        try put(old)
        #expect(try await keyErrorCode { try await context.unlock(with: unlocker) } == .outdatedKeyslotFile)
        await context.close()
    }
}
