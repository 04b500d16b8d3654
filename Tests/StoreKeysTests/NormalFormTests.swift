import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

/// `é` is one character or two, and looks the same.
@Suite("The normal form of passphrases")
struct NormalFormTests {
    private static let composed = Array("caf\u{E9}".utf8)
    private static let decomposed = Array("cafe\u{301}".utf8)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func unlocker(_ bytes: [UInt8]) throws -> PassphraseUnlocker {
        try PassphraseUnlocker(passphrase: SecretBytes(bytes: bytes), cost: .quick)
    }

    private func code(_ unlocker: any StoreUnlocker) async -> KeyError.Code? {
        await keyErrorCode { _ = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker) }
    }

    @Test("a passphrase opens in either way of writing it, whichever made the slot", arguments: [composed, decomposed])
    func eitherForm(made: [UInt8]) async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker(made))
        #expect(try await code(unlocker(Self.composed)) == nil)
        #expect(try await code(unlocker(Self.decomposed)) == nil)
        #expect(try await code(unlocker(Array("cafe".utf8))) == .wrongSecret)
        let file = folder.url.appending(path: "passphrase")
        try write(Self.decomposed + [10], to: file)
        #expect(await code(PassphraseUnlocker(file: file, cost: .quick)) == nil)
    }

    /// What makes a slot of the bytes as they are, as versions before this did.
    private func older(_ bytes: [UInt8]) async throws -> any StoreUnlocker {
        try #require(await unlocker(bytes).olderForm())
    }

    @Test("a slot that was made before there was a normal form opens with the bytes that it was made with")
    func olderSlots() async throws {
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: older(Self.decomposed))
        #expect(try await code(unlocker(Self.decomposed)) == nil)
        #expect(try await code(unlocker(Self.composed)) == .wrongSecret, "as it was then")
        // The slot stays among those that are kept, and gives way to one in the normal form.
        let keyslots = Keyslots(folder.keyslots)
        let removal = try await keyslots.renewRootKey(keeping: [unlocker(Self.decomposed)])
        #expect(removal.kept.count == 1)
        #expect(try await code(unlocker(Self.decomposed)) == nil)
        try await keyslots.changePassphrase(from: unlocker(Self.decomposed), to: unlocker(Self.decomposed))
        #expect(try await code(unlocker(Self.composed)) == nil)
    }

    @Test("bytes that are no UTF-8 are the passphrase, and plain text has no older form")
    func bytes() async throws {
        let bytes: [UInt8] = [0xE9, 0x65, 0xCC]
        _ = try await StoreKeyring.create(at: folder.keyslots, unlocker: unlocker(bytes))
        #expect(try await code(unlocker(bytes)) == nil)
        for plain in [bytes, Array("cafe".utf8), Self.composed] {
            #expect(try await unlocker(plain).olderForm() == nil)
        }
    }

    @Test(
        "the older form may cost what an opening may, for itself: slots that opened before there was another still do"
    )
    func budget() async throws {
        let others = try (1...3).map { try PassphraseUnlocker.quick("\($0)") }
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: others + [older(Self.decomposed)])
        var unlocker = try unlocker(Self.decomposed)
        unlocker.maximumDerivationWork = 4 * ScryptCost.quick.work
        #expect(await code(unlocker) == nil)
        let keyslots = Keyslots(folder.keyslots)
        #expect(await keyErrorCode { try await keyslots.renewRootKey(keeping: others + [unlocker]) } == nil)
        unlocker.maximumDerivationWork -= 1
        #expect(await code(unlocker) == .invalidParameters)
    }

    @Test("a slot in the normal form opens before one behind the last that the older form may try")
    func normalFormFirst() async throws {
        let others = try (1...3).map { try PassphraseUnlocker.quick("\($0)") }
        _ = try await StoreKeyring.create(at: folder.keyslots, unlockers: others + [unlocker(Self.composed)])
        var unlocker = try unlocker(Self.decomposed)
        unlocker.maximumDerivationWork = 4 * ScryptCost.quick.work
        #expect(await code(unlocker) == nil)
    }
}
