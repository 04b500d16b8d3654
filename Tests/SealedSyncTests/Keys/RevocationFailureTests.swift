import DurableFiles
import FileSystemRecording
import Foundation
import SealedSync
import SeededNumbers
import Synchronization
import Testing

@testable import SQLCipherStore
@testable import StoreKeys

@Suite("A rotation of all keys that cannot be done")
struct RevocationFailureTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    #if os(Linux)
    @Test("without room, at whatever size the disk is full, leaves the keyslot file and every row, and works later")
    func fullDisk() async throws {
        try await folder.create(notes: 300)
        let before = try Data(contentsOf: folder.store.keyslotsURL)
        let size = try folder.contents()["store.db"]?.count ?? 0
        let seed = SeededGenerator.seed()
        var random = SeededGenerator(seed: seed)
        let sizes = [100, 4095, size - 1] + (0..<3).map { _ in Int.random(in: 100..<size, using: &random) }
        let path = folder.parent.path
        for limit in sizes {
            await #expect(processExitsWith: .success) { [path = path as String, limit = limit as Int] in
                try UserFolder.limitFiles(to: limit)
                let code = try await storeErrorCode {
                    try await UserFolder.store(in: path).rotateKeys(keeping: [UserFolder.unlocker(in: path)])
                }
                try #require(code == .full || code == .inputOutput)
            }
            #expect(try Data(contentsOf: folder.store.keyslotsURL) == before, "seed \(seed), \(limit) bytes")
            try await folder.expectNotes(300)
            #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"], "seed \(seed), \(limit) bytes")
        }
        try await folder.store.rotateKeys(keeping: [folder.unlocker])
        try await folder.expectNotes(300)
    }
    #endif

    @Test("while the store is open is refused, in this process and another, and not a byte of the keys changes")
    func inUse() async throws {
        try await folder.create(notes: 10)
        let before = try Data(contentsOf: folder.store.keyslotsURL)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        #expect(try await storeErrorCode { try await folder.store.rotateKeys(keeping: [folder.unlocker]) } == .inUse)
        let path = folder.parent.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let (store, unlocker) = (UserFolder.store(in: path), UserFolder.unlocker(in: path))
            let slot = try await KeyslotFile.read(at: store.keyslotsURL).slots[0].id
            let code = try await storeErrorCode {
                try await store.revoke(
                    [slot],
                    authorizedBy: unlocker,
                    keeping: [],
                    replacement: PassphraseUnlocker.quick("new")
                )
            }
            try #require(code == .inUse)
        }
        #expect(try Data(contentsOf: folder.store.keyslotsURL) == before)
        try await store.upsert([UserFolder.note(10)], table: "notes")
        await store.close()
        try await folder.expectNotes(11)
    }

    @Test("a keyslot file that cannot be written at the last moment keeps the database, under its old key")
    func exchangedKeyslots() async throws {
        try await folder.create(notes: 10)
        let (before, keyslots) = (try Data(contentsOf: folder.store.keyslotsURL), folder.store.keyslotsURL)
        var file = StoreFile(folder.store.databaseURL, keyIsVerified: true)
        file.fileSystem = FileSystem { call in
            guard case .verified = call else { return }
            // Another file with the same bytes: somebody has put a backup back.
            #expect(throws: Never.self) {
                try FileManager.default.removeItem(at: keyslots)
                try before.write(to: keyslots)
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: keyslots.path)
            }
        }
        let place = (keyslots: folder.store.keyslots, file: file)
        let error = await #expect(throws: KeyError.self) {
            _ = try await folder.store.rotateKeys(keeping: [folder.unlocker], dropMissing: false, at: place, nil)
        }
        #expect(error?.code == .inUse)
        #expect(error?.message.contains("have changed") == false, "the slots are what they were")
        #expect(try Data(contentsOf: keyslots) == before)
        try await folder.expectNotes(10)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    @Test(
        "a new database that cannot take its place is kept until it can, and the error says that the slots have changed"
    )
    func replacingFails() async throws {
        try await folder.create(notes: 10)
        let leaked = try PassphraseUnlocker.quick("leaked")
        try await folder.store.keyslots.add(leaked, authorizedBy: folder.unlocker)
        let thief = try await Thief(in: folder.store, with: leaked)
        let (database, elsewhere) = (folder.store.databaseURL, folder.parent.appending(path: "elsewhere.db"))
        // A file does not take the place of a folder.
        let keyslots = Keyslots(
            folder.store.keyslotsURL,
            in: .acting(after: 5) {
                #expect(throws: Never.self) {
                    try FileManager.default.moveItem(at: database, to: elsewhere)
                    try FileManager.default.createDirectory(at: database, withIntermediateDirectories: false)
                }
            }
        )
        do {
            _ = try await folder.store.revoke(
                [try await KeyslotFile.read(at: keyslots.url).slots[1].id],
                authorizedBy: leaked,
                keeping: [folder.unlocker],
                replacement: nil,
                dropMissing: false,
                at: (keyslots, StoreFile(database, keyIsVerified: true)),
                nil
            )
            Issue.record("the database took the place of a folder")
        } catch let error as StoreError {
            #expect(error.code == .inputOutput)
            #expect(error.message.contains("The slots have changed already"), "\(error)")
        }
        try FileManager.default.removeItem(at: database)
        try FileManager.default.moveItem(at: elsewhere, to: database)
        try await folder.expectNotes(10)
        let file = try await KeyslotFile.read(at: keyslots.url)
        #expect(file.slots.count == 1 && !file.isRotationPending && !file.isRotationOverdue)
        try thief.look()
        #expect(try await !thief.isIn())
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    @Test("a keyslot file whose name could not be brought to the medium has changed, and the error says so")
    func unprovenKeyslots() async throws {
        try await folder.create(notes: 10)
        let (store, unlocker) = (folder.store, folder.unlocker)
        let elsewhere = folder.parent.appending(path: "elsewhere")
        // A folder that has another name is not found when its names are to be brought to the medium.
        let keyslots = Keyslots(
            store.keyslotsURL,
            in: FileSystem { call in
                guard case .renamed = call else { return }
                #expect(throws: Never.self) { try FileManager.default.moveItem(at: store.url, to: elsewhere) }
            }
        )
        let place = (keyslots: keyslots, file: StoreFile(store.databaseURL, keyIsVerified: true))
        let error = await #expect(throws: KeyError.self) {
            _ = try await store.rotateKeys(keeping: [unlocker], dropMissing: false, at: place, nil)
        }
        #expect(error?.code == .inputOutput)
        #expect(error?.message.contains("The slots have changed already") == true, "\(String(describing: error))")
        try FileManager.default.moveItem(at: elsewhere, to: store.url)
        try await folder.expectNotes(10)
        let file = try await KeyslotFile.read(at: store.keyslotsURL)
        #expect(!file.isRotationPending && !file.isRotationOverdue)
    }

    /// A task that ends itself after a step of its work on the database, or on the keyslot file; steps count from 1.
    private func cancelledRotation(
        afterDatabaseStep databaseStep: Int,
        orKeyslotStep keyslotStep: Int
    ) async -> Result<KeyRotation, any Error> {
        let (gate, opened) = AsyncStream.makeStream(of: Never.self)
        let running = Mutex<Task<KeyRotation, any Error>?>(nil)
        let cancel: @Sendable () -> Void = { running.withLock { $0 }?.cancel() }
        let (store, unlocker) = (folder.store, folder.unlocker)
        var file = StoreFile(store.databaseURL, keyIsVerified: true)
        file.fileSystem = .acting(after: databaseStep, cancel)
        let place = (keyslots: Keyslots(store.keyslotsURL, in: .acting(after: keyslotStep, cancel)), file: file)
        let task = Task {
            for await _ in gate {}
            return try await store.rotateKeys(keeping: [unlocker], dropMissing: false, at: place, nil)
        }
        running.withLock { $0 = task }
        opened.finish()
        return await task.result
    }

    @Test(
        "a task that is cancelled before the keyslot file is written changes nothing",
        // From the removal of the WAL to the reading back of the new database.
        arguments: 1...6
    )
    func cancellation(step: Int) async throws {
        try await folder.create(notes: 20)
        let before = try Data(contentsOf: folder.store.keyslotsURL)
        let result = await cancelledRotation(afterDatabaseStep: step, orKeyslotStep: 0)
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(try Data(contentsOf: folder.store.keyslotsURL) == before)
        try await folder.expectNotes(20)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    // The keyslot file is written twice, in five steps each; between them the database gets its new name, its seventh step.
    @Test("a task that is cancelled after that ends its work", arguments: 5...10)
    func lateCancellation(step: Int) async throws {
        try await folder.create(notes: 20)
        let keyring = try await cancelledRotation(afterDatabaseStep: 7, orKeyslotStep: step).get().keyring
        try await folder.expectNotes(20)
        let file = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        #expect(!file.isRotationPending && !file.isRotationOverdue)
        #expect(file.dataKeyID == keyring.dataKeyID)
    }
}
