import Foundation
import SealedSync
import Synchronization
import Testing

@Suite("Rotating the data key of a store")
struct RotationTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    @Test("every slot opens the same rows under the new key, the old key opens nothing, and one file is left of each")
    func rotation() async throws {
        try await folder.create(notes: 500)
        let passphrase = try PassphraseUnlocker.quick("passphrase")
        try await folder.store.keyslots.add(passphrase, authorizedBy: folder.unlocker)
        let old = try await folder.store.unlock(folder.unlocker)
        let file = StoreFile(folder.store.databaseURL)
        #expect(try await file.isEncrypted(with: old.dataKey))

        let new = try await folder.store.rotateDataKey(passphrase)
        #expect(try new.dataKey != old.dataKey)
        #expect(try await !file.isEncrypted(with: old.dataKey))
        #expect(try await file.isEncrypted(with: new.dataKey))
        try await folder.expectNotes(500)
        try await folder.expectNotes(500, unlocker: passphrase)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    @Test("a keyring from before a rotation is told from a damaged database, and a store is not opened with it")
    func outdatedKeyring() async throws {
        try await folder.create(notes: 1)
        let old = try await folder.store.unlock(folder.unlocker)
        try await folder.store.rotateDataKey(folder.unlocker)
        let before = try folder.contents()
        let code = try await keyErrorCode { _ = try await folder.store.open(UserFolder.schema, keyring: old) }
        #expect(code == .outdatedKeyring)
        #expect(try folder.contents() == before)
    }

    @Test("a keyslot file from before a rotation is told from a damaged database, whatever is done with it")
    func outdatedKeyslotFile() async throws {
        try await folder.create(notes: 1)
        let old = try Data(contentsOf: folder.store.keyslotsURL)
        try await folder.store.rotateDataKey(folder.unlocker)
        let new = try Data(contentsOf: folder.store.keyslotsURL)
        try old.write(to: folder.store.keyslotsURL)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.store.keyslotsURL.path)
        let keyring = try await folder.store.unlock(folder.unlocker)
        let store = folder.store
        for use in [
            { _ = try await store.open(UserFolder.schema, keyring: keyring) },
            { _ = try await store.open(UserFolder.schema, unlocker: folder.unlocker) },
            { _ = try await store.openWithStoredSchema(keyring) },
            { _ = try await store.inspect(keyring) },
            { _ = try await store.verify(keyring) },
        ] as [() async throws -> Void] {
            #expect(try await keyErrorCode { try await use() } == .outdatedKeyslotFile)
        }
        let before = try folder.contents()
        for (number, change) in [
            { try await store.rotateDataKey(folder.unlocker) },
            { try await store.rotateKeys(keeping: [folder.unlocker]) },
            {
                try await store.revoke(
                    keyring.slots.map(\.id),
                    authorizedBy: folder.unlocker,
                    keeping: [],
                    replacement: PassphraseUnlocker.quick("new")
                )
            },
        ]
        .enumerated() as EnumeratedSequence<[() async throws -> Void]> {
            #expect(try await keyErrorCode { try await change() } == .outdatedKeyslotFile, "\(number)")
            #expect(try folder.contents() == before, "\(number): nothing is written")
        }
        try new.write(to: folder.store.keyslotsURL)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.store.keyslotsURL.path)
        try await folder.expectNotes(1)
    }

    @Test("an open store is not rotated: inUse, and the rotation leaves no trace that outlasts the next unlocking")
    func inUse() async throws {
        try await folder.create(notes: 10)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        #expect(try await storeErrorCode { try await folder.store.rotateDataKey(folder.unlocker) } == .inUse)
        #expect(try await KeyslotFile.read(at: folder.store.keyslotsURL).isRotationPending == false)
        try await store.upsert([UserFolder.note(10)], table: "notes")
        await store.close()
        try await folder.expectNotes(11)
    }

    @Test("a wrong secret and a missing store rotate nothing")
    func refused() async throws {
        #expect(try await storeErrorCode { try await folder.store.rotateDataKey(folder.unlocker) } == .notFound)
        try await folder.create(notes: 1)
        try await folder.store.keyslots.add(PassphraseUnlocker.quick("right"), authorizedBy: folder.unlocker)
        let before = try folder.contents()
        let wrong = try PassphraseUnlocker.quick("wrong")
        #expect(try await keyErrorCode { try await folder.store.rotateDataKey(wrong) } == .wrongSecret)
        #expect(try folder.contents() == before)
    }

    @Test("a changed passphrase, an added and a removed slot leave the database's bytes as they are")
    func databaseUntouched() async throws {
        try await folder.create(notes: 50)
        let before = try Data(contentsOf: folder.store.databaseURL)
        let keyslots = folder.store.keyslots
        let (first, second) = (try PassphraseUnlocker.quick("first"), try PassphraseUnlocker.quick("second"))
        try await keyslots.add(first, authorizedBy: folder.unlocker)
        try await keyslots.changePassphrase(from: first, to: second)
        let code = RecoveryCodeUnlocker(try .random())
        let slot = try await keyslots.add(code, authorizedBy: second)
        try await keyslots.remove(slot.id, keeping: [folder.unlocker, second])
        #expect(try Data(contentsOf: folder.store.databaseURL) == before)
        try await folder.expectNotes(50, unlocker: second)
        #expect(try await keyErrorCode { _ = try await folder.store.unlock(code) } == .secretUnavailable)
    }

    @Test("a cancelled rotation keeps the store, under one key, and progress is told in order")
    func cancellationAndProgress() async throws {
        try await folder.create(notes: 2000)
        let (store, unlocker) = (folder.store, folder.unlocker)
        let task = Task {
            try await store.rotateDataKey(unlocker) { progress in
                if progress.phase == .copying { unsafe withUnsafeCurrentTask { unsafe $0?.cancel() } }
            }
        }
        task.cancel()
        _ = await task.result
        try await folder.expectNotes(2000)
        #expect(try await KeyslotFile.read(at: store.keyslotsURL).isRotationPending == false)

        let phases = Phases()
        try await store.rotateDataKey(unlocker) { phases.append($0) }
        let told = phases.told
        #expect(told.first?.phase == .copying)
        #expect(told.last?.phase == .verifying)
        #expect(told.last.map { $0.completed == $0.total } == true)
        try await folder.expectNotes(2000)
    }

    @Test("ten rotations in a row lose nothing")
    func many() async throws {
        try await folder.create(notes: 100)
        var seen: Set<String> = []
        for _ in 0..<10 {
            seen.insert(try await folder.store.rotateDataKey(folder.unlocker).dataKeyID.description)
        }
        #expect(seen.count == 10)
        try await folder.expectNotes(100)
    }
}

private final class Phases: Sendable {
    private let list = Mutex<[StoreProgress]>([])

    var told: [StoreProgress] { list.withLock { $0 } }

    func append(_ progress: StoreProgress) { list.withLock { $0.append(progress) } }
}
