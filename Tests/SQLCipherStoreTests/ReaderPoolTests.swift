import Dispatch
import Foundation
import SeededNumbers
import SQLCipherStoreTestSupport
import SyncContract
import Synchronization
import Testing

@testable import SQLCipherStore

/// The limits on time only end a wait for what never comes; nothing is measured.
@Suite("The connections that read", .timeLimit(.minutes(5)))
struct ReaderPoolTests {
    /// A statement that takes minutes.
    private static let endless = """
        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000000000)
        SELECT COUNT(*) FROM number
        """
    /// One that takes some milliseconds: more than a brief read may.
    private static let long = """
        WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 20000)
        SELECT COUNT(*) FROM number
        """

    private struct Refusal: Error {}

    /// Holds every connection until it is told to let go.
    private final class Holders: Sendable {
        private let mayEnd = DispatchSemaphore(value: 0)
        private let tasks: [Task<Void, any Error>]

        init(_ readers: ReaderPool, count: Int) async {
            let (began, begin) = AsyncStream<Void>.makeStream()
            tasks = (0..<count)
                .map { [mayEnd] _ in
                    Task {
                        try await readers.read { _ in
                            begin.yield()
                            mayEnd.wait()
                        }
                    }
                }
            var iterator = began.makeAsyncIterator()
            for _ in 0..<count { await iterator.next() }
        }

        func letGo() async throws {
            for _ in tasks { mayEnd.signal() }
            for task in tasks { try await task.value }
        }
    }

    private static func waiting(_ count: Int, for readers: ReaderPool) async {
        while readers.waitingCount != count { await Task.yield() }
    }

    @Test("a read gives its value or its error, on the calling thread and on a queue")
    func outcome() async throws {
        try await StoreSession.with { session in
            for number in 0..<200 {
                let (inPlace, onQueue) = (
                    try await session.readers.readInPlace { _ in number },
                    try await session.readers.read { _ in number }
                )
                #expect((inPlace, onQueue) == (number, number))
            }
            await #expect(throws: Refusal.self) { try await session.readers.readInPlace { _ in throw Refusal() } }
            await #expect(throws: Refusal.self) { try await session.readers.read { _ in throw Refusal() } }
        }
    }

    @Test("a long statement ends when the task is cancelled, also one that was to be brief", arguments: [true, false])
    func cancelledStatement(inPlace: Bool) async throws {
        try await StoreSession.with(readerCount: 1) { session in
            let (began, begin) = AsyncStream<Void>.makeStream()
            let body: @Sendable (Database) throws -> Int64? = { database in
                begin.yield()
                return try database.int64(Self.endless)
            }
            let reading = Task {
                inPlace ? try await session.readers.readInPlace(body) : try await session.readers.read(body)
            }
            for await _ in began { break }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            let count = try await session.readers.readInPlace { try $0.int64(Self.long) }
            #expect(count == 20_000)
        }
    }

    @Test("what a cancelled task makes of the end of a statement is no result", arguments: [true, false])
    func swallowedCancellation(inPlace: Bool) async throws {
        try await StoreSession.with { session in
            let body: @Sendable (Database) throws -> Int64? = { database in
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                do {
                    return try database.int64(Self.endless)
                } catch {
                    return 0
                }
            }
            await #expect(throws: CancellationError.self) {
                try await Task {
                    inPlace ? try await session.readers.readInPlace(body) : try await session.readers.read(body)
                }
                .value
            }
        }
    }

    @Test("a store's read that goes on for ever ends when the task is cancelled")
    func cancelledRead() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        try await store.upsert((0..<500).map { Record(id: .string("\($0)")) }, table: "items")
        let (began, begin) = AsyncStream<Void>.makeStream()
        let reading = Task {
            try await store.read { reader in
                begin.yield()
                while true { try reader.forEach(Query("items")) { _ in } }
            }
        }
        for await _ in began { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        await store.close()
    }

    @Test("a cancellation at any moment ends the task's own read and no other one on the connection")
    func cancellationsHitNobodyElse() async throws {
        let seed = SeededGenerator.seed()
        try await StoreSession.with(readerCount: 1) { session in
            try await withThrowingTaskGroup { group in
                for number in 0..<4 {
                    group.addTask {
                        var generator = SeededGenerator(seed: seed &+ UInt64(number))
                        for _ in 0..<60 {
                            let inPlace = Bool.random(using: &generator)
                            let reading = Task {
                                let body: @Sendable (Database) throws -> Int64? = { try $0.int64(Self.endless) }
                                return inPlace
                                    ? try await session.readers.readInPlace(body)
                                    : try await session.readers.read(body)
                            }
                            for _ in 0..<Int.random(in: 0...20, using: &generator) { await Task.yield() }
                            reading.cancel()
                            await #expect(throws: CancellationError.self) { try await reading.value }
                        }
                    }
                    group.addTask {
                        for round in 0..<120 {
                            let body: @Sendable (Database) throws -> Int64? = { try $0.int64(Self.long) }
                            let count =
                                round.isMultiple(of: 2)
                                ? try await session.readers.readInPlace(body) : try await session.readers.read(body)
                            #expect(count == 20_000)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(
        "a cancellation while a transaction is being ended disturbs neither it nor the next ones",
        arguments: [true, false]
    )
    func cancelledAtTheEnd(inPlace: Bool) async throws {
        try await StoreSession.with(readerCount: 1) { session in
            for number in 0..<2_000 {
                let body: @Sendable (Database) throws -> Int = { _ in
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    if number.isMultiple(of: 2) { throw Refusal() }
                    return number
                }
                let reading = Task {
                    inPlace ? try await session.readers.readInPlace(body) : try await session.readers.read(body)
                }
                if number.isMultiple(of: 2) {
                    await #expect(throws: Refusal.self) { try await reading.value }
                } else {
                    let value = try await reading.value
                    #expect(value == number)
                }
            }
        }
    }

    @Test("a cancellation ends no statement of a write")
    func writesGoOn() async throws {
        try await StoreSession.with { session in
            let writing = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return try await session.writer.transaction { try $0.int64(Self.long) }
            }
            await #expect(throws: CancellationError.self) { try await writing.value }
            let count = try await Task {
                try await session.writer.transaction { database in
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    try database.run("CREATE TABLE written (number)")
                    return try database.int64(Self.long)
                }
            }
            .value
            #expect(count == 20_000)
            let rows = try await session.readers.read { try $0.int64("SELECT COUNT(*) FROM written") }
            #expect(rows == 0)
        }
    }

    @Test("a brief read runs once, on the calling thread; one that takes long runs again, on the queue")
    func moves() async throws {
        try await StoreSession.with { session in
            for (sql, count, runs) in [("SELECT 1", Int64(1), 1), (Self.long, 20_000, 2)] {
                let seen = Mutex(0)
                let found = try await session.readers.readInPlace { database in
                    seen.withLock { $0 += 1 }
                    return try database.int64(sql)
                }
                #expect(found == count)
                #expect(seen.withLock { $0 } == runs)
            }
        }
    }

    @MainActor
    @Test("nothing is read on the main actor")
    func mainActor() async throws {
        // By the queue: with Dispatch on Linux the main actor has no thread of its own.
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        try await StoreSession.with { @MainActor session in
            for _ in 0..<20 {
                #expect(DispatchQueue.getSpecific(key: key) == true)
                let inPlace = try await session.readers.readInPlace { _ in DispatchQueue.getSpecific(key: key) }
                let onQueue = try await session.readers.read { _ in DispatchQueue.getSpecific(key: key) }
                #expect(inPlace == nil && onQueue == nil)
            }
        }
    }

    @Test("reads that wait for a connection hold no thread, come first come first served, and can be cancelled")
    func waiting() async throws {
        try await StoreSession.with { session in
            let readers = session.readers
            let holders = await Holders(readers, count: 2)
            // More of them than the pool has threads.
            let order = Order()
            var tasks: [Task<Void, any Error>] = []
            for number in 0..<100 {
                tasks.append(
                    Task {
                        try await readers.readInPlace { _ in order.append(number) }
                    }
                )
                await Self.waiting(number + 1, for: readers)
            }
            for number in stride(from: 1, to: 100, by: 2) { tasks[number].cancel() }
            for number in stride(from: 1, to: 100, by: 2) {
                await #expect(throws: CancellationError.self) { try await tasks[number].value }
            }
            #expect(readers.waitingCount == 50)
            #expect(order.numbers.isEmpty)
            try await holders.letGo()
            for number in stride(from: 0, to: 100, by: 2) { try await tasks[number].value }
            #expect(order.numbers.sorted() == Array(stride(from: 0, to: 100, by: 2)))
            #expect(readers.waitingCount == 0)
        }
    }

    @Test("who waits for the only connection gets it in the order of coming")
    func order() async throws {
        try await StoreSession.with(readerCount: 1) { session in
            let readers = session.readers
            let holders = await Holders(readers, count: 1)
            let order = Order()
            var tasks: [Task<Void, any Error>] = []
            for number in 0..<50 {
                let body: @Sendable (Database) -> Void = { _ in order.append(number) }
                tasks.append(
                    Task {
                        if number.isMultiple(of: 2) {
                            try await readers.readInPlace(body)
                        } else {
                            try await readers.read(body)
                        }
                    }
                )
                await Self.waiting(number + 1, for: readers)
            }
            try await holders.letGo()
            for task in tasks { try await task.value }
            #expect(order.numbers == Array(0..<50))
        }
    }

    @Test(
        "reads go on beside writes that take long, in as many stores as the pool has threads, and more",
        arguments: [EncryptedStoreOptions.Durability.normal, .full]
    )
    func besideLongWrites(durability: EncryptedStoreOptions.Durability) async throws {
        let folders = try (0..<ProcessInfo.processInfo.activeProcessorCount + 1).map { _ in try TestFolder() }
        let (began, begin) = AsyncStream<Void>.makeStream()
        let mayEnd = DispatchSemaphore(value: 0)
        var stores: [EncryptedStore] = []
        for folder in folders {
            let store = try await EncryptedStore.open(in: folder, durability: durability)
            try await store.upsert([Record(id: "1")], table: "items")
            stores.append(store)
        }
        let writes = stores.map { store in
            Task {
                try await store.write { transaction in
                    begin.yield()
                    mayEnd.wait()
                    try transaction.upsert([Record(id: "2")], into: "items")
                }
            }
        }
        var iterator = began.makeAsyncIterator()
        for _ in writes { await iterator.next() }
        for store in stores {
            for _ in 0..<100 {
                #expect(try await store.read(table: "items", itemID: "1") != nil)
                #expect(try await store.read(Query("items").limited(to: 10)).records.count == 1)
                #expect(try await store.read { try $0.count(Query("items")) } == 1)
            }
        }
        for _ in writes { mayEnd.signal() }
        for write in writes { try await write.value }
        for store in stores { await store.close() }
    }

    /// Something that a transaction's closure holds, such as a connection.
    private final class Held: Sendable {
        private let onEnd: @Sendable () -> Void

        init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

        deinit { onEnd() }

        /// A transaction that holds a new one, and nobody else does.
        static func closure(_ onEnd: @escaping @Sendable () -> Void) -> @Sendable (Database) -> Void {
            let held = Held(onEnd)
            return { _ in withExtendedLifetime(held) {} }
        }
    }

    @Test("a transaction gives up what it holds before it ends for its caller")
    func givesUp() async throws {
        try await StoreSession.with { session in
            let ends = Mutex(0)
            let onEnd: @Sendable () -> Void = { ends.withLock { $0 += 1 } }
            for round in 1...100 {
                try await session.readers.read(Held.closure(onEnd))
                try await session.readers.readInPlace(Held.closure(onEnd))
                try await session.writer.transaction(Held.closure(onEnd))
                #expect(ends.withLock { $0 } == 3 * round)
            }
        }
    }

    @Test("no transaction begins in a task that is cancelled already")
    func cancelledBefore() async throws {
        try await StoreSession.with { session in
            let body: @Sendable (Database) -> Void = { _ in Issue.record("it has begun") }
            for round in 0..<99 {
                let task = Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    switch round % 3 {
                    case 0: try await session.readers.read(body)
                    case 1: try await session.readers.readInPlace(body)
                    default: try await session.writer.transaction(body)
                    }
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
    }
}
