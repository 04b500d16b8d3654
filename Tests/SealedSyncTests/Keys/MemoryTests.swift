#if os(Linux)
import DurableFiles
import Foundation
import Glibc
import MemorySearch
import SealedSync
import Testing

@testable import SQLCipherMaintenance
@testable import SQLCipherStore
@testable import StoreKeys

/// Each in a process of its own: what other tests do meanwhile, and how much memory they take, is not searched.
@Suite("Traces of secrets in the memory of the process")
struct MemoryTests {
    @Test("after locking or closing a store there is none, while it is open there are", arguments: [true, false])
    func store(isLocked: Bool) async {
        await #expect(processExitsWith: .success) { [isLocked = isLocked as Bool] in
            try await MemoryWorld().store(endsWith: isLocked ? .lock : .close)
        }
    }

    @Test("after locking a store that was unlocked from a file, several times, there is none either")
    func passphraseFile() async {
        await #expect(processExitsWith: .success) { try await MemoryWorld().passphraseFile() }
    }

    @Test("after the last use of a passphrase there is none of it either, nor of what a rotation has used")
    func rotation() async {
        await #expect(processExitsWith: .success) { try await MemoryWorld().rotation() }
    }

    @Test("after the last use of a recovery code there is none of it, nor of the code that was replaced by it")
    func recoveryCode() async {
        await #expect(processExitsWith: .success) { try await MemoryWorld().recoveryCode() }
    }

    @Test("after a store was verified and its keyring locked there is none, nor of the keys of its pages")
    func verification() async {
        await #expect(processExitsWith: .success) { try await MemoryWorld().verification() }
    }

    @Test("of a secret from a text there is none beside the text and the secret")
    func text() async {
        await #expect(processExitsWith: .success) { try MemoryWorld().text() }
    }
}

/// The secrets of one user, and the search for them in this process.
private struct MemoryWorld {
    private let folder: UserFolder
    private let scan: MemoryScan

    init() throws {
        folder = try UserFolder()
        scan = try MemoryScan()
    }

    /// What ends the use of a store.
    enum End {
        case lock
        case close
    }

    func store(endsWith end: End) async throws {
        let store = try await makeStore()
        // Both kinds of connections have been used, and the cache has been filled and spilled.
        try await store.upsert((0..<2000).map(UserFolder.note), table: "notes")
        #expect(try await store.read(Query("notes")).records.count == 2000)
        let open = try scan.findings()
        #expect(open.contains { $0.hasPrefix("the data key at") })
        #expect(!open.contains { !$0.hasPrefix("the data key") }, "an open store has its data key, and no other secret")

        switch end {
        case .lock: await store.lock()
        case .close: await store.close()
        }
        #expect(try scan.findings() == [], "the store object is still there")
        withExtendedLifetime(store) {}
    }

    func passphraseFile() async throws {
        let file = folder.parent.appending(path: "passphrase")
        let store = try await makeStore(passphraseFile: file)
        for _ in 0..<3 {
            await store.lock()
            try await folder.store.unlock(store, with: PassphraseUnlocker(file: file, cost: .memory8MiB))
        }
        await store.lock()
        #expect(try scan.findings() == [])
        await store.close()
    }

    func rotation() async throws {
        do {
            let passphrase = try SecretBytes.random(count: 24)
            scan.look(for: "the passphrase", passphrase)
            let unlocker = PassphraseUnlocker(passphrase: passphrase, cost: .memory8MiB)
            let store = try await folder.store.create(UserFolder.schema, unlocker: unlocker)
            try await store.upsert((0..<500).map(UserFolder.note), table: "notes")
            await store.close()
            try await rememberKeys(passphrase)
            try await folder.store.rotateDataKey(unlocker).lock()
            try await rememberKeys(passphrase)
            try await folder.store.rotateKeys(keeping: [unlocker]).keyring.lock()
            try await rememberKeys(passphrase)
            #expect(try scan.findings().contains { $0.hasPrefix("the passphrase") })
        }
        #expect(try scan.findings() == [])
    }

    func verification() async throws {
        do {
            let passphrase = try SecretBytes.random(count: 24)
            let unlocker = PassphraseUnlocker(passphrase: passphrase, cost: .memory8MiB)
            let store = try await folder.store.create(UserFolder.schema, unlocker: unlocker)
            try await store.upsert((0..<500).map(UserFolder.note), table: "notes")
            await store.close()
            try await rememberKeys(passphrase)
            let keyring = try await folder.store.unlock(unlocker)
            try rememberPageKeys(keyring.dataKey)
            #expect(try await folder.store.verify(keyring).isSound)
            #expect(try scan.findings().contains { $0.hasPrefix("the data key at") })
            keyring.lock()
        }
        #expect(try scan.findings() == [])
    }

    func recoveryCode() async throws {
        try await folder.create(notes: 1)
        do {
            var old: RecoveryCode?
            for name in ["the first code", "the second code"] {
                let code = try RecoveryCode.random()
                scan.look(for: name, code.text)
                scan.look(for: "\(name)'s characters", code.characters)
                if let old {
                    try await folder.store.keyslots.replace(RecoveryCodeUnlocker(old), with: RecoveryCodeUnlocker(code))
                } else {
                    try await folder.store.keyslots.add(RecoveryCodeUnlocker(code), authorizedBy: folder.unlocker)
                }
                old = code
            }
            let typed = try RecoveryCode(typed: try #require(old).text)
            try await folder.store.unlock(RecoveryCodeUnlocker(typed)).lock()
            #expect(try scan.findings().contains { $0.hasPrefix("the second code at") })
        }
        #expect(try scan.findings() == [])
    }

    func text() throws {
        // No literal: that would be a further copy. Longer than what a text holds without memory of its own.
        var text = ""
        text.reserveCapacity(64)
        for _ in 0..<40 { text.unicodeScalars.append(Unicode.Scalar(UInt8.random(in: 33...126))) }
        let secret = try SecretBytes(text)
        scan.look(for: "the text", secret)
        #expect(try scan.findings().count == 2)
        withExtendedLifetime((text, secret)) {}
    }

    /// Makes a store with a passphrase, remembers every secret that opens it, and lets go of all but the store.
    private func makeStore(passphraseFile: URL? = nil) async throws -> EncryptedStore {
        // Random text, which ends with no line's end.
        let passphrase = try RecoveryCode.random().text
        scan.look(for: "the passphrase", passphrase)
        if let passphraseFile { try write(passphrase, to: passphraseFile) }
        let unlocker = PassphraseUnlocker(passphrase: passphrase, cost: .memory8MiB)
        let store = try await folder.store.create(UserFolder.schema, unlocker: unlocker)
        try await rememberKeys(passphrase)
        return store
    }

    /// Without a copy in memory.
    private func write(_ secret: SecretBytes, to url: URL) throws {
        let file = unsafe open(url.path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        #expect(unsafe secret.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) } == secret.count)
    }

    /// What libcrypto works with when pages are checked and decrypted: the key of their codes, and the half of the data key
    /// that stands as it is in what AES makes of a key.
    private func rememberPageKeys(_ dataKey: SecretBytes) throws {
        let path = folder.store.databaseURL.path
        let header = try FileHeader(reading: FileSystem.prefix(of: path, count: FileHeader.count), of: path)
        let digest = header.format == .sqlcipher3 ? "SHA1" : "SHA512"
        scan.look(
            for: "the key of the pages' codes",
            try PageCipher.authenticationKey(from: dataKey, salt: header.bytes, digest)
        )
        scan.look(
            for: "half of the data key",
            unsafe try SecretBytes(count: 16) { half in
                unsafe dataKey.withUnsafeBytes { unsafe half.copyMemory(from: .init(rebasing: $0[..<16])) }
            }
        )
    }

    /// Every key that opening the store derives or unwraps.
    private func rememberKeys(_ passphrase: SecretBytes) async throws {
        let unlocker = PassphraseUnlocker(passphrase: passphrase)
        let file = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        let slot = file.slots[0]
        let secret = try await unlocker.secret(of: slot, storeID: file.storeID)
        scan.look(for: "the slot's secret", secret)
        scan.look(
            for: "the slot's wrapping key",
            try KeyslotFile.slotWrappingKey(from: secret, storeID: file.storeID, slotID: slot.id)
        )
        let rootKey = try #require(try file.rootKey(in: slot, secret: secret))
        scan.look(for: "the root key", rootKey)
        scan.look(
            for: "the wrapping key of the data keys",
            try KeyslotFile.dataKeyWrappingKey(from: rootKey, storeID: file.storeID)
        )
        scan.look(
            for: "the file's authentication key",
            try KeyslotFile.authenticationKey(from: rootKey, storeID: file.storeID)
        )
        let dataKey = try #require(try file.dataKey(.current, rootKey: rootKey))
        scan.look(for: "the data key", dataKey)
        scan.lookForHexadecimal(of: "the data key", dataKey)
    }
}
#endif
