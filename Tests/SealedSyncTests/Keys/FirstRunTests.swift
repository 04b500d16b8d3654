import Foundation
import SealedSync
import Testing

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
