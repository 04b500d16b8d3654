import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

@Suite("An older keyslot file in the place of a newer one")
struct RevisionTests {
    private let folder: TemporaryFolder
    private let unlocker: SecretFileUnlocker

    init() throws {
        folder = try TemporaryFolder()
        unlocker = SecretFileUnlocker(at: folder.secretFile)
    }

    @Test("is refused by an app that remembers the revision, before a secret is tried, and nothing is written")
    func refused() async throws {
        let leaked = try PassphraseUnlocker.quick("leaked")
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: [unlocker, leaked])
        let old = try Data(contentsOf: folder.keyslots)
        let remembered = Keyslots(folder.keyslots)
        try await remembered.changePassphrase(from: leaked, to: .quick("new"))
        let revision = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker).revision
        #expect(revision == 2)

        func codes(_ unlocker: any StoreUnlocker, _ minimum: UInt64) async -> [KeyError.Code?] {
            var keyslots = Keyslots(folder.keyslots)
            keyslots.minimumRevision = minimum
            return [
                await keyErrorCode {
                    _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker, minimumRevision: minimum)
                },
                await keyErrorCode {
                    _ = try await keyslots.recoverRotation(authorizedBy: unlocker, isEncryptedWith: { _ in true })
                },
                await keyErrorCode { try await keyslots.renewRootKey(keeping: [self.unlocker, unlocker]) },
            ]
        }
        try old.write(to: folder.keyslots)
        for opener in [leaked, unlocker] as [any StoreUnlocker] {
            #expect(await codes(opener, revision) == Array(repeating: .outdatedKeyslotFile, count: 3))
        }
        #expect(try await codes(PassphraseUnlocker.quick("never"), revision).first == .outdatedKeyslotFile)
        #expect(try Data(contentsOf: folder.keyslots) == old)
        #expect(await codes(leaked, 1) == [nil, nil, nil], "this one was there, too")
    }
}
