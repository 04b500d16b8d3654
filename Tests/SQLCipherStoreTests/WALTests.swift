import Dispatch
import DurableFiles
import Foundation
import SQLCipherStoreTestSupport
import SyncContract
import Testing

@testable import SQLCipherStore

@Suite("The WAL")
struct WALTests {
    private func logSize(in folder: TestFolder) -> Int {
        FileSystem.size(of: StoreFiles(folder.database.path).wal) ?? 0
    }

    /// The limit on time only ends a wait for what never comes; nothing is measured.
    @Test("is emptied when no write follows, as soon as no read needs it", .timeLimit(.minutes(5)))
    func emptiedWhenIdle() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, checkpointDelay: .milliseconds(1))
        let (began, mayFinish) = (AsyncStream<Void>.makeStream(), DispatchSemaphore(value: 0))
        let reading = Task {
            try await store.read { reader in
                let before = try reader.count(Query("items"))
                began.continuation.yield()
                mayFinish.wait()
                return [before, try reader.count(Query("items"))]
            }
        }
        for await _ in began.stream { break }
        try await store.upsert([Record(id: "1")], table: "items")
        // However late this is looked at: the read is older than the write and keeps its commit in the WAL.
        #expect(logSize(in: folder) > 0)
        mayFinish.signal()
        #expect(try await reading.value == [0, 0])
        while logSize(in: folder) > 0 {
            try Task.checkCancellation()
            await Task.yield()
        }
        #expect(try await store.read { try $0.count(Query("items")) } == 1)
        await store.close()
    }

    @Test("stays while the store is open when there is no time after which it is emptied")
    func kept() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder, checkpointDelay: nil)
        try await store.upsert([Record(id: "1")], table: "items")
        #expect(logSize(in: folder) > 0)
        await store.close()
        #expect(!FileSystem.exists(StoreFiles(folder.database.path).wal))
    }

    @Test(
        "starts anew under writes that follow each other without a pause",
        arguments: [EncryptedStoreOptions.Durability.full, .normal]
    )
    func bounded(_ durability: EncryptedStoreOptions.Durability) async throws {
        let folder = try TestFolder()
        let table = TableDefinition("items", columns: [.init("content", .bytes)])
        let store = try await EncryptedStore.open(in: folder, [table], durability: durability, checkpointDelay: nil)
        var longest = 0
        for number in 0..<40 {
            let content = [UInt8](repeating: UInt8(number), count: 1 << 20)
            try await store.upsert([Record(id: .string("\(number % 4)"), ["content": .bytes(content)])], table: "items")
            longest = max(longest, logSize(in: folder))
        }
        #expect(longest < 20 << 20, "of 40 MiB that were written")
        await store.close()
    }

    @Test("is emptied half a second after the last commit unless a test says otherwise")
    func ordinaryDelay() {
        #expect(EncryptedStoreOptions().checkpointDelay == .milliseconds(500))
    }
}
