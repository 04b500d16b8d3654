import Dispatch
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

/// The limits on time only end a wait for what never comes; nothing is measured.
@Suite("Closing a store", .timeLimit(.minutes(2)))
struct ClosingTests {
    typealias Durability = EncryptedStoreOptions.Durability

    /// A task whose transaction has begun, and lasts until the semaphore is signalled.
    private static func begun(
        _ transaction: @escaping @Sendable (_ begin: @escaping @Sendable () -> Void) async throws -> Void
    ) async -> Task<Void, any Error> {
        let (began, begin) = AsyncStream<Void>.makeStream()
        let task = Task { try await transaction { begin.yield() } }
        for await _ in began { break }
        return task
    }

    /// Waits until closing has begun. Asks by writes where reads would have to wait for a connection.
    private static func closed(_ store: EncryptedStore, asking write: Bool = false) async throws {
        func ask() async throws {
            if write { try await store.upsert([], table: "items") } else { _ = try await store.read(Query("items")) }
        }
        while try await code(of: ask) != .closed { await Task.yield() }
    }

    @Test("waits for the transactions that run and lets no new one in", arguments: [Durability.normal, .full])
    func waits(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let mayFinish = DispatchSemaphore(value: 0)
        let writing = await Self.begun { begin in
            try await store.write { transaction in
                begin()
                mayFinish.wait()
                try transaction.upsert([Record(id: "1")], into: "items")
            }
        }
        let hasClosed = Mutex(false)
        let closing = Task {
            await store.close()
            hasClosed.withLock { $0 = true }
        }
        try await Self.closed(store)
        #expect(!hasClosed.withLock { $0 })
        mayFinish.signal()
        try await writing.value
        await closing.value
        let again = try await EncryptedStore.open(in: folder)
        #expect(try await again.read(Query("items")).records.count == 1)
        await again.close()
    }

    @Test(
        "ends the writes that wait for their turn with closed, and keeps the one that runs; who was cancelled hears of that",
        arguments: [Durability.normal, .full]
    )
    func waitingWrites(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability)
        let mayFinish = DispatchSemaphore(value: 0)
        let running = await Self.begun { begin in
            try await store.write { transaction in
                begin()
                mayFinish.wait()
                try transaction.upsert([Record(id: "running")], into: "items")
            }
        }
        let waiting = (0..<50)
            .map { number in
                Task { try await store.upsert([Record(id: .string("waiting \(number)"))], table: "items") }
            }
        // Until they wait behind the first; one that comes later is refused as well.
        for _ in 0..<1_000 { await Task.yield() }
        waiting[20].cancel()
        await #expect(throws: CancellationError.self) { try await waiting[20].value }
        let closings = (0..<3).map { _ in Task { await store.close() } }
        try await Self.closed(store)
        mayFinish.signal()
        try await running.value
        for (number, task) in waiting.enumerated() where number != 20 {
            #expect(try await code { try await task.value } == .closed, "\(number)")
        }
        for closing in closings { await closing.value }
        await store.close()
        let again = try await EncryptedStore.open(in: folder)
        #expect(try await again.read(Query("items")).records.map(\.id) == ["running"])
        await again.close()
    }

    @Test("ends the reads that wait for a connection with closed, and gives those that run their result")
    func waitingReads() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert([Record(id: "1")], table: "items")
        let (mayFinish, counted) = (DispatchSemaphore(value: 0), Order())
        var running: [Task<Void, any Error>] = []
        for _ in 0..<EncryptedStoreOptions().readerCount {
            running.append(
                await Self.begun { begin in
                    try await store.read { reader in
                        begin()
                        mayFinish.wait()
                        counted.append(try reader.count(Query("items")))
                    }
                }
            )
        }
        let waiting = (0..<30)
            .map { number in
                Task {
                    switch number % 3 {
                    case 0: _ = try await store.read(table: "items", itemID: "1")
                    case 1: _ = try await store.read(Query("items").limited(to: 1)).records
                    default: _ = try await store.read { _ in Issue.record("it has begun") }
                    }
                }
            }
        for _ in 0..<1_000 { await Task.yield() }
        let closing = Task { await store.close() }
        try await Self.closed(store, asking: true)
        for _ in running { mayFinish.signal() }
        for task in running { try await task.value }
        for (number, task) in waiting.enumerated() {
            #expect(try await code { try await task.value } == .closed, "\(number)")
        }
        await closing.value
        #expect(counted.numbers == running.map { _ in 1 })
    }

    @Test("does not end a brief read that has begun and goes on elsewhere because it turns out to be long")
    func movedRead() async throws {
        try await StoreSession.with { session in
            let admissions = Mutex(0)
            let runs = Mutex(0)
            let value = try await session.readers.readInPlace(
                admission: {
                    let count = admissions.withLock {
                        $0 += 1
                        return $0
                    }
                    if count > 1 { throw StoreError.closed }
                },
                { _ in
                    let run = runs.withLock {
                        $0 += 1
                        return $0
                    }
                    if run == 1 { throw ReadTookLong() }
                    return run
                }
            )
            #expect(value == 2)
            // What is refused gives its connection back.
            for _ in 0..<10 {
                await #expect(throws: StoreError.self) {
                    try await session.readers.readInPlace(admission: { throw StoreError.closed }, { _ in })
                }
            }
        }
    }
}
