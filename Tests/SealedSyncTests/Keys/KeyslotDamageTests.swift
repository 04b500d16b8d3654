import Foundation
import SealedSync
import Testing

@Suite("A store whose keyslot file is damaged")
struct KeyslotDamageTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    @Test("of an open store is told by a backup, which nobody could open")
    func backup() async throws {
        try await folder.create(notes: 1)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        let intact = try Data(contentsOf: folder.store.keyslotsURL)
        var damaged = intact
        damaged[damaged.count - 100] ^= 1
        try damaged.write(to: folder.store.keyslotsURL)
        let copy = folder.parent.appending(path: "copy")
        #expect(try await keyErrorCode { try await folder.store.backUp(store, to: copy) } == .damagedFile)
        for name in ["copy", "copy.new"] {
            #expect(!FileManager.default.fileExists(atPath: folder.parent.appending(path: name).path))
        }
        try intact.write(to: folder.store.keyslotsURL)
        try await folder.store.backUp(store, to: copy)
        await store.close()
        #expect(try Data(contentsOf: StoreFolder(copy).keyslotsURL) == intact)
    }

    @Test("in any one byte, or cut off anywhere: nothing opens, changes or creates, and not a byte is written")
    func everyByte() async throws {
        try await folder.create(notes: 3)
        let intact = try Data(contentsOf: folder.store.keyslotsURL)
        let database = try Data(contentsOf: folder.store.databaseURL)
        let code = RecoveryCodeUnlocker(try .random())
        let damaged =
            intact.indices.map { index in
                var bytes = intact
                bytes[index] ^= 1 << UInt8(index % 8)
                return bytes
            } + intact.indices.map { intact.prefix($0) }
        for (round, bytes) in damaged.enumerated() {
            try bytes.write(to: folder.store.keyslotsURL)
            let attempts: [(StoreFolder, SecretFileUnlocker) async throws -> Void] = [
                { _ = try await $0.unlock($1) },
                { _ = try await $0.open(UserFolder.schema, unlocker: $1) },
                { _ = try await $0.openOrCreate(UserFolder.schema, unlocker: $1) },
                { _ = try await $0.keyslots.add(code, authorizedBy: $1) },
                { _ = try await $0.keyslots.renewRootKey(keeping: [$1]) },
                { _ = try await $0.rotateDataKey($1) },
                { _ = try await $0.rotateKeys(keeping: [$1]) },
            ]
            for (index, attempt) in attempts.enumerated() {
                let answer = try await keyErrorCode { try await attempt(folder.store, folder.unlocker) }
                #expect(answer == .damagedFile, "round \(round), attempt \(index)")
            }
            #expect(try folder.contents() == ["store.db": database, "store.keys": bytes], "round \(round)")
        }
        try intact.write(to: folder.store.keyslotsURL)
        try await folder.expectNotes(3)
    }
}
