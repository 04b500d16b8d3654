import DurableFiles
import SQLCipherStoreTestSupport
import Dispatch
import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

/// The limits on time only end a wait for what never comes; nothing is measured.
@Suite("The connection that writes", .timeLimit(.minutes(5)))
struct WriterTests {
    typealias Durability = EncryptedStoreOptions.Durability

    /// Begins a transaction that lasts until the semaphore is signalled.
    private static func hold(
        _ writer: Writer,
        _ mayEnd: DispatchSemaphore
    ) async -> Task<Void, any Error> {
        let (began, begin) = AsyncStream<Void>.makeStream()
        let holder = Task {
            try await writer.transaction { _ in
                begin.yield()
                mayEnd.wait()
            }
        }
        for await _ in began { break }
        return holder
    }

    private static func waiting(_ count: Int, for writer: Writer) async {
        while writer.waitingCount != count { await Task.yield() }
    }

    @Test(
        "writes come in the order in which they were begun, wait without a thread, and can be cancelled there",
        arguments: [Durability.normal, .full]
    )
    func order(durability: Durability) async throws {
        try await StoreSession.with(durability: durability) { session in
            let writer = session.writer
            let mayEnd = DispatchSemaphore(value: 0)
            let holder = await Self.hold(writer, mayEnd)
            let order = Order()
            var tasks: [Task<Void, any Error>] = []
            // More of them than the pool has threads.
            for number in 0..<100 {
                tasks.append(Task { try await writer.transaction { _ in order.append(number) } })
                await Self.waiting(number + 1, for: writer)
            }
            for number in stride(from: 1, to: 100, by: 2) { tasks[number].cancel() }
            for number in stride(from: 1, to: 100, by: 2) {
                await #expect(throws: CancellationError.self) { try await tasks[number].value }
            }
            #expect(order.numbers.isEmpty)
            mayEnd.signal()
            try await holder.value
            for number in stride(from: 0, to: 100, by: 2) { try await tasks[number].value }
            #expect(order.numbers == Array(stride(from: 0, to: 100, by: 2)))
        }
    }

    @Test("transactions that block, in more stores than the pool has threads, leave one to everybody else")
    func oneThreadIsLeft() async throws {
        let count = ProcessInfo.processInfo.activeProcessorCount + 1
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    try await StoreSession.with(durability: .normal) { session in
                        for _ in 0..<20 {
                            let mayEnd = DispatchSemaphore(value: 0)
                            let holder = await Self.hold(session.writer, mayEnd)
                            // Whoever lets the writer go needs a thread for that.
                            _ = await Task.detached { mayEnd.signal() }.value
                            try await holder.value
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @MainActor
    @Test("nothing is written on the main actor", arguments: [Durability.normal, .full])
    func mainActor(durability: Durability) async throws {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        try await StoreSession.with(durability: durability) { @MainActor session in
            for _ in 0..<20 {
                #expect(DispatchQueue.getSpecific(key: key) == true)
                let seen = try await session.writer.transaction { _ in DispatchQueue.getSpecific(key: key) }
                #expect(seen == nil)
            }
        }
    }

    @Test(
        "the WAL starts anew once it is long, also when a checkpoint is never due",
        arguments: [Durability.normal, .full]
    )
    func shortWAL(durability: Durability) async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, durability: durability, checkpointDelay: nil)
        for round in 0..<15 {
            let bytes = FieldValue.bytes(Array(repeating: UInt8(round), count: 1 << 21))
            try await store.upsert([Record(id: "1", ["bytes": bytes])], table: "items")
        }
        // 30 MiB were written; the file is never cut below its longest.
        let size = try #require(FileSystem.size(of: StoreFiles(folder.database.path).wal))
        #expect(size < 3 * WALLimits.checkpointPages * WALLimits.frameSize)
        await store.close()
    }
}
