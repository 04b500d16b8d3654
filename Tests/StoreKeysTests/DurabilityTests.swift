import DurableFiles
import FileSystemRecording
import Foundation
import Testing

@testable import StoreKeys

/// What outlasts a loss of power is decided by the order of these steps. None of them can be left out.
@Suite("The durable steps of a keyslot file, in order")
struct DurabilityTests {
    private let folder: TemporaryFolder
    private let recorder: FileSystemRecorder

    init() throws {
        folder = try TemporaryFolder()
        recorder = FileSystemRecorder(in: folder.url)
    }

    private var unlocker: SecretFileUnlocker {
        SecretFileUnlocker(at: folder.secretFile, random: .system, in: recorder.fileSystem)
    }

    private func create() async throws {
        _ = try await StoreKeyring.create(
            at: folder.keyslots,
            unlockers: [unlocker, PassphraseUnlocker.quick("old")],
            random: .system,
            in: recorder.fileSystem
        )
    }

    /// A file appears when its content is on the medium, and is there to stay when the creation returns.
    private func creation(of name: String) -> [String] {
        [
            "create .\(name).*.tmp", "write .\(name).*.tmp", "synchronize .\(name).*.tmp",
            "link .\(name).*.tmp \(name)", "remove .\(name).*.tmp", "synchronize .",
        ]
    }

    @Test("creating one, after the file of its secret")
    func creation() async throws {
        try await create()
        #expect(recorder.takeLines() == creation(of: "store.secret") + creation(of: "store.keyslots"))
    }

    @Test("replacing it")
    func replacement() async throws {
        try await create()
        _ = recorder.takeLines()
        let keyslots = Keyslots(folder.keyslots, in: recorder.fileSystem)
        try await keyslots.changePassphrase(from: .quick("old"), to: .quick("new"))
        let replacement = [
            "create .store.keyslots.*.tmp", "write .store.keyslots.*.tmp", "synchronize .store.keyslots.*.tmp",
            "rename .store.keyslots.*.tmp store.keyslots", "synchronize .",
        ]
        #expect(recorder.takeLines() == replacement)
        // A rotation is two of them, before and after the work on the database.
        _ = try await keyslots.rotateDataKey(authorizedBy: unlocker) { _, _ in
            #expect(recorder.takeLines() == replacement)
        }
        #expect(recorder.takeLines() == replacement)
    }

    @Test(
        "renewing all keys, before and after the work on the database, also when that does not ask for it",
        arguments: [true, false]
    )
    func rotation(asks: Bool) async throws {
        try await create()
        _ = recorder.takeLines()
        let replacement = [
            "create .store.keyslots.*.tmp", "write .store.keyslots.*.tmp", "synchronize .store.keyslots.*.tmp",
            "rename .store.keyslots.*.tmp store.keyslots", "synchronize .",
        ]
        _ = try await Keyslots(folder.keyslots, in: recorder.fileSystem)
            .rotateKeys(
                keeping: [unlocker, PassphraseUnlocker.quick("old")],
                isEncryptedWith: { _ in false },
                reencrypt: { _, _, commit in
                    if asks { try commit() }
                    #expect(recorder.takeLines() == (asks ? replacement : []))
                }
            )
        #expect(recorder.takeLines() == (asks ? replacement : replacement + replacement))
    }

    @Test("going on with a rotation that was killed, which begins with what that may not have brought to the medium")
    func recovery() async throws {
        struct Kill: Error {}
        try await create()
        let keyslots = Keyslots(folder.keyslots, in: recorder.fileSystem)
        for recovers in [true, false] {
            await #expect(throws: Kill.self) {
                _ = try await keyslots.rotateDataKey(authorizedBy: unlocker) { _, _ in throw Kill() }
            }
            _ = recorder.takeLines()
            if recovers {
                _ = try await keyslots.recoverRotation(
                    authorizedBy: unlocker,
                    isEncryptedWith: { _ in
                        #expect(recorder.takeLines() == ["synchronize ."])
                        return true
                    }
                )
            } else {
                _ = try await keyslots.rotateDataKey(authorizedBy: unlocker) { _, _ in
                    #expect(recorder.takeLines() == ["synchronize ."])
                }
            }
        }
    }

    @Test("using a secret file that is there, whose maker may have been killed before its name was on the medium")
    func existingSecretFile() async throws {
        try write(Array(String(repeating: "a", count: 64).utf8), to: folder.secretFile)
        try await create()
        #expect(recorder.takeLines() == ["synchronize ."] + creation(of: "store.keyslots"))
    }

    @Test("destroying it, what a creation has left of it, and its secret")
    func destruction() async throws {
        try await create()
        let leftover = folder.url.appending(path: ".store.keyslots.\(String(repeating: "a", count: 32)).tmp")
        try write([1, 2, 3], to: leftover)
        _ = recorder.takeLines()
        func destruction(of name: String) -> [String] { ["write \(name)", "synchronize \(name)", "remove \(name)"] }
        try await KeyslotFile.destroy(at: folder.keyslots, in: recorder.fileSystem)
        #expect(
            recorder.takeLines()
                == destruction(of: ".store.keyslots.*.tmp") + destruction(of: "store.keyslots") + ["synchronize ."]
        )
        try await unlocker.destroySecret()
        #expect(recorder.takeLines() == destruction(of: "store.secret") + ["synchronize ."])
        #expect(try folder.names() == [])
    }
}
