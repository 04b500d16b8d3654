import Foundation
import SecretMemory
import Testing

@testable import StoreKeys

/// A database is stood for by the key it is encrypted with.
@Suite("Rotating the data key in the keyslot file")
struct RotationTests {
    private struct Refusal: Error {}

    private let folder: TemporaryFolder
    private let passphrase: PassphraseUnlocker
    private let file: SecretFileUnlocker
    private let keyslots: Keyslots
    private let old: SecretBytes

    init() async throws {
        folder = try TemporaryFolder()
        passphrase = try .quick("passphrase")
        file = SecretFileUnlocker(at: folder.secretFile)
        keyslots = Keyslots(folder.keyslots)
        old = try await StoreKeyring.create(at: folder.keyslots, unlockers: [passphrase, file]).dataKey
    }

    @Test("the new key is durable before the database changes, and the only one afterwards, in every slot")
    func rotation() async throws {
        var database = old
        let before = try await KeyslotFile.read(at: folder.keyslots)
        let keyring = try await keyslots.rotateDataKey(authorizedBy: passphrase) { current, pending in
            let written = try await StoreKeyring.open(at: folder.keyslots, unlocker: file)
            #expect(try written.dataKey == current)
            #expect(try written.pendingDataKey == pending)
            #expect(current == database)
            #expect(pending != current)
            database = pending
        }
        #expect(try keyring.dataKey == database)
        #expect(try keyring.pendingDataKey == nil)
        #expect(keyring.dataKeyID != before.dataKeyID)
        for unlocker in [passphrase, file] as [any StoreUnlocker] {
            let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: unlocker)
            #expect(try opened.dataKey == database)
            #expect(try opened.pendingDataKey == nil)
            #expect(opened.revision == 3)
        }
    }

    @Test("a re-encryption that fails leaves both keys; the next rotation goes on with the same pending key")
    func failure() async throws {
        var offered: SecretBytes?
        await #expect(throws: Refusal.self) {
            _ = try await keyslots.rotateDataKey(authorizedBy: passphrase) { _, pending in
                offered = pending
                throw Refusal()
            }
        }
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: file)
        #expect(try opened.dataKey == old)
        #expect(try opened.pendingDataKey == offered)
        let keyring = try await keyslots.rotateDataKey(authorizedBy: file) { current, pending in
            #expect(current == old)
            #expect(pending == offered)
        }
        #expect(try keyring.dataKey == offered)
    }

    @Test("an interrupted rotation ends with the key that opens the database, and with both if neither does")
    func recovery() async throws {
        var (database, offered) = (old, old)
        func interrupt() async {
            await #expect(throws: Refusal.self) {
                _ = try await keyslots.rotateDataKey(authorizedBy: passphrase) { _, pending in
                    offered = pending
                    throw Refusal()
                }
            }
        }
        await interrupt()
        let neither = try await keyslots.recoverRotation(authorizedBy: passphrase) { _ in false }
        #expect(try neither.dataKey == old)
        #expect(try neither.pendingDataKey == offered)
        let revision = try await KeyslotFile.read(at: folder.keyslots).revision
        #expect(revision == 2, "nothing was written")

        let rolledBack = try await keyslots.recoverRotation(authorizedBy: file) { $0 == database }
        #expect(try rolledBack.dataKey == old)
        #expect(try rolledBack.pendingDataKey == nil)
        #expect(try await KeyslotFile.read(at: folder.keyslots).isRotationPending == false)

        await interrupt()
        database = offered
        let finished = try await keyslots.recoverRotation(authorizedBy: file) { $0 == database }
        #expect(try finished.dataKey == database)
        #expect(try finished.pendingDataKey == nil)
        #expect(finished.dataKeyID != rolledBack.dataKeyID)
        let again = try await keyslots.recoverRotation(authorizedBy: file) { _ in
            Issue.record("there is nothing to recover")
            return false
        }
        #expect(try again.dataKey == database)
    }

    @Test("while a rotation is under way, nobody recovers it, changes a slot or destroys the file")
    func underWay() async throws {
        _ = try await keyslots.rotateDataKey(authorizedBy: passphrase) { _, _ in
            #expect(
                await keyErrorCode {
                    _ = try await keyslots.recoverRotation(authorizedBy: file) { _ in true }
                } == .inUse
            )
            #expect(await keyErrorCode { try await keyslots.add(file, authorizedBy: file) } == .inUse)
            #expect(await keyErrorCode { try await KeyslotFile.destroy(at: folder.keyslots) } == .inUse)
        }
        try await keyslots.add(PassphraseUnlocker.quick("third"), authorizedBy: file)
    }

    @Test("the root key can be renewed and a slot removed while a rotation is interrupted; both data keys stay")
    func renewalWhilePending() async throws {
        var offered: SecretBytes?
        await #expect(throws: Refusal.self) {
            _ = try await keyslots.rotateDataKey(authorizedBy: passphrase) { _, pending in
                offered = pending
                throw Refusal()
            }
        }
        try await keyslots.renewRootKey(keeping: [file])
        let opened = try await StoreKeyring.open(at: folder.keyslots, unlocker: file)
        #expect(try opened.dataKey == old)
        #expect(try opened.pendingDataKey == offered)
    }

    @Test("a task that is cancelled while the database changes still takes the new key over")
    func cancellation() async throws {
        let (keyslots, passphrase) = (keyslots, passphrase)
        let task = Task {
            try await keyslots.rotateDataKey(authorizedBy: passphrase) { _, _ in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            }
        }
        let keyring = try await task.value
        #expect(try keyring.dataKey != old)
        #expect(try await KeyslotFile.read(at: folder.keyslots).isRotationPending == false)
    }
}
