import Testing

@testable import StoreKeys

@Suite("Nonces")
struct NonceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Under one key, a nonce that is used twice gives both plaintexts away.
    @Test("whatever is sealed anew gets a nonce of its own, in a slot that stays as well")
    func fresh() async throws {
        let unlockers: [any StoreUnlocker] = [
            try PassphraseUnlocker.quick("one"), SecretFileUnlocker(at: folder.secretFile),
        ]
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: unlockers)
        let keyslots = Keyslots(folder.keyslots)
        var seen: Set<[UInt8]> = []
        var count = 0
        func look() async throws {
            let file = try await KeyslotFile.read(at: folder.keyslots)
            seen.formUnion(file.slots.map(\.nonce) + file.dataKeys.map(\.nonce))
            count += file.slots.count + file.dataKeys.count
            #expect(seen.count == count)
        }
        try await look()
        try await keyslots.renewRootKey(keeping: unlockers)
        try await look()
        _ = try await keyslots.rotateKeys(
            keeping: unlockers,
            isEncryptedWith: { _ in true },
            reencrypt: { _, _, commit in
                try commit()
                try await look()
            }
        )
    }
}
