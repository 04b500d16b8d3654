import SecretMemory
import Testing

@testable import StoreKeys

@Suite("A slot that was crafted to open under several passphrases")
struct CraftedSlotTests {
    /// AES-256-GCM does not commit to its key: two blocks of ciphertext and the tag are three unknowns of linear equations
    /// over GF(2^128), one for each of the passphrases `first`, `second` and `third`. The file is authentic under the root
    /// key that `first` finds in the slot. Its scrypt costs N = 2^4.
    private let file = bytes(
        """
        53534b4559530d0a0001d0d1d2d3d4d5d6d7d8d9dadbdcdddedf000000000000000101a0a1a2a3a4a5a6a7a8a9aaabac
        adaeaf11706173737068726173652d736372797074000000019ab697e800001904000000080000000130313233343536
        3738393a3b3c3d3e3f606162636465666768696a6b8141418f268ab9661c550260cfbc1e87b22f7105c36365f6209770
        66cd460a58eaa9aa8f02b18069ae8ec3a03b2d8b910101101112131415161718191a1b1c1d1e1f0000019ab697e80040
        4142434445464748494a4b81483bb8ff39947f7400fdd5937599f2ceb3c9ac67ee38604aa965db405d61facfa5c1cbec
        292d270679700b10119ef56a9f466d0a4a0d3e64bcfa49b73bd53cae3e28c15c09583babee12c5df5a1214223ddc1318
        a7756082c14ad32480df89d0aaf5b41adf1dc0261a8c043aa3f7b6
        """
    )

    @Test("opens under one of them, and of the others nothing tells that the seal fits")
    func oneOpens() async throws {
        let folder = try TemporaryFolder()
        try write(file, to: folder.keyslots)
        let content = try KeyslotFile(decoding: file)
        var messages: Set<String> = []
        for passphrase in ["first", "second", "third", "fourth"] {
            let unlocker = try PassphraseUnlocker.quick(passphrase)
            do {
                let keyring = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
                #expect(passphrase == "first")
                #expect(try keyring.dataKey.revealed == Array(0..<32))
            } catch let error as KeyError {
                #expect(error.code == .wrongSecret && passphrase != "first")
                messages.insert(error.description)
            }
            // The seal itself fits three of them.
            let secret = try await unlocker.secret(of: content.slots[0], storeID: content.storeID)
            let sealed = try content.unprovenRootKey(in: content.slots[0], secret: secret)
            #expect((sealed != nil) == (passphrase != "fourth"))
        }
        #expect(messages.count == 1, "one answer for all: \(messages)")
        #expect(messages.first?.contains("does not open the slot of the kind passphrase-scrypt. Check it") == true)
    }

    @Test("gives the same answer to a change of the slots")
    func changes() async throws {
        let folder = try TemporaryFolder()
        try write(file, to: folder.keyslots)
        let keyslots = Keyslots(folder.keyslots)
        var messages: Set<String> = []
        for passphrase in ["second", "third", "fourth"] {
            let unlocker = try PassphraseUnlocker.quick(passphrase)
            for change in [
                { try await keyslots.add(SecretFileUnlocker(at: folder.secretFile), authorizedBy: unlocker) },
                { try await keyslots.changePassphrase(from: unlocker, to: .quick("new")) },
            ] as [() async throws -> Keyslot] {
                let error = await #expect(throws: KeyError.self) { _ = try await change() }
                messages.insert(error?.description ?? "")
            }
            let error = await #expect(throws: KeyError.self) {
                _ = try await keyslots.remove(content().slots[0].id, keeping: [unlocker])
            }
            #expect(error?.code == .wrongSecret)
        }
        #expect(messages.count == 1)
    }

    private func content() throws -> KeyslotFile { try KeyslotFile(decoding: file) }
}
