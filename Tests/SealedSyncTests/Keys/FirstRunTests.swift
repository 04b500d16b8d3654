import FileSystemRecording
import Foundation
import SealedSync
import Synchronization
import Testing

@testable import SQLCipherStore

/// Tells when it is asked for its secret.
private struct AskingUnlocker: StoreUnlocker {
    let base: any StoreUnlocker
    let isAsked: @Sendable () -> Void

    var slotKind: SlotKind { base.slotKind }
    var slotLabel: String { base.slotLabel }
    var survivesRestart: Bool { base.survivesRestart }
    func wantsRenewal(of slot: Keyslot) -> Bool { base.wantsRenewal(of: slot) }
    func derivationWork(of slot: Keyslot) -> Int { base.derivationWork(of: slot) }
    var maximumDerivationWork: Int { base.maximumDerivationWork }
    func enroll(storeID: RandomIdentifier) async throws -> SlotEnrollment { try await base.enroll(storeID: storeID) }
    func secret(of slot: Keyslot, storeID: RandomIdentifier) async throws -> SecretBytes {
        defer { isAsked() }
        return try await base.secret(of: slot, storeID: storeID)
    }
}

@Suite("The first run")
struct FirstRunTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    @Test("of several processes at once ends with one key, under which all have written")
    func processes() async throws {
        let path = folder.parent.path
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, number = number as Int] in
                        let parent = URL(filePath: path)
                        // All wait for each other at the last moment.
                        try Data().write(to: parent.appending(path: "ready-\(number)"))
                        while try FileManager.default.contentsOfDirectory(atPath: path)
                            .filter({ $0.hasPrefix("ready-") }).count < 4
                        {
                            await Task.yield()
                        }
                        while true {
                            do {
                                let store = try await UserFolder.store(in: path)
                                    .openOrCreate(UserFolder.schema, unlocker: UserFolder.unlocker(in: path))
                                try await store.upsert([UserFolder.note(number)], table: "notes")
                                await store.close()
                                return
                            } catch let error as StoreError where error.code == .inUse {
                                await Task.yield()
                            }
                        }
                    }
                }
            }
        }
        try await folder.expectNotes(4)
        #expect(try await KeyslotFile.read(at: folder.store.keyslotsURL).revision == 1)
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    @Test("never makes a new key beside a database: a missing keyslot file is secretUnavailable and stays missing")
    func databaseWithoutKeys() async throws {
        try await folder.create(notes: 2)
        let away = folder.parent.appending(path: "away")
        try FileManager.default.moveItem(at: folder.store.keyslotsURL, to: away)
        let before = try folder.contents()
        let (store, unlocker) = (folder.store, folder.unlocker)
        #expect(
            try await keyErrorCode { _ = try await store.openOrCreate(UserFolder.schema, unlocker: unlocker) }
                == .secretUnavailable
        )
        #expect(
            try await storeErrorCode { _ = try await store.create(UserFolder.schema, unlocker: unlocker) }
                == .alreadyExists
        )
        #expect(try folder.contents() == before)
        try FileManager.default.moveItem(at: away, to: folder.store.keyslotsURL)
        try await folder.expectNotes(2)
    }

    /// A plain SQLite file that can be imported.
    private func makePlaintext() async throws -> URL {
        let other = try UserFolder()
        try await other.create(notes: 1)
        let plaintext = folder.parent.appending(path: "plain.db")
        try await StoreFile(other.store.databaseURL)
            .exportPlaintext(to: plaintext, key: other.store.unlock(other.unlocker).dataKey)
        return plaintext
    }

    @Test("with an import that fails leaves the keys of a store that somebody else makes meanwhile")
    func failedImportBesideAnother() async throws {
        let (store, unlocker, plaintext) = (folder.store, folder.unlocker, try await makePlaintext())
        let (gate, opened) = AsyncStream.makeStream(of: Never.self)
        let (reached, reach) = AsyncStream.makeStream(of: Void.self)
        let running = Mutex<Task<Void, any Error>?>(nil)
        let (start, started) = AsyncStream.makeStream(of: Never.self)
        let database = store.databaseURL
        let task = Task {
            for await _ in start {}
            _ = try await store.encrypt(plaintext, unlocker: unlocker) { _ in
                guard let task = running.withLock({ $0.take() }) else { return }
                task.cancel()
                // What removes the keys waits for a store that was dropped to be closed.
                #expect(throws: Never.self) {
                    try DroppedStores.close(StoreFiles(database).database) { for await _ in gate {} }
                }
                reach.finish()
            }
        }
        running.withLock { $0 = task }
        started.finish()
        for await _ in reached {}
        // Enough for it to have found that there is no database, in all likelihood.
        for _ in 0..<200_000 { await Task.yield() }
        try Data("somebody else's".utf8).write(to: database)
        opened.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    @Test("makes no database of keys that are destroyed after they were read", arguments: [false, true])
    func keysDestroyedMeanwhile(isImport: Bool) async throws {
        let (store, unlocker) = (folder.store, folder.unlocker)
        let plaintext = try await makePlaintext()
        try FileManager.default.createDirectory(at: store.url, withIntermediateDirectories: true)
        _ = try await StoreKeyring.create(at: store.keyslotsURL, unlocker: unlocker)

        // What works on the database waits for one that was dropped to be closed.
        let (gate, opened) = AsyncStream.makeStream(of: Never.self)
        try DroppedStores.close(StoreFiles(store.databaseURL).database) { for await _ in gate {} }
        let (asked, reached) = AsyncStream.makeStream(of: Never.self)
        let asking = AskingUnlocker(base: unlocker) { reached.finish() }
        let creation = Task {
            try await keyErrorCode {
                if isImport {
                    try await store.encrypt(plaintext, unlocker: asking)
                } else {
                    try await store.openOrCreate(UserFolder.schema, unlocker: asking).close()
                }
            }
        }
        for await _ in asked {}
        // The keys were read; enough for the first look at their file as well, in all likelihood.
        for _ in 0..<200_000 { await Task.yield() }
        try FileManager.default.removeItem(at: store.keyslotsURL)
        opened.finish()
        #expect(try await creation.value == .secretUnavailable)
        #expect(try folder.contents().isEmpty)
    }

    @Test("goes on with the keys of one that was killed when their name is on the medium, and not before")
    func interrupted() async throws {
        try FileManager.default.createDirectory(at: folder.store.url, withIntermediateDirectories: true)
        _ = try await StoreKeyring.create(at: folder.store.keyslotsURL, unlocker: folder.unlocker)
        let recorder = FileSystemRecorder(in: folder.store.url)
        var store = folder.store
        store.fileSystem = recorder.fileSystem
        try await store.openOrCreate(UserFolder.schema, unlocker: folder.unlocker).close()
        #expect(recorder.takeLines().drop { $0 != "synchronize ." }.dropFirst().first == "create store.db.new")
    }

    @Test("with an import that fails says why, also when its keys cannot be removed again")
    func failedImport() async throws {
        let plaintext = folder.parent.appending(path: "plain.db")
        try Data("no database, but long enough to be looked at as one".utf8).write(to: plaintext)
        try FileManager.default.createDirectory(at: folder.store.url, withIntermediateDirectories: true)
        let lock = try LockFile(StoreFiles(folder.store.databaseURL))
        let (store, unlocker) = (folder.store, folder.unlocker)
        #expect(
            try await storeErrorCode { try await store.encrypt(plaintext, unlocker: unlocker) } == .unsupportedFormat
        )
        #expect(try folder.contents().keys.sorted() == ["store.keys"])
        withExtendedLifetime(lock) {}
    }

    @Test("opens what is there the second time, with the same key")
    func secondRun() async throws {
        for number in 0..<3 {
            let store = try await folder.store.openOrCreate(UserFolder.schema, unlocker: folder.unlocker)
            try await store.upsert([UserFolder.note(number)], table: "notes")
            await store.close()
        }
        try await folder.expectNotes(3)
        let wrong = try PassphraseUnlocker.quick("another")
        #expect(
            try await keyErrorCode { _ = try await folder.store.openOrCreate(UserFolder.schema, unlocker: wrong) }
                == .secretUnavailable
        )
    }
}
