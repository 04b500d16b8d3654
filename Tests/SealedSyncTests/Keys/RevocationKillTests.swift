import DurableFiles
import FileSystemRecording
import Foundation
import SealedSync
import Testing

@testable import SQLCipherStore
@testable import StoreKeys

@Suite("A process that is killed while it revokes slots")
struct RevocationKillTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    /// The steps of the new database, of the first write of the keyslot file, of the replacing, and of the second write.
    private static let steps =
        [
            "remove store.db-wal", "synchronize .", "create store.db.new", "write store.db.new",
            "synchronize store.db.new", "verify store.db.new",
        ] + replacement + ["rename store.db.new store.db", "synchronize ."] + replacement

    private static let replacement = [
        "create .store.keys.*.tmp", "write .store.keys.*.tmp", "synchronize .store.keys.*.tmp",
        "rename .store.keys.*.tmp store.keys", "synchronize .",
    ]

    /// The step from which on the next opening ends the work that a kill has left; before it everything is as it was.
    private static let firstDone = 10

    /// The one moment that matters: the keyslot file has its new keys, the database has not.
    private static let betweenRenames = 10

    /// Revokes two of four slots.
    private static func revoke(in path: String, _ fileSystem: FileSystem) async throws {
        let store = UserFolder.store(in: path)
        let keyslots = Keyslots(store.keyslotsURL, in: fileSystem)
        var file = StoreFile(store.databaseURL, keyIsVerified: true)
        file.fileSystem = fileSystem
        _ = try await store.revoke(
            KeyslotFile.read(at: store.keyslotsURL).slots[1...2].map(\.id),
            authorizedBy: PassphraseUnlocker.quick("first leaked"),
            keeping: [UserFolder.unlocker(in: path), PassphraseUnlocker.quick("stays")],
            replacement: PassphraseUnlocker.quick("new"),
            dropMissing: false,
            at: (keyslots, file),
            nil
        )
    }

    private func makeStore() async throws {
        try await folder.create(notes: 300)
        for passphrase in ["first leaked", "second leaked", "stays"] {
            try await folder.store.keyslots.add(PassphraseUnlocker.quick(passphrase), authorizedBy: folder.unlocker)
        }
    }

    @Test("which is done in this order")
    func order() async throws {
        try await makeStore()
        let recorder = FileSystemRecorder(in: folder.store.url)
        try await Self.revoke(in: folder.parent.path, recorder.fileSystem)
        #expect(recorder.takeLines() == Self.steps)
    }

    /// Kills a process after a step while it revokes, and returns the thief with what the kill has left in sight.
    private func makeKilledStore(after step: Int) async throws -> (thief: Thief, before: KeyslotFile) {
        try await makeStore()
        return try await kill(after: step)
    }

    private func kill(after step: Int) async throws -> (thief: Thief, before: KeyslotFile) {
        let thief = try await Thief(in: folder.store, with: PassphraseUnlocker.quick("second leaked"))
        let before = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        let path = folder.parent.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            try await Self.revoke(in: path, .killing(after: step))
        }
        try thief.look()
        return (thief, before)
    }

    /// The new slots open the store and the revoked ones do not, or the other way round.
    private func expectSlots(areNew: Bool) async throws {
        for passphrase in ["first leaked", "second leaked", "new"] {
            let code = try await keyErrorCode {
                _ = try await folder.store.unlock(PassphraseUnlocker.quick(passphrase))
            }
            #expect((code == nil) == ((passphrase == "new") == areNew), "\(passphrase)")
        }
    }

    /// The thief is out, nothing is due, and nothing is left over.
    private func expectEnd(_ thief: Thief, notes: Int = 300) async throws {
        #expect(try await !thief.isIn())
        let file = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        #expect(!file.isRotationOverdue && !file.isRotationPending)
        try await folder.expectNotes(notes, unlocker: PassphraseUnlocker.quick("stays"))
        #expect(try folder.contents().keys.sorted() == ["store.db", "store.keys"])
    }

    @Test(
        "at any durable step leaves a store with every row, which the next opening makes wholly old or wholly new",
        arguments: 1...steps.count
    )
    func killed(step: Int) async throws {
        let (thief, before) = try await makeKilledStore(after: step)
        let isDone = step >= Self.firstDone
        try await folder.expectNotes(300)
        let after = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        #expect(!after.isRotationPending && !after.isRotationOverdue)
        #expect((after.dataKeyID == before.dataKeyID) == !isDone)
        #expect((after.slots.map(\.id) == before.slots.map(\.id)) == !isDone)
        try await expectSlots(areNew: isDone)
        #expect(try await thief.isIn() == !isDone)
        if !isDone {
            // What was left is no obstacle.
            try await folder.store.revoke(
                before.slots[1...2].map(\.id),
                keeping: [folder.unlocker, PassphraseUnlocker.quick("stays")]
            )
        }
        try await expectEnd(thief)
    }

    /// What becomes of the files between a kill in the one moment that matters and the next opening.
    enum Interference: CaseIterable {
        case newDatabaseRemoved
        case newDatabaseIsAnother
        case newDatabaseCutOff
        case newDatabaseLosesPages
        case newDatabaseHasAnEmptyPage
        case oldDatabaseChanged
        case oldDatabaseUpdated
        case oldDatabaseHasLog
    }

    @Test(
        "a new database that is not there, not the one, or too old is not used; the keys say so until they are rotated",
        arguments: Interference.allCases
    )
    func interference(_ interference: Interference) async throws {
        let (thief, before) = try await makeKilledStore(after: Self.betweenRenames)
        let database = folder.store.databaseURL
        let unfinished = URL(filePath: database.path + ".new")
        switch interference {
        case .newDatabaseRemoved: try FileManager.default.removeItem(at: unfinished)
        case .newDatabaseIsAnother: try Data(contentsOf: database).write(to: unfinished)
        case .newDatabaseCutOff: try Data(contentsOf: unfinished).prefix(100).write(to: unfinished)
        case .newDatabaseLosesPages: try Data(contentsOf: unfinished).prefix(3 * 4096).write(to: unfinished)
        case .newDatabaseHasAnEmptyPage:
            var data = try Data(contentsOf: unfinished)
            data.replaceSubrange((data.count - 2 * 4096)..<(data.count - 4096), with: Data(count: 4096))
            try data.write(to: unfinished)
        case .oldDatabaseChanged: try await openWithoutLock().run("DELETE FROM notes WHERE id = 'note-299'")
        // Its rows are as many as before, and what they hold is not compared.
        case .oldDatabaseUpdated: try updateThereAndBack(try await openWithoutLock())
        case .oldDatabaseHasLog: try await writeToLog()
        }
        let notes = interference == .oldDatabaseChanged ? 299 : 300
        try await folder.expectNotes(notes)
        try await expectSlots(areNew: true)
        let after = try await KeyslotFile.read(at: folder.store.keyslotsURL)
        #expect(after.isRotationOverdue && !after.isRotationPending)
        #expect(after.dataKeyID == before.dataKeyID)
        #expect(try await thief.isIn())
        try await folder.store.rotateDataKey(PassphraseUnlocker.quick("new"))
        try await expectEnd(thief, notes: notes)
    }

    /// A program that knows the data key and no lock.
    private func openWithoutLock() async throws -> Database {
        let key = try await StoreKeyring.open(at: folder.store.keyslotsURL, unlocker: folder.unlocker).dataKey
        let files = try StoreFiles(folder.store.databaseURL)
        let opener = DatabaseOpener(files: files, key: key, keyIsVerified: true)
        return try opener.open(opener.cipherConfiguration(CipherConfiguration.engineVersion()))
    }

    /// What stays as it is would not be written by every SQLite.
    private func updateThereAndBack(_ program: borrowing Database) throws {
        try program.run("UPDATE notes SET text = text || '!'")
        try program.run("UPDATE notes SET text = substr(text, 1, length(text) - 1)")
    }

    /// Such a program, which is killed with what it has written in the WAL alone: the database looks as old as it is.
    private func writeToLog() async throws {
        let (database, log) = (folder.store.databaseURL, URL(filePath: folder.store.databaseURL.path + "-wal"))
        var contents: [URL: Data] = [:]
        do {
            let program = try await openWithoutLock()
            _ = try program.text("PRAGMA journal_mode = WAL")
            try updateThereAndBack(program)
            for file in [database, log] { contents[file] = try Data(contentsOf: file) }
            try #require(contents[log]?.isEmpty == false)
        }
        for (file, content) in contents { try content.write(to: file) }
        try FileManager.default.setAttributes([.modificationDate: Date.distantPast], ofItemAtPath: database.path)
    }

    @Test(
        "a keyring from before is refused, and not used to go on under the key that was to go; the next unlocking ends it"
    )
    func olderKeyring() async throws {
        try await makeStore()
        let keyring = try await folder.store.unlock(folder.unlocker)
        let opened = try await folder.store.open(UserFolder.schema, keyring: keyring)
        await opened.lock()
        let (thief, _) = try await kill(after: Self.betweenRenames)
        let before = try folder.contents()
        #expect(before["store.db.new"] != nil)
        let store = folder.store
        for use in [
            { _ = try await store.open(UserFolder.schema, keyring: keyring) },
            { _ = try await store.openWithStoredSchema(keyring) },
            { try await store.unlock(opened, keyring: keyring) },
            { _ = try await store.inspect(keyring) },
            { _ = try await store.verify(keyring) },
        ] as [() async throws -> Void] {
            #expect(try await keyErrorCode { try await use() } == .outdatedKeyring)
        }
        #expect(try folder.contents() == before)
        try await store.unlock(opened, with: folder.unlocker)
        #expect(try await opened.read(Query("notes")).records.count == 300)
        await opened.close()
        try await expectEnd(thief)
    }

    @Test("what it has renamed is on the medium before the next unlocking renames something else")
    func recoveryOrder() async throws {
        _ = try await makeKilledStore(after: Self.betweenRenames)
        let recorder = FileSystemRecorder(in: folder.store.url)
        var store = folder.store
        store.fileSystem = recorder.fileSystem
        _ = try await store.unlock(folder.unlocker)
        #expect(
            recorder.takeLines()
                == ["synchronize .", "synchronize store.db.new", "rename store.db.new store.db", "synchronize ."]
                + Self.replacement
        )
    }

    @Test(
        "the next rotation of any kind ends the work as well, without an opening in between",
        arguments: [false, true]
    )
    func nextRotation(isOfDataKeyOnly: Bool) async throws {
        let (thief, _) = try await makeKilledStore(after: Self.betweenRenames)
        let unlockers =
            [folder.unlocker, try PassphraseUnlocker.quick("stays"), try PassphraseUnlocker.quick("new")]
            as [any StoreUnlocker]
        if isOfDataKeyOnly {
            try await folder.store.rotateDataKey(unlockers[1])
        } else {
            try await folder.store.rotateKeys(keeping: unlockers)
        }
        try await expectSlots(areNew: true)
        try await expectEnd(thief)
    }
}
