import Foundation
import SQLCipherStoreTestSupport
import Synchronization
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("Transactions")
struct TransactionTests {
    typealias Durability = EncryptedStoreOptions.Durability

    /// Under the one, writes run on the calling task's thread, under the other on a queue.
    private static let durabilities: [Durability] = [.normal, .full]

    private struct Refusal: Error, Equatable {}

    @Test("a closure that throws leaves nothing, and its error comes out as it is", arguments: durabilities)
    func rollback(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        try await store.upsert([Record(id: "1", ["text": "before"])], table: "items")
        await #expect(throws: Refusal()) {
            try await store.write { transaction in
                try transaction.upsert([Record(id: "1", ["text": "after"]), Record(id: "2")], into: "items")
                try transaction.delete(Query("MS_TableConfig"))
                throw Refusal()
            }
        }
        #expect(try await store.read(Query("items")).records.map { $0["text"] } == ["before"])
        await store.close()
    }

    @Test("a call that failed half-way is not committed, even when the closure goes on", arguments: durabilities)
    func halfDone(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let found = try await code {
            try await store.write { transaction in
                do {
                    try transaction.upsert([Record(id: "1"), Record(id: "2", ["int": "no number"])], into: "items")
                } catch is StoreError {
                    // What the test is about: going on all the same.
                }
                try transaction.upsert([Record(id: "3")], into: "items")
            }
        }
        #expect(found == .invalidRecord)
        #expect(try await store.read(Query("items")).records.isEmpty)
        await store.close()
    }

    @Test(
        "what follows a failure by which SQLite itself undid the transaction is not written",
        arguments: durabilities
    )
    func undone(durability: Durability) async throws {
        try await StoreSession.with(durability: durability) { session in
            let catalog = session.catalog
            let pages = try await session.writer.transaction { try $0.int64("PRAGMA page_count") ?? 0 }
            let found = try await code {
                try await session.writer.transaction { database in
                    _ = try database.int64("PRAGMA max_page_count = \(pages + 10)")
                    let backend = WriteBackend(database, catalog)
                    try backend.upsert([Record(id: "early")], into: "items")
                    let large = FieldValue.bytes(Array(repeating: 7, count: 1 << 20))
                    let full = try refusal {
                        try backend.upsert([Record(id: "large", ["bytes": large])], into: "items")
                    }
                    #expect(full == .full && !database.isInTransaction)
                    // What the test is about: going on all the same.
                    #expect(try refusal { try backend.upsert([Record(id: "late")], into: "items") } == .full)
                    #expect(try refusal { _ = try backend.record("early", in: "items") } == .full)
                    try backend.checkForCommit()
                }
            }
            #expect(found == .full)
            let ids = try await session.readers.read { database in
                try ReadBackend(database, catalog).run { try $0.records(Query("items")).map(\.id) }
            }
            #expect(ids.isEmpty, "\(ids)")
            try await session.writer.transaction { database in
                _ = try database.int64("PRAGMA max_page_count = 100000")
                try WriteBackend(database, catalog).upsert([Record(id: "next")], into: "items")
            }
        }
    }

    @Test("a call that was refused before it wrote anything does not end the transaction")
    func refused() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.write { transaction in
            do {
                try transaction.upsert([Record(id: 1)], into: "items")
            } catch let error as StoreError {
                #expect(error.code == .invalidRecord)
            }
            try transaction.upsert([Record(id: "3")], into: "items")
        }
        #expect(try await store.read(Query("items")).records.map(\.id) == ["3"])
        await store.close()
    }

    @Test("a write sees what it has written, and a read beside it the state before", arguments: durabilities)
    func isolation(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        try await store.upsert([Record(id: "1")], table: "items")
        let (written, mayFinish) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let count = store.write { transaction in
            try transaction.upsert([Record(id: "2")], into: "items")
            written.signal()
            mayFinish.wait()
            return try transaction.count(Query("items"))
        }
        let seen = try await store.read { reader in
            written.wait()
            return try reader.count(Query("items"))
        }
        #expect(seen == 1)
        mayFinish.signal()
        #expect(try await count == 2)
        #expect(try await store.read { try $0.count(Query("items")) } == 2)
        await store.close()
    }

    @Test(
        "a read that began keeps its state while writes go on, and the WAL is emptied once it ends",
        arguments: durabilities
    )
    func snapshot(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let (began, mayFinish) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        async let counts = store.read { reader in
            let first = try reader.count(Query("items"))
            began.signal()
            mayFinish.wait()
            return [first, try reader.count(Query("items"))]
        }
        try await store.read { _ in began.wait() }
        for index in 0..<50 {
            let bytes = FieldValue.bytes(Array(repeating: 1, count: 50_000))
            try await store.upsert([Record(id: .string("\(index)"), ["bytes": bytes])], table: "items")
        }
        mayFinish.signal()
        #expect(try await counts == [0, 0])
        #expect(try await store.read { try $0.count(Query("items")) } == 50)
        await store.close()
        #expect(try folder.contents()["store.db-wal"] == nil)
    }

    @Test("many readers and writers at once see whole transactions only", arguments: durabilities)
    func stress(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        try await store.upsert((0..<10).map { Record(id: .string("\($0)"), ["int": 0]) }, table: "items")
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<40 {
                        try await store.write { transaction in
                            for record in try transaction.records(Query("items")) {
                                let next = (record["int"]?.int64Value ?? 0) + 1
                                try transaction.upsert([Record(id: record.id, ["int": .int64(next)])], into: "items")
                            }
                        }
                    }
                }
                group.addTask {
                    for _ in 0..<80 {
                        let values = try await store.read { reader in
                            try reader.records(Query("items")).map { $0["int"] }
                        }
                        #expect(Set(values).count == 1)
                        #expect(values.count == 10)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.read(table: "items", itemID: "0")?["int"] == 320)
        await store.close()
    }

    @Test("a task that was cancelled before changes nothing; a waiting read can be cancelled", arguments: durabilities)
    func cancellation(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let (began, mayFinish) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let holders = (0..<2)
            .map { _ in
                Task {
                    try await store.read { _ in
                        began.signal()
                        mayFinish.wait()
                    }
                }
            }
        // On a queue of the test's own: the cooperative pool must not wait for the readers.
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "test")
                .async {
                    began.wait()
                    began.wait()
                    continuation.resume()
                }
        }
        let waiting = Task { try await store.read { try $0.count(Query("items")) } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        for _ in holders { mayFinish.signal() }
        for holder in holders { try await holder.value }

        let writing = Task {
            unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            try await store.upsert([Record(id: "1")], table: "items")
        }
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(try await store.read(Query("items")).records.isEmpty)
        await store.close()
    }

    @Test("a transaction during which the task is cancelled is committed and reported so", arguments: durabilities)
    func cancelledInside(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let writing = Task {
            try await store.write { transaction in
                try transaction.upsert([Record(id: "1")], into: "items")
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
            }
        }
        try await writing.value
        #expect(try await store.read(Query("items")).records.count == 1)
        await store.close()
    }

    @TaskLocal private static var label = "none"

    @Test(
        "a closure runs with the values, the priority and the cancellation of the calling task",
        arguments: durabilities
    )
    func callingTask(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let seen = try await Self.$label.withValue("caller") {
            try await Task(priority: .high) {
                [try await store.write { _ in (Self.label, Task.currentPriority) }]
                    + [try await store.read { _ in (Self.label, Task.currentPriority) }]
            }
            .value
        }
        for (label, priority) in seen { #expect(label == "caller" && priority == .high) }

        let began = AsyncStream<Void>.makeStream()
        let writing = Task {
            try await store.write { transaction in
                try transaction.upsert([Record(id: "1")], into: "items")
                began.continuation.yield()
                let limit = ContinuousClock.now + .seconds(60)
                while ContinuousClock.now < limit { try Task.checkCancellation() }
            }
        }
        for await _ in began.stream { break }
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(try await store.read(Query("items")).records.isEmpty)
        await store.close()
    }

    @Test(
        "a transaction ends for its caller before the next one in the queue begins to wait for anything",
        arguments: durabilities
    )
    func endsInTurn(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let (firstMayEnd, firstHasEnded) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let began = AsyncStream<Void>.makeStream()
        let first = Task {
            try await store.write { _ in
                began.continuation.yield()
                firstMayEnd.wait()
            }
            firstHasEnded.signal()
        }
        for await _ in began.stream { break }
        let second = Task {
            try await store.write { _ in firstHasEnded.wait(timeout: .now() + 20) == .success }
        }
        // Until the second one waits behind the first.
        for _ in 0..<1_000 { await Task.yield() }
        firstMayEnd.signal()
        #expect(try await second.value)
        try await first.value
        await store.close()
    }

    @Test(
        "changes name the tables of committed writes that touched a row, before write returns",
        arguments: durabilities
    )
    func changes(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, [.items, .folding], durability: durability)
        var changes = store.changes().makeAsyncIterator()
        try await store.write { transaction in
            try transaction.upsert([Record(id: "1")], into: "items")
            try transaction.upsert([Record(id: 1)], into: "MS_TableOperations")
            try transaction.upsert([], into: "folding")
            try transaction.delete(["x"], from: "folding")
        }
        #expect(await changes.next()?.tables == ["items", "MS_TableOperations"])
        try await store.deleteItems(withIDs: ["x"], table: "items")
        try await store.delete(Query("folding"))
        await #expect(throws: Refusal()) {
            try await store.write { transaction in
                try transaction.upsert([Record(id: "9")], into: "items")
                throw Refusal()
            }
        }
        #expect(try await store.write { try $0.insert(Record(id: "1"), into: "items") } == false)
        // Equal values are a change; what came before was none.
        try await store.upsert([Record(id: "1", ["text": .null])], table: "items")
        #expect(await changes.next()?.tables == ["items"])
        try await store.delete(Query("MS_TableOperations"))
        #expect(await changes.next()?.tables == ["MS_TableOperations"])
        await store.close()
        #expect(await changes.next() == nil)
    }

    @Test("an error thrown while walking over rows ends the walk and comes out as it is")
    func throwingInForEach() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert((0..<10).map { Record(id: .string("\($0)")) }, table: "items")
        let seen = Mutex(0)
        await #expect(throws: Refusal()) {
            try await store.read { reader in
                try reader.forEach(Query("items")) { _ in
                    let count = seen.withLock {
                        $0 += 1
                        return $0
                    }
                    if count == 3 { throw Refusal() }
                }
            }
        }
        #expect(seen.withLock { $0 } == 3)
        #expect(try await store.read(Query("items")).records.count == 10)
        await store.close()
    }
}

/// The code of the error that a closure throws; nil when it throws none.
private func refusal(_ body: () throws -> Void) throws -> StoreError.Code? {
    do {
        try body()
        return nil
    } catch let error as StoreError {
        return error.code
    }
}
