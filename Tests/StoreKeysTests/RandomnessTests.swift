import SecretMemory
import Testing

@testable import StoreKeys

@Suite("Randomness")
struct RandomnessTests {
    /// Each of the 26 characters is one of 32, so that 1,000 codes miss one with a chance of 1 in 10^11.
    @Test("every random character of a recovery code can be every one of the alphabet")
    func recoveryCodes() throws {
        var seen = Array(repeating: Set<UInt8>(), count: RecoveryCodeText.dataCount)
        for _ in 0..<1_000 {
            for (index, character) in try RecoveryCode.random().characters.revealed.prefix(seen.count).enumerated() {
                seen[index].insert(character)
            }
        }
        #expect(seen.allSatisfy { $0.count == 32 })
    }

    /// 256 keys have about 160 different bytes at each place, and 100 with certainty.
    @Test("every byte of a key is random")
    func keys() throws {
        let keys = try (0..<256).map { _ in try RandomSource.system.makeSecret().revealed }
        for place in 0..<AES256GCM.keyCount { #expect(Set(keys.map { $0[place] }).count > 100) }
    }

    @Test("a removed slot is gone, also when its own unlocker has authorized that")
    func removal() async throws {
        let folder = try TemporaryFolder()
        let (old, file) = (try PassphraseUnlocker.quick("old"), SecretFileUnlocker(at: folder.secretFile))
        let created = try await StoreKeyring.create(at: folder.keyslots, unlockers: [old, file])
        let removal = try await Keyslots(folder.keyslots).remove(created.slots[0].id, keeping: [old, file])
        #expect(removal.kept.map(\.kind) == [.secretFile])
        #expect(try await KeyslotFile.read(at: folder.keyslots).slots.map(\.kind) == [.secretFile])
    }
}
