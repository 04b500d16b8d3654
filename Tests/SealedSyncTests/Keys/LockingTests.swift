import Foundation
import SealedSync
import Testing

@testable import SQLCipherStore

@Suite("Locking an open store")
struct LockingTests {
    private let folder: UserFolder

    init() throws { folder = try UserFolder() }

    @Test("a locked store refuses everything with locked, and goes on after the unlocking, streams of changes included")
    func lockAndUnlock() async throws {
        try await folder.create(notes: 3)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        var changes = store.changes().makeAsyncIterator()
        await store.lock()
        await store.lock()
        #expect(store.isLocked)
        #expect(try await storeErrorCode { _ = try await store.read(Query("notes")) } == .locked)
        #expect(try await storeErrorCode { try await store.upsert([UserFolder.note(3)], table: "notes") } == .locked)
        let backup = folder.parent.appending(path: "backup.db")
        #expect(try await storeErrorCode { try await store.backUp(to: backup) } == .locked)

        try await folder.store.unlock(store, with: folder.unlocker)
        try await folder.store.unlock(store, with: folder.unlocker)
        #expect(!store.isLocked)
        #expect(await changes.next() == StoreChange(tables: Set(store.schema.allTables.map(\.name))))
        try await store.upsert([UserFolder.note(3)], table: "notes")
        #expect(await changes.next() == StoreChange(tables: ["notes"]))
        await store.close()
        try await folder.expectNotes(4)
    }

    @Test("a live query waits while the store is locked, and then gives what others have written meanwhile")
    func liveQuery() async throws {
        try await folder.create(notes: 3)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        var (counts, later) = (
            store.observeCount(Query("notes")).makeAsyncIterator(),
            store.observeCount(Query("notes")).makeAsyncIterator()
        )
        #expect(try await counts.next() == 3)
        // A change that is looked at when the store is locked already, and a query that begins then.
        try await store.upsert([UserFolder.note(3)], table: "notes")
        await store.lock()
        let waiting = Task { [counts, later] in
            var (counts, later) = (counts, later)
            return (try await counts.next(), try await later.next())
        }
        // Enough for the query to have looked at the locked store, in all likelihood.
        for _ in 0..<1_000 { await Task.yield() }
        let other = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        try await other.upsert([UserFolder.note(4)], table: "notes")
        await other.close()
        try await folder.store.unlock(store, with: folder.unlocker)
        let (first, second) = try await waiting.value
        #expect(first == 5 && second == 5)
        await store.close()
    }

    @Test("a live query of a closure that begins while the store is locked goes on with it", .timeLimit(.minutes(1)))
    func liveClosure() async throws {
        try await folder.create(notes: 3)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        let context = SyncContext(store: store)
        await store.lock()
        async let first = firstCount(context)
        // Enough for the query to have looked at the locked store, in all likelihood.
        for _ in 0..<1_000 { await Task.yield() }
        try await folder.store.unlock(store, with: folder.unlocker)
        #expect(try await first == 3)
        await store.close()
    }

    private func firstCount(_ context: SyncContext) async throws -> Int? {
        var counts = context.observe { try $0.count(Query("notes")) }.makeAsyncIterator()
        return try await counts.next()
    }

    @Test("while a store is locked its data key can be rotated, and the next unlocking finds the new one")
    func rotationWhileLocked() async throws {
        try await folder.create(notes: 20)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        await store.lock()
        try await folder.store.rotateDataKey(folder.unlocker)
        try await folder.store.unlock(store, with: folder.unlocker)
        #expect(try await store.read(Query("notes")).records.count == 20)
        await store.close()
    }

    /// The ways to open a store with a keyring.
    enum Opening: CaseIterable {
        case open, openWithStoredSchema, unlock
    }

    @Test(
        "a rotation that is begun, and killed, while an opening waits for the lock, is noticed, and its files stay",
        arguments: Opening.allCases
    )
    func rotationBegunMeanwhile(_ opening: Opening) async throws {
        struct Kill: Error {}
        try await folder.create(notes: 1)
        let (store, unlocker) = (folder.store, folder.unlocker)
        let keyring = try await store.unlock(unlocker)
        let locked = try await store.open(UserFolder.schema, keyring: keyring)
        await locked.lock()
        // What works on the database waits for one that was dropped to be closed.
        let (gate, opened) = AsyncStream.makeStream(of: Never.self)
        try DroppedStores.close(StoreFiles(store.databaseURL).database) { for await _ in gate {} }
        let outcome = Task {
            try await keyErrorCode {
                switch opening {
                case .open: try await store.open(UserFolder.schema, keyring: keyring).close()
                case .openWithStoredSchema: try await store.openWithStoredSchema(keyring).close()
                case .unlock: try await store.unlock(locked, keyring: keyring)
                }
            }
        }
        // Enough for the keyring to have been found up to date, in all likelihood.
        for _ in 0..<200_000 { await Task.yield() }
        await #expect(throws: Kill.self) {
            _ = try await store.keyslots.rotateDataKey(authorizedBy: unlocker) { _, _ in throw Kill() }
        }
        try Data("new".utf8).write(to: URL(filePath: store.databaseURL.path + ".new"))
        opened.finish()
        #expect(try await outcome.value == .outdatedKeyring)
        #expect(try folder.contents()["store.db.new"] == Data("new".utf8))
        await locked.close()
        try await folder.expectNotes(1)
    }

    @Test("a wrong secret leaves a locked store locked; a closed one is closed whether it was locked or not")
    func refusedUnlocking() async throws {
        try await folder.create(notes: 1)
        try await folder.store.keyslots.add(PassphraseUnlocker.quick("right"), authorizedBy: folder.unlocker)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        await store.lock()
        let wrong = try PassphraseUnlocker.quick("wrong")
        #expect(try await keyErrorCode { try await folder.store.unlock(store, with: wrong) } == .wrongSecret)
        #expect(store.isLocked)
        let keyring = try await folder.store.unlock(folder.unlocker)
        keyring.lock()
        #expect(try await keyErrorCode { try await folder.store.unlock(store, keyring: keyring) } == .locked)

        // Somebody else may open it meanwhile; then the unlocking waits for its turn.
        let other = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        #expect(try await storeErrorCode { try await folder.store.unlock(store, with: folder.unlocker) } == .inUse)
        #expect(store.isLocked)
        await other.close()

        await store.close()
        #expect(try await storeErrorCode { _ = try await store.read(Query("notes")) } == .closed)
        #expect(try await storeErrorCode { try await folder.store.unlock(store, with: folder.unlocker) } == .closed)
        await store.lock()
        #expect(!store.isLocked)
    }

    @Test("locking under load: every write is whole or refused with locked, and what was confirmed is there afterwards")
    func underLoad() async throws {
        try await folder.create(notes: 0)
        let store = try await folder.store.open(UserFolder.schema, unlocker: folder.unlocker)
        let unlocker = folder.unlocker
        for round in 0..<5 {
            // Each task writes pairs in one transaction until it is refused.
            let confirmed = try await withThrowingTaskGroup(of: Int.self) { group in
                for writer in 0..<6 {
                    group.addTask {
                        var count = 0
                        while true {
                            let ids = ["a", "b"].map { "\(round)-\(writer)-\(count)-\($0)" }
                            do {
                                try await store.write { transaction in
                                    for id in ids {
                                        try transaction.upsert([Record(id: .string(id), ["text": "x"])], into: "notes")
                                    }
                                }
                            } catch let error as StoreError where error.code == .locked {
                                return count
                            }
                            count += 1
                        }
                    }
                    group.addTask {
                        while true {
                            do {
                                let count = try await store.read(Query("notes")).records.count
                                #expect(count % 2 == 0, "a transaction was seen in parts")
                            } catch let error as StoreError where error.code == .locked {
                                return 0
                            }
                        }
                    }
                }
                while try await store.read(Query("notes")).records.count < 20 * (round + 1) {
                    await Task.yield()
                }
                await store.lock()
                return try await group.reduce(0, +)
            }
            try await folder.store.unlock(store, with: unlocker)
            let ids = try await store.read(Query("notes")).records.map(\.id)
            let own = ids.filter { "\($0)".contains("\(round)-") }
            #expect(own.count >= 2 * confirmed)
            #expect(ids.count % 2 == 0)
        }
        await store.close()
    }

    @Test("locking, unlocking and closing at once, from many tasks, end with a closed store that is whole")
    func racing() async throws {
        try await folder.create(notes: 5)
        let (storeFolder, unlocker) = (folder.store, folder.unlocker)
        let store = try await storeFolder.open(UserFolder.schema, unlocker: unlocker)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<30 {
                group.addTask {
                    do {
                        switch number % 3 {
                        case 0: await store.lock()
                        case 1: try await storeFolder.unlock(store, with: unlocker)
                        default: _ = try await store.read(Query("notes"))
                        }
                    } catch let error as StoreError where [.locked, .closed].contains(error.code) {
                        // Which of them comes first is anybody's guess.
                    }
                }
            }
            group.addTask { await store.close() }
            try await group.waitForAll()
        }
        try await folder.expectNotes(5)
    }
}
