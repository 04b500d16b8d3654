import DurableFiles
import FileSystemRecording
import Foundation
import SQLCipherStoreTestSupport
import SecretMemory
import SyncContract
import Testing

@testable import SQLCipherStore

#if os(Linux) || os(macOS)
@Suite("A process that is killed")
struct CrashTests {
    @Test("has lost no write that returned, and left nothing half", arguments: [1, 2, 17, 100])
    func killed(writes: Int) async throws {
        let folder = try TestFolder()
        let path = folder.url.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, writes = writes as Int] in
            let url = URL(filePath: path).appending(path: "store.db")
            let store = try await EncryptedStore.open(at: url, key: .testKey(), schema: StoreSchema([.items]))
            for index in 0..<writes {
                try await store.write { transaction in
                    // Two rows that belong together, large enough for several pages of the log.
                    let bytes = FieldValue.bytes(Array(repeating: UInt8(index & 255), count: 6_000))
                    let rows = ["a", "b"].map { Record(id: .string("\(index)\($0)"), ["bytes": bytes]) }
                    try transaction.upsert(rows, into: "items")
                    try transaction.upsert([Record(id: "count", ["int": .int64(Int64(index + 1))])], into: "items")
                }
            }
            try await store.write { transaction in
                try transaction.upsert([Record(id: "half"), Record(id: "count", ["int": -1])], into: "items")
                kill(getpid(), SIGKILL)
            }
        }
        // The lock of the killed process keeps nobody out.
        let store = try await EncryptedStore.open(in: folder, mode: .openExisting)
        let records = try await store.read { try $0.records(Query("items")) }
        #expect(records.count == 2 * writes + 1)
        #expect(try await store.read(table: "items", itemID: "count")?["int"] == .int64(Int64(writes)))
        #expect(try await store.read(table: "items", itemID: "half") == nil)
        await store.close()
    }

    @Test(
        "leaves no store or a complete one when it dies while it creates it",
        arguments: 1...6
    )
    func killedWhileCreating(step: Int) async throws {
        let folder = try TestFolder()
        let path = folder.database.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, step = step as Int] in
            let engine = try CipherConfiguration.engineVersion()
            let creator = StoreCreator(
                files: StoreFiles(path, in: .killing(after: step)),
                engine: engine,
                format: try #require(engine.newestFormat)
            )
            try creator.create(.testKey(), StoreSchema([.items]))
        }
        let isDone = step >= 5
        #expect(try folder.contents().keys.contains("store.db") == isDone)
        let store = try await EncryptedStore.open(
            in: folder,
            mode: isDone ? .openExisting : .createNew
        )
        #expect(try await store.read(Query("items")).records.isEmpty)
        await store.close()
        #expect(try Set(folder.contents().keys) == ["store.db", "store.db.lock"])
    }

    @Test("another process cannot open a store that is open here")
    func secondProcess() async throws {
        let folder = try TestFolder()
        let store = try await EncryptedStore.open(in: folder)
        let path = folder.url.path
        await #expect(processExitsWith: .exitCode(42)) { [path = path as String] in
            let url = URL(filePath: path).appending(path: "store.db")
            let found = try await code {
                _ = try await EncryptedStore.open(at: url, key: .testKey(), schema: StoreSchema([.items]))
            }
            exit(found == .inUse ? 42 : 1)
        }
        await store.close()
    }
}
#endif
