import Foundation
import SealedSync
import Testing

@Suite("A store whose keyslot file is damaged")
struct KeyslotDamageTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

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
